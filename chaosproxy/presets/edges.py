"""Networks in front of other people's servers: Cloudflare, Fastly, Akamai.

Parameters are spelt as in the vendors' own settings. Must not know: other vendors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.model.units import Duration, Size, show_size
from chaosproxy.presets.figures import Figures
from chaosproxy.presets.managed import NOT_MEASURED, answer, kept, limits, of_clients, page, silence, whole
from chaosproxy.presets.preset import Plain, Preset, Source, preset, those


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class Cloudflare(Preset):
    """Cloudflare's proxy, in front of an origin."""

    name: ClassVar[str] = "cloudflare"
    about: ClassVar[str] = (
        "Gives the origin 125 s between any two reads: before the head a 524 with a page of HTML, in mid-stream a cut."
    )
    measured: ClassVar[str] = NOT_MEASURED
    not_measured: ClassVar[str] = "Its cache, its coding, its headers, tunnels (some of which hold events back)."
    sources: ClassVar[Sequence[Source]] = Figures("edges", "cloudflare")

    proxy_read_timeout: Duration = 125.0
    """How long between two reads from the origin. Default 125s; it was 120s, and 100s before that, which is what most
    descriptions have. Enterprise may have up to 6000s."""
    client_keep_alive: Duration = 400.0
    """How long a client's connection on which nothing runs is kept. Default 400s; it cannot be changed."""

    def faults(self) -> list[Plain]:
        return those([silence(page(524, "A timeout occurred"), self.proxy_read_timeout)])

    def alone(self) -> Plain:
        return of_clients(kept(self.client_keep_alive))


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class Fastly(Preset):
    """A Fastly delivery service, in front of a backend."""

    name: ClassVar[str] = "fastly"
    about: ClassVar[str] = (
        "Fetches the whole answer before it passes any of it on, unless streaming was switched on. 15 s for the first byte, "
        "then 503; after 10 s of silence what has come is taken for all, and ends well."
    )
    measured: ClassVar[str] = NOT_MEASURED
    not_measured: ClassVar[str] = (
        "Its cache, its headers, the 60 s between its own servers, the reason phrase of the 503 (its words are the "
        "body here), what becomes of objects that are too large to be streamed."
    )
    sources: ClassVar[Sequence[Source]] = Figures("edges", "fastly")

    first_byte_timeout: Duration = 15.0
    """How long until the first byte. Default 15s."""
    between_bytes_timeout: Duration = 10.0
    """How long between any two. Default 10s."""
    fetch_timeout: Duration | None = None
    """How long until the answer is complete. Default: no limit."""
    do_stream: bool = False
    """`beresp.do_stream`, Streaming Miss: whether an answer is passed on as it comes. Default false."""

    def faults(self) -> list[Plain]:
        first = answer(503, "first byte timeout", "text/plain; charset=utf-8")
        late = answer(503, "fetch timeout", "text/plain; charset=utf-8")
        return those(
            [
                limits(first, first_byte=self.first_byte_timeout),
                limits(late, between_bytes=self.between_bytes_timeout, total=self.fetch_timeout, later="clean"),
                *([] if self.do_stream else whole()),
            ]
        )


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class Akamai(Preset):
    """An Akamai property, in front of an origin."""

    name: ClassVar[str] = "akamai"
    about: ClassVar[str] = (
        "Waits 20 s for the first byte and 5 s for each read: before the head a 504, in mid-stream a cut. Models that think "
        "for longer than that need a heartbeat."
    )
    measured: ClassVar[str] = NOT_MEASURED
    not_measured: ClassVar[str] = "Its cache, its coding, its headers."
    sources: ClassVar[Sequence[Source]] = Figures("edges", "akamai")

    first_byte_timeout: Duration = 20.0
    """`firstByteTimeout` of the behaviour Read Timeout: how long until the first byte. Default 20s."""
    read_timeout: Duration = 5.0
    """`value` of the same: how long each read may take. Default 5s."""
    response_buffer: Size | None = None
    """So many bytes are gathered before they go on. Default: nothing, since how much it is, is not documented."""

    def faults(self) -> list[Plain]:
        held = self.response_buffer
        return those(
            [
                limits(
                    page(504, "Gateway Timeout"),
                    first_byte=self.first_byte_timeout,
                    between_bytes=self.read_timeout,
                ),
                None if held is None else {"buffer": show_size(held)},
            ]
        )
