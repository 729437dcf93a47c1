"""Checks of time: when the head and the events went to the client, and how long it heard nothing.

Times are real seconds, whatever the proxy's speed. Must not know: why anything was late.
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from chaosproxy.journal.evidence import MOST_EVENTS
from chaosproxy.journal.marks import FIRST
from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.judging.check import Check, Finding, found, register
from chaosproxy.judging.words import ended_at, limit, ms
from chaosproxy.model.units import Duration


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Head(Check):
    """The response's head went to the client in time."""

    name: ClassVar[str] = "head"
    main: ClassVar[str | None] = "within"

    within: Duration
    """At most so long after the request's first byte."""

    @property
    def expected(self) -> str:
        return f"the head within {limit(self.within)}"

    def see(self, record: ExchangeRecord) -> Finding:
        head = record.times.head_sent
        if head is None:
            return found(record, False, f"no head in {ms(record.times.end or 0.0)}", "end")
        return found(record, head <= self.within, f"the head after {ms(head)}", "head_sent")


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class FirstEvent(Check):
    """The first event went to the client in time. It is about answers that have events, and those that never came."""

    name: ClassVar[str] = "first_event"
    main: ClassVar[str | None] = "within"
    nothing: ClassVar[str] = "no answer had events"
    reads_records: ClassVar[bool] = True

    within: Duration
    """At most so long after the request's first byte."""

    @property
    def expected(self) -> str:
        return f"the first event within {limit(self.within)}"

    def see(self, record: ExchangeRecord) -> Finding | None:
        first = record.times.first_event_out
        if first is not None:
            return found(record, first <= self.within, f"the first event after {ms(first)}", "first_event_out")
        if record.response.events_out is None and record.times.head_sent is not None:
            return None
        return found(record, False, f"no event in {ms(record.times.end or 0.0)}", "head_sent", "end")


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Gap(Check):
    """The time between two events, as they went to the client."""

    name: ClassVar[str] = "gap"
    main: ClassVar[str | None] = "max"
    nothing: ClassVar[str] = "no answer had two events"
    reads_records: ClassVar[bool] = True
    needs_events: ClassVar[bool] = True

    max: Duration | None = None
    """The longest of all."""
    p99: Duration | None = None
    """The longest but for one in a hundred (nearest rank)."""

    @property
    def expected(self) -> str:
        parts = [f"{name} {limit(most)}" for name, most in (("max", self.max), ("p99", self.p99)) if most is not None]
        return f"gaps between events of {' and '.join(parts)}"

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        return [] if self.max is not None or self.p99 is not None else [((), "`gap` needs max or p99")]

    def see(self, record: ExchangeRecord) -> Finding | None:
        times = record.evidence.events_out if record.evidence is not None else ()
        gaps = sorted(after - before for before, after in pairwise(times))
        if not gaps:
            return None
        longest, p99 = gaps[-1], gaps[math.ceil(len(gaps) * 0.99) - 1]
        good = (self.max is None or longest <= self.max) and (self.p99 is None or p99 <= self.p99)
        moments = ("first_event_out", "last_event_out")
        return found(record, good, f"the longest gap {ms(longest)}, p99 {ms(p99)}", *moments)


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class EventAge(Check):
    """How old an event is when it goes to the client: the Nth that left against the Nth that came. One that never left is
    as old as the exchange became."""

    name: ClassVar[str] = "event_age"
    main: ClassVar[str | None] = "max"
    nothing: ClassVar[str] = "no event came that a client could see"
    reads_records: ClassVar[bool] = True
    needs_events: ClassVar[bool] = True

    max: Duration
    """The oldest."""

    @property
    def expected(self) -> str:
        return f"no event older than {limit(self.max)}"

    def see(self, record: ExchangeRecord) -> Finding | None:
        evidence, over = record.evidence, ended_at(record)
        if evidence is None or record.response.events_out is None:
            return None
        came, went = evidence.events_in, evidence.events_out
        ages = [leaving - coming for coming, leaving in zip(came, went, strict=False)]
        if len(came) < MOST_EVENTS:
            ages += [max(0.0, over - coming) for coming in came[len(went) :]]
        if not ages:
            return None
        oldest = max(ages)
        number = ages.index(oldest) + 1
        seen = f"event {number} was {ms(oldest)} old" + (" and had not gone" if number > len(went) else "")
        return found(record, oldest <= self.max, seen, "first_event_in", "first_event_out", "last_event_out", "end")


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat(Check):
    """The client is never without a byte for long: from the end of its request on, the head and the body count, comments
    too."""

    name: ClassVar[str] = "heartbeat"
    main: ClassVar[str | None] = "every"
    nothing: ClassVar[str] = "no request was complete"

    every: Duration
    """The longest silence."""

    @property
    def expected(self) -> str:
        return f"a byte every {limit(self.every)}"

    def see(self, record: ExchangeRecord) -> Finding | None:
        times = record.times
        heard = sorted(one for one in (times.request_end, times.head_sent) if one is not None)
        if not heard:
            return None
        went = [seconds for seconds, _ in record.deliveries]
        spans = [*pairwise([*heard, *went[:FIRST]]), *pairwise(went[FIRST:])]  # between these some are not kept
        spans.append((max([*heard, *went[-1:]]), ended_at(record)))
        silence, since = max((until - since, since) for since, until in spans)
        seen = f"nothing for {ms(silence)}, from {ms(since)} on"
        return found(record, silence <= self.every, seen, "request_end", "head_sent", "end")
