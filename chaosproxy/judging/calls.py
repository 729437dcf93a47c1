"""Checks of a client that asks again: which exchanges are attempts of one call, how many, and how far apart.

A call is one method, target and body: whatever repeats these is an attempt, whether it overlaps the one before or follows
it. (A client that makes the same call twice on purpose is told apart by `match` or `nth`, or by a body that differs.) Of
an attempt that was over before its body had come, the length that it has announced stands for it.
Must not know: what a client is.
"""

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from itertools import pairwise
from typing import ClassVar, TypeAlias

from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.judging.check import Check, Finding, register
from chaosproxy.judging.words import SHUTDOWN, ended_at, how_it_ended, limit, ms, unseen
from chaosproxy.model.units import Count, Duration, counted

FAILURE = 400
"""Statuses from here on are no answer."""
EARLY = 0.001
"""Seconds by which a client may come too early: clocks are read at two ends."""
LONGEST = 20
"""Digits; no body is so long."""
Body: TypeAlias = tuple[bytes | None, int | None]
"""A digest, and how many bytes; None: not known."""


def calls(records: Sequence[ExchangeRecord]) -> list[list[ExchangeRecord]]:
    """The attempts of each call, in the order in which they came."""
    ordered = sorted(records, key=lambda one: (_began(one), one.id))
    whole: dict[tuple[str, ...], dict[Body, None]] = {}
    for record in ordered:
        if _body(record)[0] is not None:
            whole.setdefault(_target(record), {})[_body(record)] = None
    found: dict[tuple[object, ...], list[ExchangeRecord]] = {}
    for record in ordered:
        target, body = _target(record), _body(record)
        if body[0] is None:
            alike = [one for one in whole.get(target, ()) if body[1] in {None, one[1]}]
            body = alike[0] if len(alike) == 1 else body
        found.setdefault((target, body), []).append(record)
    return list(found.values())


def _target(record: ExchangeRecord) -> tuple[str, ...]:
    request = record.request
    return request.method, request.path, request.query


def _body(record: ExchangeRecord) -> Body:
    digest = record.evidence.request if record.evidence is not None else None
    if digest is not None:
        return digest, record.request.bytes
    announced = next((value for name, value in record.request.headers if name.lower() == "content-length"), "")
    known = announced.isascii() and announced.isdigit() and len(announced) < LONGEST
    return None, int(announced) if known else None


def _began(record: ExchangeRecord) -> float:
    return record.evidence.began if record.evidence is not None else 0.0


def _over(record: ExchangeRecord) -> float:
    """When the client knew that the attempt was over."""
    return _began(record) + ended_at(record)


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
            return f"{counted(self.count, 'attempt')} of each call"
        return f"at most {counted(self.max or 0, 'attempt')} of each call"

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        good = (self.count is None) != (self.max is None)
        return [] if good else [((), "`attempts` needs count or max, one of them")]

    def weigh(self, attempts: Sequence[ExchangeRecord]) -> Iterator[Finding]:
        number = len(attempts)
        good = number == self.count if self.count is not None else number <= (self.max or 0)
        yield Finding(_ids(attempts), good, _how_often(attempts), ("end",))


def _how_often(attempts: Sequence[ExchangeRecord]) -> str:
    """`17 attempts in 3100 ms, 2 of them at once`."""
    if len(attempts) == 1:
        return "1 attempt"
    span = ms(_began(attempts[-1]) - _began(attempts[0]))
    most = max(sum(_began(one) <= _began(at) < _over(one) for one in attempts) for at in attempts)
    return f"{len(attempts)} attempts in {span}{f', {most} of them at once' if most > 1 else ''}"


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class GivesUp(OfCalls):
    """A client that gets no whole answer gives up: it does not ask for ever. An attempt has failed if its status is 400 or
    more, it broke off, or the client left it."""

    name: ClassVar[str] = "gives_up"
    main: ClassVar[str | None] = "after"
    nothing: ClassVar[str] = "every call was answered in the end"

    after: Count | None = None
    """After so many attempts at most."""
    within: Duration | None = None
    """Its last attempt is over at most so long after the first began."""

    @property
    def expected(self) -> str:
        after = f" after {counted(self.after, 'attempt')} at most" if self.after is not None else ""
        return f"the client to give up{after}" + (f" within {limit(self.within)}" if self.within is not None else "")

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        return [] if self.after is not None or self.within is not None else [((), "`gives_up` needs after or within")]

    def weigh(self, attempts: Sequence[ExchangeRecord]) -> Iterator[Finding]:
        if any(not _has_failed(one) for one in attempts):
            return
        last = attempts[-1]
        took = max(map(_over, attempts)) - _began(attempts[0])
        waits = last.end is not None and last.end.cause == SHUTDOWN
        good = len(attempts) <= (self.after or len(attempts)) and (self.within is None or took <= self.within)
        seen = f"{_how_often(attempts)}, the last over after {ms(took)}: {last.response.status or 'no head'}, "
        seen += how_it_ended(last) + (f"; {unseen(last) or 'it still waited as the proxy ended'}" if waits else "")
        yield Finding(_ids(attempts), good and not waits, seen, ("client_closed", "end"))


def _has_failed(record: ExchangeRecord) -> bool:
    status, end = record.response.status, record.end
    return status is None or status >= FAILURE or end is None or end.how != "clean"


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

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        good = self.max is None or self.min <= self.max
        return [] if good else [(("max",), "less than `min`: no wait is both")]

    @property
    def expected(self) -> str:
        most = f" and at most {limit(self.max)}" if self.max is not None else ""
        return f"at least {limit(self.min)}{most} between attempts"

    def weigh(self, attempts: Sequence[ExchangeRecord]) -> Iterator[Finding]:
        for before, after in pairwise(attempts):
            waited = _delay(before, after)
            good = self.min - EARLY <= waited and (self.max is None or waited <= self.max)
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
            told = told_to_wait(before)
            if told is not None:
                waited = max(0.0, _began(after) - _began(before) - (before.times.head_sent or 0.0))
                seen = f"told {limit(told)}, asked again after {ms(waited)}"
                yield Finding((before.id, after.id), waited >= told - EARLY, seen, ("head_sent", "end"))


def told_to_wait(record: ExchangeRecord) -> float | None:
    """Seconds from its head on, by its Retry-After; None where that says nothing that can be understood."""
    for name, value in record.response.headers:
        if name.lower() == "retry-after":
            seconds = value.strip()
            if seconds.isascii() and seconds.isdigit():
                return float(seconds)
            try:
                then = parsedate_to_datetime(value)
            except (ValueError, OverflowError):  # also of a year, or a zone, beyond all numbers
                return None
            told = dt.datetime.fromisoformat(record.started_at) + dt.timedelta(seconds=record.times.head_sent or 0.0)
            # A date without a zone is in GMT (RFC 9110 section 5.6.7); it counts whole seconds.
            return max(0.0, ((then if then.tzinfo else then.replace(tzinfo=dt.UTC)) - told).total_seconds())
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
        first = next((one for one in attempts if one.response.events_out), None)
        if first is None:
            return
        since = _began(first) + (first.times.first_event_out or 0.0)
        further = [one for one in attempts if _began(one) >= since]
        had, again = first.response.events_out, sum(one.response.events_out or 0 for one in further)
        seen = f"{counted(had or 0, 'event')} delivered, " + (
            f"then {counted(len(further), 'attempt')} more, with {counted(again, 'event')} of it"
            if further
            else "no attempt behind it"
        )
        yield Finding(_ids([first, *further]), not further, seen, ("last_event_out", "end"))
