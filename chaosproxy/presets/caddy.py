"""Caddy's `reverse_proxy`, which flushes what is a stream at once, whatever `flush_interval` says.

An event stream, or an answer of unknown length, leaves as it is read. The interval counts for answers with a length alone: they
wait in a buffer of 4 KiB, head and all, until it is full or the time is over. That the client has left is seen at once, and a
client that has closed its half has left. What the server broke off looks broken behind 2.11, and whole behind 2.6, over HTTP/1
too: which has an `encode gzip`, besides, that gives nothing before the end.
Must not know: how faults work.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from chaosproxy.model.units import Duration
from chaosproxy.presets.preset import Plain, Source, preset, those
from chaosproxy.presets.words import FRAMES_ANEW, Proxy, answer, beside, broken, limits, waiting_with_length

_DOCUMENTS = "Caddy documentation, reverse_proxy, "


@dataclass(frozen=True, slots=True, kw_only=True)
class Caddy(Proxy):
    """What both versions have in common."""

    broken: ClassVar[tuple[object, ...]]
    """How an answer that broke off ends for its client."""
    coded: ClassVar[str]
    """When the encoder is flushed."""
    signed: ClassVar[Plain]
    """The field that says whose answer it is."""
    hides: ClassVar[bool] = False
    """Over HTTP/2 it looks whole even where it is short of its length."""
    deaf: ClassVar[bool] = False
    """With a `flush_interval` of -1 it does not see that the client has left."""
    measured: ClassVar[str] = (
        "bursts for each framing, event streams and other types, `flush_interval` of 0, 100ms, 1s and -1, `encode gzip`, "
        "`read_timeout`, endings of the server, clients that leave"
    )
    not_measured: ClassVar[str] = (
        "`response_header_timeout` is from the documents. 2.6 ends the answer of a client that has closed its half with a "
        "last chunk, here without. Caddy asks the server for gzip where the client has not, and decodes it; "
        "here a server is asked for what the client takes. The Date of an answer that has none, and the order of the fields, are "
        "left out."
    )
    sources: ClassVar[tuple[Source, ...]] = (
        beside("Caddy 2.6.2 and 2.11.7"),
        Source(
            "flush_interval",
            _DOCUMENTS + "`flush_interval`: ignored for streams; -1 disables that a client's leaving ends it",
        ),
        Source("read_timeout", _DOCUMENTS + "transport http, `read_timeout`"),
        Source("response_header_timeout", _DOCUMENTS + "transport http, `response_header_timeout`"),
    )

    flush_interval: Duration | Literal[-1] = 0.0
    """How long an answer with a length, and no event stream, may wait from its first byte on; 0: until the buffer is full;
    -1: not at all. Default 0."""
    read_timeout: Duration | None = None
    """The longest silence of the server. Default: none."""
    response_header_timeout: Duration | None = None
    """The longest time to the head of the answer. Default: none."""
    encode: Literal["gzip"] | None = None
    """`encode gzip`. Default: none."""

    def faults(self) -> list[Plain]:
        at_once = self.flush_interval == -1
        return those(
            [
                limits([answer(504), "abort"], idle=self.read_timeout, first_byte=self.response_header_timeout),
                *broken(answer(502), self.broken, [*self.broken, "end_stream"] if self.hides else self.broken),
                {"client_abort": "on_next_write"} if at_once and self.deaf else None,
                FRAMES_ANEW,
                {"compress": {"coding": self.encode, "flush": self.coded}} if self.encode else None,
                None if at_once else waiting_with_length(self.flush_interval),
                {"headers": {"case": "title", "add": self.signed}},
            ]
        )


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class Caddy26(Caddy):
    """Debian 12's."""

    name: ClassVar[str] = "caddy-2.6"
    about: ClassVar[str] = (
        "Caddy 2.6 with `reverse_proxy`: streams pass as they are read; an answer that the server broke off, or that took too "
        "long, looks whole."
    )
    measured: ClassVar[str] = f"Caddy 2.6.2 (Debian 12): {Caddy.measured}."
    broken: ClassVar[tuple[object, ...]] = ("clean",)
    hides: ClassVar[bool] = True
    coded: ClassVar[str] = "end"
    signed: ClassVar[Plain] = {"Server": "Caddy"}
    deaf: ClassVar[bool] = True


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class Caddy211(Caddy):
    """A newer one."""

    name: ClassVar[str] = "caddy-2.11"
    about: ClassVar[str] = (
        "Caddy 2.11 with `reverse_proxy`: streams pass as they are read; an answer that the server broke off, or that took too "
        "long, looks broken."
    )
    measured: ClassVar[str] = f"Caddy 2.11.7: {Caddy.measured}."
    broken: ClassVar[tuple[object, ...]] = ("abort",)
    coded: ClassVar[str] = "sync"
    signed: ClassVar[Plain] = {"Via": "1.1 Caddy"}
