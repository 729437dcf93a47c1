"""Checks of a client that asks again: which exchanges are attempts of one call, how many, and how far apart.

A call is one method, target and body: whatever repeats these is an attempt, whether it overlaps the one before or follows
it. (A client that makes the same call twice on purpose is told apart by `match` or `nth`, or by a body that differs.)
Must not know: what a client is.
"""

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from itertools import pairwise
from typing import ClassVar

from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.judging.check import Check, Finding, register
from chaosproxy.judging.words import limit, ms
from chaosproxy.model.units import Count, Duration

EARLY = 0.001
"""Seconds by which a client may come too early: clocks are read at two ends."""


def calls(records: Sequence[ExchangeRecord]) -> list[list[ExchangeRecord]]:
    """The attempts of each call, in the order in which they came."""
    found: dict[tuple[object, ...], list[ExchangeRecord]] = {}
    for record in sorted(records, key=lambda one: (_began(one), one.id)):
        request = record.request
        body = record.evidence.request if record.evidence is not None else None
        found.setdefault((request.method, request.path, request.query, body, request.bytes), []).append(record)
    return list(found.values())


def _began(record: ExchangeRecord) -> float:
    return record.evidence.began if record.evidence is not None else 0.0


def _over(record: ExchangeRecord) -> float:
    """When the client knew that the attempt was over: it left, or it had the end."""
    ends = [one for one in (record.times.client_closed, record.times.end) if one is not None]
    return _began(record) + min(ends, default=0.0)


def _delay(before: ExchangeRecord, after: ExchangeRecord) -> float:
    return max(0.0, _began(after) - _over(before))


def _ids(attempts: Sequence[ExchangeRecord]) -> tuple[int, ...]:
    return tuple(one.id for one in attempts)


@dataclass(frozen=True, slots=True, kw_only=True)
class OfCalls(Check):
    """A check of the attempts of each call."""

    needs_requests: ClassVar[bool] = True

    def look(self, records: Sequence[ExchangeRecord]) -> list[Finding]:
        return [finding for attempts in calls(records) for finding in self.weigh(attempts)]

    def weigh(self, attempts: Sequence[ExchangeRecord]) -> Iterator[Finding]:
        """What is to be said of one call."""
        raise NotImplementedError  # a check without it is a bug of whoever wrote it


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts(OfCalls):
    """How often a client asks for the same."""

    name: ClassVar[str] = "attempts"
    main: ClassVar[str | None] = "count"

    count: Count | None = None
    """Exactly so often."""
    max: Count | None = None
    """At most so often."""

    @property
    def expected(self) -> str:
        if self.count is not None:
            return f"{self.count} attempts of each call"
        return f"at most {self.max} attempts of each call"

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        return (
            [] if (self.count is None) != (self.max is None) else [((), "`attempts` needs count or max, one of them")]
        )

    def weigh(self, attempts: Sequence[ExchangeRecord]) -> Iterator[Finding]:
        number = len(attempts)
        good = number == self.count if self.count is not None else number <= (self.max or 0)
        span = f" in {ms(_began(attempts[-1]) - _began(attempts[0]))}" if number > 1 else ""
        yield Finding(_ids(attempts), good, f"{number}{span}")


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class RetryDelay(OfCalls):
    """How long a client waits before it asks again: from the end of an attempt to the beginning of the next."""

    name: ClassVar[str] = "retry_delay"
    main: ClassVar[str | None] = "min"
    nothing: ClassVar[str] = "nobody asked again"

    min: Duration = 0.0
    """At least so long. Default 0."""
    max: Duration | None = None
    """At most so long."""

    @property
    def expected(self) -> str:
        most = f" and at most {limit(self.max)}" if self.max is not None else ""
        return f"at least {limit(self.min)}{most} between attempts"

    def weigh(self, attempts: Sequence[ExchangeRecord]) -> Iterator[Finding]:
        for before, after in pairwise(attempts):
            waited = _delay(before, after)
            good = self.min <= waited and (self.max is None or waited <= self.max)
            yield Finding((before.id, after.id), good, f"asked again after {ms(waited)}", ("end",))


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class RetryAfter(OfCalls):
    """A client that is told when to ask again (RFC 9110 section 10.2.3) does not ask sooner."""

    name: ClassVar[str] = "retry_after"
    nothing: ClassVar[str] = "nobody asked again who was told when"

    @property
    def expected(self) -> str:
        return "no attempt before its Retry-After is over"

    def weigh(self, attempts: Sequence[ExchangeRecord]) -> Iterator[Finding]:
        for before, after in pairwise(attempts):
            told = _retry_after(before)
            if told is not None:
                waited = _delay(before, after)
                seen = f"told {limit(told)}, asked again after {ms(waited)}"
                yield Finding((before.id, after.id), waited >= told - EARLY, seen, ("head_sent", "end"))


def _retry_after(record: ExchangeRecord) -> float | None:
    """Seconds from the end of the exchange; None where it says nothing that can be understood."""
    for name, value in record.response.headers:
        if name.lower() == "retry-after":
            if value.strip().isdigit():
                return float(value)
            try:
                then = parsedate_to_datetime(value)
            except ValueError:
                return None
            began = dt.datetime.fromisoformat(record.started_at)
            over = began + dt.timedelta(seconds=_over(record) - _began(record))
            return max(0.0, (then - over).total_seconds())
    return None


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class NoRetryAfterOutput(OfCalls):
    """A client that has had events of an answer does not ask for the whole again."""

    name: ClassVar[str] = "no_retry_after_output"
    nothing: ClassVar[str] = "no call had an event"
    reads_records: ClassVar[bool] = True

    @property
    def expected(self) -> str:
        return "no attempt behind one that delivered an event"

    def weigh(self, attempts: Sequence[ExchangeRecord]) -> Iterator[Finding]:
        told = next((number for number, one in enumerate(attempts) if one.response.events_out), None)
        if told is None:
            return
        first, further = attempts[told], attempts[told + 1 :]
        had = first.response.events_out
        seen = (
            f"{had} events delivered, then {len(further)} further attempts"
            if further
            else f"{had} events, no further attempt"
        )
        yield Finding(_ids([first, *further]), not further, seen, ("last_event_out", "end"))
