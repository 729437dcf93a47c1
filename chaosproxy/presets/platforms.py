"""Platforms that run other people's servers, by their routers: Heroku, Vercel, Netlify, Fly, Render, Railway.

Parameters are spelt as on the platforms' own pages where these have a name for them. Must not know: other vendors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.model.units import Duration, Size, show_size
from chaosproxy.presets.figures import Figures
from chaosproxy.presets.managed import (
    NOT_MEASURED,
    RUNS_ON,
    answer,
    at_most,
    kept,
    limits,
    of_clients,
    page,
    silence,
)
from chaosproxy.presets.preset import Plain, Preset, Source, preset, those


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class Heroku(Preset):
    """Heroku's router."""

    name: ClassVar[str] = "heroku"
    about: ClassVar[str] = (
        "30 s for the first byte, then a 503 with a page of HTML (H12), of which the dyno does not hear; from then on 55 s for "
        "each next one, then a cut (H15)."
    )
    measured: ClassVar[str] = NOT_MEASURED
    not_measured: ClassVar[str] = "The keep-alive towards the dyno, what a client that sends gains by it."
    sources: ClassVar[Sequence[Source]] = Figures("platforms", "heroku")

    initial_timeout: Duration = 30.0
    """How long until something of the answer has come. Default 30s; it cannot be changed."""
    rolling_timeout: Duration = 55.0
    """How long between any two bytes from then on. Default 55s; it cannot be changed."""
    response_buffer: Size = 1024 * 1024
    """So much of an answer is taken from the dyno while the client does not read. Default 1MiB; it cannot be changed."""

    def faults(self) -> list[Plain]:
        return those(
            [
                limits(page(503, "Application error"), first_byte=self.initial_timeout, side="client"),
                limits(between_bytes=self.rolling_timeout),
                {"absorb": show_size(self.response_buffer)},
            ]
        )


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class Vercel(Preset):
    """Vercel, in front of a function that runs in a server's runtime."""

    name: ClassVar[str] = "vercel"
    about: ClassVar[str] = (
        "A function may run for 300 s, the time in which it streams included: then a 504, or a cut. That its client has left "
        "it only hears if it says so."
    )
    measured: ClassVar[str] = NOT_MEASURED
    sources: ClassVar[Sequence[Source]] = Figures("platforms", "vercel")

    max_duration: Duration = 300.0
    """`maxDuration`: how long the function may run. Default 300s."""
    supports_cancellation: bool = False
    """`supportsCancellation`: whether the function hears that its client has left. Default false."""
    idle_timeout: Duration | None = None
    """How long between any two bytes. Default: no limit, since none is documented."""

    def faults(self) -> list[Plain]:
        words = "An error occurred with your deployment\n\nFUNCTION_INVOCATION_TIMEOUT\n"
        return those(
            [
                None if self.supports_cancellation else RUNS_ON,
                limits(
                    answer(504, words, "text/plain; charset=utf-8"),
                    first_byte=self.idle_timeout,
                    between_bytes=self.idle_timeout,
                    total=self.max_duration,
                ),
            ]
        )


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class VercelEdge(Preset):
    """Vercel, in front of a function of the edge runtime."""

    name: ClassVar[str] = "vercel-edge"
    about: ClassVar[str] = "An answer has to begin within 25 s, else there is a 504; then it may go on."
    measured: ClassVar[str] = NOT_MEASURED
    sources: ClassVar[Sequence[Source]] = Figures("platforms", "vercel-edge")

    initial_timeout: Duration = 25.0
    """How long until the answer begins. Default 25s; it cannot be changed."""
    max_duration: Duration | None = None
    """How long the function may run. Default: no limit, since the documents differ."""
    idle_timeout: Duration | None = None
    """How long between any two bytes. Default: no limit; there is one, but how long it is, is not documented."""

    def faults(self) -> list[Plain]:
        words = "An error occurred with your deployment\n\nEDGE_FUNCTION_INVOCATION_TIMEOUT\n"
        late = answer(504, words, "text/plain; charset=utf-8")
        return those(
            [
                limits(
                    late,
                    first_byte=self.initial_timeout,
                    between_bytes=self.idle_timeout,
                    total=self.max_duration,
                ),
            ]
        )


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class Netlify(Preset):
    """Netlify, in front of a synchronous function."""

    name: ClassVar[str] = "netlify"
    about: ClassVar[str] = (
        "A function may run for 60 s, streamed or not, and stream 20 MB; then it is cut, in full flow."
    )
    measured: ClassVar[str] = NOT_MEASURED
    sources: ClassVar[Sequence[Source]] = Figures("platforms", "netlify")

    execution_limit: Duration = 60.0
    """How long the function may run. Default 60s; it cannot be changed."""
    streamed_payload: Size = 20 * 1024 * 1024
    """The largest streamed answer. Default 20MiB; it cannot be changed."""

    def faults(self) -> list[Plain]:
        return those(
            [
                at_most(self.streamed_payload),
                limits(page(504, "Gateway Timeout"), total=self.execution_limit),
            ]
        )


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class NetlifyEdge(Preset):
    """Netlify, in front of an edge function."""

    name: ClassVar[str] = "netlify-edge"
    about: ClassVar[str] = "The head of an answer has to come within 40 s, else there is a 504; then it may go on."
    measured: ClassVar[str] = NOT_MEASURED
    sources: ClassVar[Sequence[Source]] = Figures("platforms", "netlify-edge")

    response_header_timeout: Duration = 40.0
    """How long until the head has come. Default 40s; it cannot be changed."""

    def faults(self) -> list[Plain]:
        return those([limits(page(504, "Gateway Timeout"), first_byte=self.response_header_timeout)])


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class Fly(Preset):
    """Fly's proxy, at the edge."""

    name: ClassVar[str] = "fly"
    about: ClassVar[str] = (
        "Codes every answer that its client takes coded, and gathers it for that, so that a stream arrives at its end; "
        "`Content-Encoding: none` spares it."
    )
    measured: ClassVar[str] = NOT_MEASURED
    not_measured: ClassVar[str] = "zstd and br, which it prefers, which types it codes, its headers."
    sources: ClassVar[Sequence[Source]] = Figures("platforms", "fly")

    compress: bool = True
    """Whether the edge codes what is not coded. Default true."""
    idle_timeout: Duration | None = None
    """How long nothing may come. Default: no limit, since none is documented; one user has 60s."""

    def faults(self) -> list[Plain]:
        return those(
            [
                silence(page(500, "Internal Server Error"), self.idle_timeout),
                {"compress": {"coding": "gzip", "flush": "end"}} if self.compress else None,
            ]
        )


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class Render(Preset):
    """Render's router."""

    name: ClassVar[str] = "render"
    about: ClassVar[str] = "Lets an answer take 100 min: minutes, not the seconds that are often said."
    measured: ClassVar[str] = NOT_MEASURED
    sources: ClassVar[Sequence[Source]] = Figures("platforms", "render")

    max_response_time: Duration = 6000.0
    """How long an answer may take. Default 100m; it cannot be changed."""
    buffering: bool | None = None
    """Whether an answer is held whole unless it says `X-Accel-Buffering: no`, as one user has seen. Default: it is not."""

    def faults(self) -> list[Plain]:
        return those(
            [
                limits(page(502, "Bad Gateway"), total=self.max_response_time),
                {"buffer": {"until_end": True, "hint": True}} if self.buffering else None,
            ]
        )


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class Railway(Preset):
    """Railway's proxy, at the edge."""

    name: ClassVar[str] = "railway"
    about: ClassVar[str] = "Ends every exchange after 15 min, however lively it is."
    measured: ClassVar[str] = NOT_MEASURED
    sources: ClassVar[Sequence[Source]] = Figures("platforms", "railway")

    max_duration: Duration = 900.0
    """How long an exchange may take. Default 15m; it cannot be changed."""
    idle_timeout: Duration | None = None
    """How long nothing may come: `5m`, as the newest page is quoted. Default: no limit, since the copies that could be read
    do not have it."""
    keep_alive_timeout: Duration = 60.0
    """How long a client's connection on which nothing runs is kept. Default 60s; it cannot be changed."""

    def faults(self) -> list[Plain]:
        return those(
            [
                limits(
                    page(502, "Bad Gateway"),
                    first_byte=self.idle_timeout,
                    between_bytes=self.idle_timeout,
                    total=self.max_duration,
                )
            ]
        )

    def alone(self) -> Plain:
        return of_clients(kept(self.keep_alive_timeout))
