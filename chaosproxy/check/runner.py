"""One case: a fresh origin, a fresh proxy, the client once; and what is known of it afterwards.

Rules: a client's time is counted from what it last got, so that a slow start costs it nothing. Must not know: verdicts.
"""

import contextlib
import datetime as dt
import re
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from email.utils import format_datetime

import trio

from chaosproxy.check.busy import Lateness
from chaosproxy.check.case import GRPC, Case, in_seconds, with_timeout
from chaosproxy.check.client import Address, Client, Watch
from chaosproxy.check.facts import Facts, facts_of
from chaosproxy.check.grpc_origin import GrpcOrigin, grpc_origin
from chaosproxy.check.told import Told
from chaosproxy.embedded.opened import OpenProxy, open_proxy
from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.model.units import duration
from chaosproxy.origin.question import Knobs
from chaosproxy.origin.serving import OriginOptions, ServedOrigin, serving
from chaosproxy.origin.words import Words
from chaosproxy.scenario.load import load

MOST_REQUESTS = 25
"""A client that asks more often in one case is ended."""
LOOK = 0.02
"""Seconds between looks at a client."""
STILL = 0.2
"""So long after the last byte a client that waits for the next one is interrupted, seconds."""
SETTLE = 0.5
"""Seconds for exchanges to end once their client has."""
_DATE = re.compile(r"<date\+(\w+)>")


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds."""

    patience: float = 5.0
    """So long a client may go on once nothing more comes."""
    start: float = 30.0
    """So long it may take until it asks."""
    loop: float = 12.0
    """So long it may go on asking again."""
    timeout: float | None = None
    """The client's own timeout, if it was told."""
    busy: float = 0.25
    """By so much the machine may be late before time says nothing any more."""
    lead: float = 0.0
    """So long it was seen to take until it asks."""


UNTOLD = Limits()


@dataclass(frozen=True, slots=True)
class Observed:
    """Of a case that was run."""

    told: Told
    facts: Facts
    records: tuple[ExchangeRecord, ...]
    lead: float
    """Seconds from its start to its first request."""
    late: float
    """Seconds by which the machine was late meanwhile, at most."""
    seconds: float
    """How long it took."""


def warm_up() -> None:
    """What is loaded at its first use is loaded now: no client waits for it, and no clock is late for it."""
    load("version: 1")
    with serving():
        pass


async def observe(case: Case, client: Client, limits: Limits, lateness: Lateness, *, tls: bool = False) -> Observed:
    """Run a case."""
    timeout = limits.timeout
    scenario = scenario_of(case, timeout, limits.lead)
    began = trio.current_time()
    async with origin_for(case, limits) as origin:
        async with open_proxy(scenario, upstream=origin.url, tls="auto" if tls else None) as proxy:
            watching = _Watching(case, proxy, origin, limits)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(watching.run)
                url = proxy.url.replace("127.0.0.1", "localhost") if tls else proxy.url
                told = await client.run(Address(case.id, url, proxy.ca), watching.watch)
                nursery.cancel_scope.cancel()
            await proxy.settle(SETTLE)
        records = tuple(proxy.exchanges)
    took = trio.current_time() - began
    lead = watching.asked - began if watching.asked is not None else took
    return Observed(told, facts_of(records), records, lead, lateness.since(began), took)


def scenario_of(case: Case, timeout: float | None, lead: float) -> str:
    """As the loader reads it. `lead`: seconds that the client is expected to take until it asks."""
    return f'version: 1\nname: "{case.id}"\n' + _dated(with_timeout(case.scenario, timeout), lead)


def _count(text: str) -> int:
    return len(text.split())


def _dated(scenario: str, lead: float) -> str:
    """`<date+2s>` is so long after the client can be expected to ask."""

    def date(found: re.Match[str]) -> str:
        when = dt.datetime.fromtimestamp(time.time() + lead + duration(found[1]), dt.UTC)
        return format_datetime(when, usegmt=True)

    return _DATE.sub(date, scenario)


@contextlib.asynccontextmanager
async def origin_for(case: Case, limits: Limits = UNTOLD) -> AsyncIterator[ServedOrigin | GrpcOrigin]:
    """An origin that says what the case has it say, at its pace, whatever is asked."""
    first, gap = in_seconds(case.first, limits.timeout), in_seconds(case.gap, limits.timeout)
    if case.kinds == GRPC:
        async with grpc_origin(list(Words.of(case.text).once), first, gap) as rpc:
            yield rpc
        return
    tokens = _count(case.text) if case.tokens is None else case.tokens
    knobs = Knobs(tokens, first, gap, case.text)
    served = serving(OriginOptions(knobs=knobs))
    origin = await trio.to_thread.run_sync(served.__enter__)
    try:
        yield origin
    finally:
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(served.__exit__, None, None, None)


class _Watching:
    """Says when a client's time is up, and when it is to be interrupted."""

    def __init__(self, case: Case, proxy: OpenProxy, origin: ServedOrigin | GrpcOrigin, limits: Limits) -> None:
        self._case, self._proxy, self._origin, self._limits = case, proxy, origin, limits
        self.watch = Watch()
        self.asked: float | None = None
        """When the first request came."""

    async def run(self) -> None:
        began = active = trio.current_time()
        seen = (0, 0, 0)
        while True:
            await trio.sleep(LOOK)
            now = trio.current_time()
            running = self._proxy.running
            requests = len(running) + len(self._proxy.exchanges)
            # What goes straight through is in no record before its end: there the tokens tell that something came.
            came = requests, sum(record.deliveries.count for record in running), self._origin.stats()["tokens"]
            if came != seen:
                seen, active = came, now
            if requests and self.asked is None:
                self.asked = now
            if self._case.leaves == "interrupted" and came[1] and now - active > STILL:
                self.watch.interrupt.set()
            if self._is_over(now, began, active, requests):
                self.watch.over.set()
                return

    def _is_over(self, now: float, began: float, active: float, requests: int) -> bool:
        case, limits = self._case, self._limits
        if self.asked is None:
            return now - began > limits.start
        if requests > MOST_REQUESTS or now - active > limits.patience + in_seconds(case.silence, limits.timeout):
            return True
        return now - self.asked > self._longest

    @property
    def _longest(self) -> float:
        """However lively it is."""
        case, timeout, limits = self._case, self._limits.timeout, self._limits
        if case.lasts:
            return in_seconds(case.lasts, timeout) + limits.patience
        stream = in_seconds(case.first, timeout) + _count(case.text) * in_seconds(case.gap, timeout)
        return limits.loop + stream + 4 * in_seconds(case.silence, timeout)
