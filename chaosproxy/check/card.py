"""The card: all cases of a suite, run side by side, and a verdict on each.

Rules: first the case in which nothing is wrong, alone; of what it shows the others make use. A bad verdict that hangs on
time is not believed of a busy machine: the case is run once more, alone. Must not know: how a card is shown.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import trio

from chaosproxy.check.busy import Lateness
from chaosproxy.check.case import Case, in_seconds
from chaosproxy.check.client import Client
from chaosproxy.check.facts import Facts
from chaosproxy.check.judge import Judged, Setting, beside, judge, prints_as_it_reads
from chaosproxy.check.runner import Limits, Observed, observe, warm_up
from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.model.units import show_duration

OF_TIME = frozenset({"hangs", "loops", "late", "raised"})
SHARE = 0.05
"""Of the silence that a client is to bear: by less than that the machine may be late, and its patience is judged."""
BASELINES = frozenset({"whole", "grpc-whole"})
NO_TIMEOUT = "say --timeout D, the timeout that the client has been given"


@dataclass(frozen=True, slots=True)
class Result:
    """A case, and what became of it."""

    case: Case
    judged: Judged
    observed: Observed | None = None
    """None: it was not run."""
    known: bool = False
    """It is bad, and was accepted before."""

    @property
    def bad(self) -> bool:
        """It is bad, and nobody has accepted it."""
        return self.judged.good is False and not self.known

    @property
    def records(self) -> tuple[ExchangeRecord, ...]:
        return self.observed.records if self.observed is not None else ()

    def as_json(self) -> dict[str, Any]:
        """Ready for `json.dumps`."""
        case, judged, seen = self.case, self.judged, self.observed
        made: dict[str, Any] = {
            "case": case.id,
            "title": case.title,
            "theme": case.theme,
            "verdict": judged.verdict,
            "good": judged.good,
            "seen": judged.seen,
            "rule": case.rule.says,
            "mend": case.rule.mend,
            "source": case.source,
            "known": self.known,
        }
        if seen is not None:
            facts = seen.facts
            made |= {
                "requests": facts.requests,
                "connections": facts.connections,
                "protocols": sorted(facts.protocols),
                "waits": [{"told": one.told, "waited": round(one.waited, 3)} for one in facts.waits],
                "seconds": round(seen.seconds, 3),
                "late": round(seen.late, 3),
            }
        return made


@dataclass(frozen=True, slots=True)
class Card:
    """Of one client."""

    suite: str
    results: tuple[Result, ...]
    client: str = ""
    """The command, as it was given, without the secrets in it."""
    mended: tuple[Case, ...] = ()
    """What was accepted before, and is good now."""

    @property
    def known(self) -> tuple[Result, ...]:
        """Those that are bad, and were accepted before."""
        return tuple(result for result in self.results if result.known)

    @property
    def bad(self) -> tuple[Result, ...]:
        """Those that nobody has accepted."""
        return tuple(result for result in self.results if result.bad)

    def as_json(self) -> dict[str, Any]:
        """Ready for `json.dumps`."""
        return {"suite": self.suite, "cases": [result.as_json() for result in self.results]}


@dataclass(frozen=True, slots=True)
class Progress:
    """How far it is."""

    done: int
    of: int
    left: float
    """Seconds, as far as one can tell."""
    case: str


@dataclass
class Examination:
    """A suite with a client."""

    client: Client
    cases: Sequence[Case]
    suite: str = "quick"
    limits: Limits = field(default_factory=Limits)
    jobs: int = 2
    tls: bool = False
    progress: Callable[[Progress], None] = lambda _: None
    _results: dict[str, Result] = field(default_factory=dict)

    async def run(self) -> Card:
        """Every case that can be run."""
        await trio.to_thread.run_sync(warm_up)
        self._lateness = Lateness()
        self._setting = Setting(self.limits.timeout)
        self._asks: Facts | None = None
        self._began = trio.current_time()
        async with trio.open_nursery() as clock:
            clock.start_soon(self._lateness.run)
            rest = list(self.cases)
            if rest and rest[0].id in BASELINES:
                self._learn(await self._one(rest.pop(0)))
            todo = [case for case in rest if not self._left_out(case)]
            limiter = trio.CapacityLimiter(self.jobs)
            async with trio.open_nursery() as nursery:
                for case in todo:
                    nursery.start_soon(self._beside_others, case, limiter)
            for case in todo:
                if self._doubtful(self._results[case.id]):
                    self._results[case.id] = self._settled(await self._one(case))
            clock.cancel_scope.cancel()
        return self.so_far

    @property
    def so_far(self) -> Card:
        """The card of those that are judged: all, or what whoever has ended it has left."""
        judged = [self._results[case.id] for case in self.cases if case.id in self._results]
        return Card(self.suite, tuple(self._compared(self._believed(result)) for result in judged))

    async def _beside_others(self, case: Case, limiter: trio.CapacityLimiter) -> None:
        async with limiter:
            await self._one(case)

    async def _one(self, case: Case) -> Result:
        observed = await observe(case, self.client, self.limits, self._lateness, tls=self.tls)
        judged = judge(case, observed.told, observed.facts, self._setting)
        result = self._results[case.id] = Result(case, judged, observed)
        self._tell(case)
        return result

    def _learn(self, result: Result) -> None:
        seen = result.observed
        if seen is None or not seen.facts.requests:
            return
        self.limits = replace(self.limits, lead=seen.lead)
        self._asks = seen.facts
        self._setting = replace(self._setting, streams=prints_as_it_reads(seen.told, seen.facts))

    def _left_out(self, case: Case) -> bool:
        """Where there is no need to run it, the result says why."""
        why = ""
        if case.needs_timeout and self.limits.timeout is None:
            why = NO_TIMEOUT
        elif self._asks is not None:
            why = beside(case, self._asks.kinds, self._asks.protocols)
        if why:
            self._results[case.id] = Result(case, Judged("not_applicable", None, why))
        return bool(why)

    def _doubtful(self, result: Result) -> bool:
        if result.observed is None or result.judged.good is not False:
            return False
        if result.observed.late < self.limits.busy:
            return False
        if result.case.waits:
            return True
        # Who had ten minutes was not kept from anything by a second.
        given = in_seconds(result.case.silence, self.limits.timeout)
        return result.judged.verdict in OF_TIME and result.observed.late >= given * SHARE

    def _settled(self, result: Result) -> Result:
        """Of a case that is not run again."""
        if result.observed is None or not self._doubtful(result):
            return result
        late = show_duration(round(result.observed.late, 2))
        seen = f"the machine was too busy to judge ({late} late): {result.judged.seen}"
        return replace(result, judged=replace(result.judged, good=None, seen=seen))

    def _believed(self, result: Result) -> Result:
        """Ended before it could be run again, a doubtful case is no verdict on the client."""
        return result if result.case.id in BASELINES else self._settled(result)

    def _compared(self, result: Result) -> Result:
        """With the case that it is like."""
        other = self._results.get(result.case.like)
        if other is None or other.judged.verdict != "whole" or result.judged.verdict != "raised":
            return result
        seen = f"{result.judged.seen}; in {other.case.id} it asks again, and has its answer"
        return replace(result, judged=replace(result.judged, good=False, seen=seen))

    def _tell(self, case: Case) -> None:
        done, of = len(self._results), len(self.cases)
        spent = trio.current_time() - self._began
        self.progress(Progress(done, of, spent / done * (of - done), case.id))
