"""Checks of the abort chain: whether and when the client leaves, and when the upstream hears of it.

Must not know: who passes it on.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from chaosproxy.journal.record import ExchangeRecord, Times
from chaosproxy.judging.check import Check, Finding, found, register
from chaosproxy.judging.words import limit, ms
from chaosproxy.model.units import Count, Duration


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamAbort(Check):
    """Where the client leaves before its answer is complete the upstream is told in time."""

    name: ClassVar[str] = "upstream_abort"
    main: ClassVar[str | None] = "within"
    nothing: ClassVar[str] = "no client left an upstream that was still answering"

    within: Duration
    """At most so long after the client has left."""

    @property
    def expected(self) -> str:
        return f"the upstream told within {limit(self.within)} that its client has left"

    def see(self, record: ExchangeRecord) -> Finding | None:
        times = record.times
        left, over = times.client_closed, times.upstream_closed
        if left is None or times.upstream_connected is None or (over is not None and over < left):
            return None
        if over is None:
            return found(record, False, "the upstream was never told", "client_closed")
        end = record.upstream.end
        how = f": {end.how} by {end.by}" if end is not None else ""
        if end is not None and end.by == "upstream":
            seen = f"the upstream went on to its own end, {ms(over - left)} after the client had left{how}"
            return found(record, False, seen, "client_closed", "upstream_closed")
        seen = f"told {ms(over - left)} after the client had left{how}"
        return found(record, over - left <= self.within, seen, "client_closed", "upstream_closed")


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterEvent:
    """Behind the Nth event."""

    event: Count
    """Which."""


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class ClientLeaves(Check):
    """The client leaves by itself before its answer is complete, and not later than this."""

    name: ClassVar[str] = "client_leaves"
    main: ClassVar[str | None] = "within"
    reads_records: ClassVar[bool] = True
    needs_events: ClassVar[bool] = True

    within: Duration | None = None
    """At most so long. Default: it leaves at all."""
    at_least: Duration = 0.0
    """And not sooner. Default 0."""
    after: AfterEvent | Literal["request", "head", "last_event"] = "request"
    """What the time counts from: the request's first byte, the head, the last event that it got, or `{event: N}`."""

    @property
    def expected(self) -> str:
        start = f"event {self.after.event}" if isinstance(self.after, AfterEvent) else f"the {_SAID[self.after]}"
        within = f" within {limit(self.within)}" if self.within is not None else ""
        least = f", not sooner than {limit(self.at_least)}," if self.at_least else ""
        return f"the client to leave{within}{least} after {start}"

    def see(self, record: ExchangeRecord) -> Finding:
        left = record.times.client_closed
        if left is None:
            end = record.end
            how = f": {end.how} by {end.by}" if end is not None else ""
            return found(record, False, f"it stayed to the end{how}", "end")
        since = self._since(record)
        if since is None:
            return found(
                record, False, f"it left after {ms(left)}, and that it counts from never came", "client_closed"
            )
        waited = left - since
        good = self.at_least <= waited and (self.within is None or waited <= self.within)
        moments = (_MOMENT[self.after],) if isinstance(self.after, str) else ()
        return found(record, good, f"it left {ms(waited)} after that", *moments, "client_closed")

    def _since(self, record: ExchangeRecord) -> float | None:
        if isinstance(self.after, AfterEvent):
            times = record.evidence.events_out if record.evidence is not None else ()
            return times[self.after.event - 1] if len(times) >= self.after.event else None
        return 0.0 if self.after == "request" else _time(record.times, _MOMENT[self.after])


_SAID = {"request": "request", "head": "head", "last_event": "last event"}
_MOMENT = {"request": "request_end", "head": "head_sent", "last_event": "last_event_out"}


def _time(times: Times, moment: str) -> float | None:
    found_at: float | None = getattr(times, moment)
    return found_at
