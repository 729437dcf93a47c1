"""Checks of who leaves: whether and when the client does, and when the upstream hears of it.

Must not know: who passes it on.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.judging.check import Check, Finding, found, register
from chaosproxy.judging.words import how_it_ended, last_byte, left_at, limit, ms, unseen
from chaosproxy.model.units import Count, Duration

Place = Literal["request", "head", "last_byte", "last_event", "last_content"]

_SAID: dict[Place, str] = {
    "request": "the request",
    "head": "the head",
    "last_byte": "the last byte",
    "last_event": "the last event",
    "last_content": "the last content",
}
_MOMENT: dict[Place, str] = {
    "request": "request_end",
    "head": "head_sent",
    "last_byte": "last_event_out",
    "last_event": "last_event_out",
    "last_content": "last_event_out",
}


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
        passed = passed_on(record, self.within)
        return None if passed is None else found(record, *passed, "client_closed", "fault", "upstream_closed")


def passed_on(record: ExchangeRecord, within: float) -> tuple[bool, str] | None:
    """Whether an upstream that was still answering was told so soon, and how; None where no client left such a one."""
    left, over, end = left_at(record), record.times.upstream_closed, record.upstream.end
    if left is None or record.times.upstream_connected is None or (over is not None and over < left):
        return None
    if over is None or end is None:
        return False, f"the upstream was never told{_kept_by(record)}"
    late = f"{ms(over - left)} after the client had left ({record.end.how if record.end else 'fin'})"
    if end.by == "upstream" or end.cause == "shutdown":
        if over - left <= within:
            return None  # nobody can say what would have been
        what = "the upstream went on to its own end" if end.by == "upstream" else "told only as the proxy ended"
        return False, f"{what}, {late}: {end.how}{_kept_by(record)}"
    return over - left <= within, f"told {late}: {end.how}{_kept_by(record) if over - left > within else ''}"


def _kept_by(record: ExchangeRecord) -> str:
    """The hop that swallowed it, where a fault says so."""
    for fired in record.faults:
        if fired.fault in {"client_abort", "blackhole"}:
            return f"; kept by {fired.fault} in {fired.hop_name or f'hop {fired.hop}'}"
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterEvent:
    """Behind the Nth event."""

    event: Count
    """Which."""


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class ClientLeaves(Check):
    """The client leaves by itself before its answer is complete, and not later than this. What it has waited for tells which
    of its time-outs that was; the verdict has the time since each of them."""

    name: ClassVar[str] = "client_leaves"
    main: ClassVar[str | None] = "within"
    reads_records: ClassVar[bool] = True
    needs_events: ClassVar[bool] = True
    needs_contents: ClassVar[bool] = True

    within: Duration | None = None
    """At most so long. Default: it leaves at all."""
    at_least: Duration = 0.0
    """And not sooner. Default 0."""
    after: AfterEvent | Place = "request"
    """What the time counts from: the request's first byte, the head, the last byte of the body, the last event, the last
    event that says something (no ping, comment or empty delta), each as it went to the client, or `{event: N}`. Default
    request."""

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        good = self.within is None or self.at_least <= self.within
        return [] if good else [(("at_least",), "longer than `within`: no time is both")]

    @property
    def expected(self) -> str:
        start = f"event {self.after.event}" if isinstance(self.after, AfterEvent) else _SAID[self.after]
        within = f" within {limit(self.within)}" if self.within is not None else ""
        least = f", not sooner than {limit(self.at_least)}," if self.at_least else ""
        return f"the client to leave{within}{least} after {start}"

    def see(self, record: ExchangeRecord) -> Finding:
        left = left_at(record)
        if left is None:
            if hidden := unseen(record):
                return found(record, False, hidden, "fault", "end")
            half = record.times.client_closed
            served = f"closed its sending side after {ms(half)} and was served" if half is not None else "stayed"
            return found(record, False, f"it {served} to the end: {how_it_ended(record)}", "end")
        since = self._since(record)
        if since is None:
            seen = f"that it counts from never came; {_clocks(record, left)}"
            return found(record, False, seen, "client_closed")
        waited = left - since
        good = self.at_least <= waited and (self.within is None or waited <= self.within)
        moments = (_MOMENT[self.after],) if isinstance(self.after, str) else ()
        return found(record, good, _clocks(record, left, self._named(waited)), *moments, "client_closed")

    def _named(self, waited: float) -> str:
        return f"{ms(waited)} after event {self.after.event}" if isinstance(self.after, AfterEvent) else ""

    def _since(self, record: ExchangeRecord) -> float | None:
        if isinstance(self.after, AfterEvent):
            times = record.evidence.events_out if record.evidence is not None else ()
            return times[self.after.event - 1] if len(times) >= self.after.event else None
        return _came(record)[self.after]


def _came(record: ExchangeRecord) -> dict[Place, float | None]:
    """When the client had each of these last."""
    times = record.times
    return {
        "request": 0.0,
        "head": times.head_sent,
        "last_byte": last_byte(record),
        "last_event": times.last_event_out,
        "last_content": record.evidence.last_content if record.evidence is not None else None,
    }


def _clocks(record: ExchangeRecord, left: float, first: str = "") -> str:
    """`it left (fin) 5003 ms after the request, 4950 ms after the head, and had no event`."""
    how = record.end.how if record.end is not None else "fin"
    came = _came(record)
    said = [first] if first else []
    said += [f"{ms(left - at)} after {_SAID[place]}" for place, at in came.items() if at is not None]
    lacking = "the head" if came["head"] is None else "a byte" if came["last_byte"] is None else ""
    return f"it left ({how}) {', '.join(said)}{f', without {lacking}' if lacking else ''}"
