"""Traefik, whose proxy is Go's: what is a stream is flushed at once, whatever `flushInterval` says.

An event stream, or an answer of unknown length, leaves as it is read. The interval counts for answers with a length alone, which
wait for it in a buffer of 4 KiB, head and all. That the client has left is seen at once, and a client that has closed its half has
left. With the middleware `buffering` the whole answer is there before it begins; one that broke off is a 500 then.
Must not know: how faults work.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from chaosproxy.model.units import Duration
from chaosproxy.presets.preset import Plain, Source, preset, those
from chaosproxy.presets.words import FRAMES_ANEW, Proxy, answer, beside, limits, waiting_with_length

_DOCUMENTS = "Traefik documentation, "
_FAILED = answer(500, "Internal Server Error")


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class Traefik3(Proxy):
    """The present one."""

    name: ClassVar[str] = "traefik-3"
    about: ClassVar[str] = "Traefik 3 with a service: streams pass as they are read, and what broke off looks broken."
    measured: ClassVar[str] = (
        "Traefik 3.7.15: bursts for each framing, event streams and other types, `flushInterval` of 100ms, 1s and -1ns, `compress`, "
        "`buffering`, endings of the server, clients that leave."
    )
    not_measured: ClassVar[str] = (
        "`responseHeaderTimeout` is from the documents; there is no limit of Traefik's on a silence in mid-stream. Answers of more "
        "than 1 MiB, which `buffering` puts on disk. The Date of an answer that has none is left out."
    )
    sources: ClassVar[tuple[Source, ...]] = (
        beside("Traefik 3.7.15"),
        Source("flushInterval", _DOCUMENTS + "services, `responseForwarding.flushInterval`: 100ms; negative: at once"),
        Source(
            "responseHeaderTimeout",
            _DOCUMENTS + "ServersTransport, `forwardingTimeouts.responseHeaderTimeout`: 0s, none",
        ),
        Source("compress, buffering", _DOCUMENTS + "middlewares"),
    )

    flushInterval: Duration | Literal[-1] = 0.1
    """How long an answer with a length, and no event stream, may wait from its first byte on; -1: not at all. Default 100ms."""
    responseHeaderTimeout: Duration | None = None
    """The longest time to the head of the answer. Default: none."""
    compress: bool = False
    """The middleware `compress`, with gzip, flushed event by event. Default false."""
    buffering: bool = False
    """The middleware `buffering`: the whole answer first. Default false."""

    def faults(self) -> list[Plain]:
        at_once = self.flushInterval == -1 or self.buffering
        return those(
            [
                limits([answer(504, "Gateway Timeout"), "abort"], first_byte=self.responseHeaderTimeout),
                {"hold_head": "end"} if self.buffering else None,
                {"broken_end": [_FAILED if self.buffering else answer(502, "Bad Gateway"), "abort"]},
                FRAMES_ANEW,
                {"compress": {"flush": "sync"}} if self.compress else None,
                None if at_once else waiting_with_length(self.flushInterval),
                {"headers": {"case": "title"}},
            ]
        )
