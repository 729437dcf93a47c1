"""Envoy, which passes on what it reads, and whose limits end whole answers.

Each event passes as it is read, the head at once. A route has a `timeout` of 15 s for the whole answer unless it is told
otherwise: it cuts streams that are healthy. A client over HTTP/1 sees the end of what is cut, or broke off, a second late
(`delayed_close_timeout`), over HTTP/2 at once. An answer that ends with its connection looks whole even where that was reset.
Must not know: how faults work.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from chaosproxy.model.units import Duration, show_duration
from chaosproxy.presets.preset import Plain, Source, preset, those
from chaosproxy.presets.words import FRAMES_ANEW, H1, H2, Proxy, answer, beside, limits

_TEXT = "text/plain"
_CUT = "upstream connect error or disconnect/reset before headers. reset reason: connection termination"
_MANAGER = "Envoy 1.40 API reference, HttpConnectionManager, "
_ROUTE = "Envoy 1.40 API reference, RouteAction, "


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class Envoy140(Proxy):
    """With an HTTP connection manager, a route and a cluster."""

    name: ClassVar[str] = "envoy-1.40"
    about: ClassVar[str] = (
        "Envoy 1.40 with a route to a cluster: each event passes as it is read, and after 15 s the answer is cut, however much "
        "alive it is."
    )
    measured: ClassVar[str] = (
        "Envoy 1.40.0: bursts, framings, `timeout`, `idle_timeout`, `max_stream_duration` and `stream_idle_timeout` before the head "
        "and in mid-stream, `delayed_close_timeout`, the gzip compressor, endings of the server, clients that leave."
    )
    not_measured: ClassVar[str] = (
        "The default `timeout` of 15 s and `stream_idle_timeout` of 5 m were not waited for. The Date of an answer that has none is left out; the server has "
        "always taken 0 ms (`x-envoy-upstream-service-time`)."
    )
    sources: ClassVar[Sequence[Source]] = (
        beside("Envoy 1.40.0"),
        Source("timeout", _ROUTE + "`timeout`: 15 s, from the request's end to the end of the answer; 0 disables it"),
        Source("idle_timeout", _ROUTE + "`idle_timeout`: overrides `stream_idle_timeout`"),
        Source("stream_idle_timeout", _MANAGER + "`stream_idle_timeout`: 5 minutes; 0 disables it"),
        Source("delayed_close_timeout", _MANAGER + "`delayed_close_timeout`: 1000 ms"),
        Source("max_stream_duration", "Envoy 1.40 API reference, HttpProtocolOptions, `max_stream_duration`"),
    )

    timeout: Duration = 15.0
    """Of the route: from the end of the request to the end of the answer; 0: none. Default 15s."""
    idle_timeout: Duration | None = None
    """Of the route: in place of `stream_idle_timeout`; 0: none. Default: not given."""
    stream_idle_timeout: Duration = 300.0
    """The longest silence of a stream, and the longest time in which its client takes nothing; 0: none. Default 5m."""
    max_stream_duration: Duration | None = None
    """From the beginning of the request to the end of the answer. Default: none."""
    delayed_close_timeout: Duration = 1.0
    """How long a connection over HTTP/1 that is to be closed stays open, so that its client can read. Default 1s."""
    compressor: Literal["gzip"] | None = None
    """The filter `envoy.filters.http.compressor`, flushed event by event. Default: none."""

    def faults(self) -> list[Plain]:
        idle = self.stream_idle_timeout if self.idle_timeout is None else self.idle_timeout
        late = {"delay": show_duration(self.delayed_close_timeout)} if self.delayed_close_timeout else {}
        cut = [answer(503, _CUT, _TEXT), "abort"]
        return those(
            [
                limits([answer(504, "upstream request timeout", _TEXT), "abort"], response=self.timeout or None),
                limits([answer(504, "stream timeout", _TEXT), "abort"], idle=idle or None),
                limits([answer(504), "abort"], total=self.max_stream_duration or None),
                {"broken_end": {"then": "clean", "when": "rst", "if": {"framing": "close_delimited"}}},
                {"broken_end": {"then": cut, **late, "if": H1}},
                {"broken_end": {"then": cut, "if": H2}},
                FRAMES_ANEW,
                {"compress": {"coding": self.compressor, "flush": "sync"}} if self.compressor else None,
                {"headers": {"case": "lower", "set": {"server": "envoy", "x-envoy-upstream-service-time": 0}}},
                limits(["abort"], blocked=idle or None),
            ]
        )
