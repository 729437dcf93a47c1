"""The client's own timeouts, found by search: how long it waits for the head, between bytes, for content, in all.

Each place is a silence without an end; when the client leaves it, that is its limit there. What was found is then tried:
a silence that is a little shorter must be survived, and so must two of them behind each other, else it is the total that
is limited. All of a round side by side. Must not know: how a client is run.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import trio

from chaosproxy.check.busy import Lateness
from chaosproxy.check.case import EITHER, WHOLE, Case, Rule
from chaosproxy.check.client import Client
from chaosproxy.check.runner import Limits, Observed, observe, warm_up
from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.judging.words import last_byte, left_at
from chaosproxy.model.units import counted, show_duration

Place = Literal["head", "idle", "content", "total"]

SAID: dict[Place, str] = {
    "head": "for the head of an answer",
    "idle": "between two bytes of a stream",
    "content": "for text, while comments come",
    "total": "for the whole of a stream that is well",
}
_SILENCES: dict[Place, str] = {
    "head": "faults: [{hold_head: {until: forever}}]",
    "idle": "faults: [{stall: {at: {event: 6}, for: forever}}]",
    "content": "faults: [{stall: {at: {event: 6}, for: forever, meanwhile: {comments: 200ms}}}]",
    "total": "rules: []",
}
_SHORTER: dict[Place, str] = {
    "head": "faults: [{{hold_head: {{until: {D}}}}}]",
    "idle": "faults: [{{stall: {{at: {{event: 6}}, for: {D}}}}}]",
    "content": "faults: [{{stall: {{at: {{event: 6}}, for: {D}, meanwhile: {{comments: 200ms}}}}}}]",
}
_TWICE: dict[Place, str] = {
    "idle": "faults: [{{stall: {{at: {{event: 6}}, for: {D}}}}}, {{stall: {{at: {{event: 9}}, for: {D}}}}}]",
}
COMMENTS = 0.2
"""Seconds between the comments that come."""
SHARE = 0.75
"""Of what was found: what is to be survived."""
SOONER = 0.9
"""A limit that is met by so much of the search's own length is none."""
_RULE = Rule("timeouts", "", "")


@dataclass(frozen=True, slots=True)
class Found:
    """`seconds` is None where the client was still there when the search was over."""

    place: Place
    seconds: float | None
    requests: int
    until: float | None
    """Seconds until it gave up, all attempts together; None: it did not."""
    note: str = ""
    """What the trials have shown."""

    @property
    def seen(self) -> str:
        """In words."""
        if self.seconds is None:
            return self.note or "no limit was found"
        said = show_duration(_rounded(self.seconds))
        if self.requests > 1:
            said += f", {counted(self.requests, 'request')}"
            said += f": {show_duration(_rounded(self.until))} until it gave up" if self.until is not None else ""
        return f"{said}; {self.note}" if self.note else said

    def as_json(self) -> dict[str, Any]:
        """Ready for `json.dumps`."""
        seconds = None if self.seconds is None else round(self.seconds, 3)
        until = None if self.until is None else round(self.until, 3)
        return {"place": self.place, "seconds": seconds, "requests": self.requests, "until": until, "seen": self.seen}


def _rounded(seconds: float) -> float:
    return round(seconds, 1 if seconds >= 1 else 2)


@dataclass
class Search:
    """Of all of a client's timeouts."""

    client: Client
    up_to: float
    """No longer silence is tried, in seconds."""
    patience: float = 5.0
    _lateness: Lateness = field(default_factory=Lateness)

    async def run(self) -> tuple[Found, ...]:
        """First the silences without an end, then what is a little shorter."""
        await trio.to_thread.run_sync(warm_up)
        async with trio.open_nursery() as clock:
            clock.start_soon(self._lateness.run)
            seen = await self._side_by_side([self._endless(place) for place in SAID])
            found = [_found(place, one, self.up_to) for place, one in zip(SAID, seen, strict=True)]
            tried = [trial for one in found for trial in _trials(one)]
            survived = await self._side_by_side([case for _, case in tried])
            clock.cancel_scope.cancel()
        outcome = {case.id: _is_whole(one) for (_, case), one in zip(tried, survived, strict=True)}
        return tuple(replace(one, note=one.note or _note(one, outcome)) for one in found)

    async def _side_by_side(self, cases: Sequence[Case]) -> list[Observed]:
        made: dict[str, Observed] = {}

        async def one(case: Case) -> None:
            limits = Limits(self.patience, loop=self.up_to)
            made[case.id] = await observe(case, self.client, limits, self._lateness)

        async with trio.open_nursery() as nursery:
            for case in cases:
                nursery.start_soon(one, case)
        return [made[case.id] for case in cases]

    def _endless(self, place: Place) -> Case:
        up_to = show_duration(self.up_to)
        tokens = math.ceil(self.up_to * 10) if place == "total" else None
        case = _case(f"timeout-{place}", _SILENCES[place], up_to)
        # Steadily, with pauses that no limit is as short as.
        return replace(case, tokens=tokens, gap="100ms", lasts=up_to) if tokens else replace(case, lasts=up_to)


def _case(name: str, scenario: str, silence: str) -> Case:
    return Case(id=name, title=name, rule=_RULE, good=EITHER | WHOLE, scenario=scenario, silence=silence)


def _found(place: Place, observed: Observed, up_to: float) -> Found:
    records = sorted(observed.records, key=lambda record: record.id)
    if not records:
        return Found(place, None, 0, None, "no request came")
    waited = [one for record in records if (one := _waited(place, record)) is not None]
    to_the_end = not waited or max(waited) > SOONER * up_to
    # Who is content with what came may close with the last word, a moment before the answer is over.
    if to_the_end and (not observed.told.ended_itself or observed.told.outcome == "ok"):
        return Found(place, None, len(records), None, f"none within {show_duration(up_to)}")
    if not waited:
        return Found(place, None, len(records), None, "it left before there was anything to wait for")
    if place == "content" and min(waited) < 2 * COMMENTS:
        return Found(place, None, len(records), None, "it leaves with the first comment")
    until = observed.facts.ended if observed.told.ended_itself else None
    return Found(place, min(waited), len(records), until)


def _waited(place: Place, record: ExchangeRecord) -> float | None:
    """How long, until it left; None: it did not."""
    left = left_at(record)
    if left is None:
        return None
    match place:
        case "head":
            return left - (record.times.request_end or 0.0)
        case "total":
            return left
        case "content":
            return left - next((fired.t for fired in record.faults), 0.0)
        case "idle":
            since = last_byte(record)
            return None if since is None else left - since


def _trials(found: Found) -> list[tuple[Found, Case]]:
    if found.seconds is None:
        return []
    shorter = show_duration(round(found.seconds * SHARE, 3))
    tables = {"shorter": _SHORTER, "twice": _TWICE}
    return [
        (found, _case(f"{name}-{found.place}", table[found.place].format(D=shorter), shorter))
        for name, table in tables.items()
        if found.place in table
    ]


def _is_whole(observed: Observed) -> bool:
    return observed.told.ended_itself and observed.told.outcome == "ok" and observed.facts.requests == 1


def _note(found: Found, survived: dict[str, bool]) -> str:
    """What the trials say of it."""
    shorter, twice = (survived.get(f"{name}-{found.place}") for name in ("shorter", "twice"))
    if shorter is False:
        return "a silence of three quarters of it is not survived either"
    if twice is False:
        return "two silences of three quarters of it are not survived: it is the total that is limited"
    return "a silence of three quarters of it is survived" if shorter else ""
