"""One world, lived through: the real proxy over links, in virtual time, tasks in an order that the seed decides.

Must not know: what is right.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass

import trio
from trio._core import _run as scheduler
from trio.testing import MockClock

from chaosproxy.errors import UpstreamFault
from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.proxy.proxy import Proxy
from chaosproxy.testing.proxied import linked
from chaosproxy.wire.transport import Transport
from tests.simulation import h1_client, h1_upstream, h2_client, h2_upstream
from tests.simulation.seen import Seen
from tests.simulation.world import Client, World

SETTLE = 60.0
"""Seconds for whatever still has to end when the last client has left."""


LONGEST = 10_000.0
"""Seconds after which a world should be over, whatever happens in it."""


@dataclass(frozen=True)
class Remains:
    """What a proxy still holds."""

    exchanges: int
    clients: int
    pooled: int
    tasks: int
    """Besides its own two and one for each pooled connection."""
    alarms: int
    """Deadlines that somebody waits for."""

    @classmethod
    def of(cls, proxy: Proxy) -> "Remains":
        pooled = sum(len(upstream.connections) for upstream in proxy._pool.upstreams)
        assert proxy._nursery is not None
        return cls(
            exchanges=len(proxy._exchanges),
            clients=len(proxy._clients),
            pooled=pooled,
            tasks=len(proxy._nursery.child_tasks) - 2 - pooled,
            alarms=sum(time == who.armed for time, _, who in proxy.alarm._heap),
        )


@dataclass
class Run:
    """What came of a world."""

    seen: Seen
    records: list[ExchangeRecord]
    begun: int
    unwanted: list[int]
    """The requests that the upstream was still busy with, long after the last client had left."""
    before: Remains
    after: Remains
    """Before and after the proxy has been shut down."""
    logged: list[str]

    def trace(self) -> list[object]:
        """Everything that has to be the same when it is run once more."""
        journal = [{**record.as_json(), "started_at": ""} for record in self.records]
        served = [(one.number, bytes(one.body), one.answered, one.told) for one in self.seen.served]
        return [self.seen.bytes_and_times(), served, journal, self.before, self.after]


class HangsError(Exception):
    """The world has not come to its end; where its tasks are."""


def _waiting(task: trio.lowlevel.Task) -> Iterator[str]:
    stack = [f"{frame.f_code.co_qualname}:{line}" for frame, line in task.iter_await_frames()]
    yield " > ".join(stack[-5:])
    for nursery in task.child_nurseries:
        for child in nursery.child_tasks:
            yield from _waiting(child)


async def _bounded(world: World, seen: Seen, log: "_Log") -> Run:
    ran, lines = None, list[str]()

    async def watch() -> None:
        await trio.sleep(LONGEST)
        root = trio.lowlevel.current_root_task()
        assert root is not None
        lines.extend(_waiting(root))
        nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch)
        ran = await _live(world, seen, log)
        nursery.cancel_scope.cancel()
    if ran is None:
        raise HangsError("\n    ".join(lines))
    return ran


class _Log(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        line = record.getMessage()
        if "nothing was asked" not in line:  # what a fault did to a connection without an exchange, as it should
            self.lines.append(line)


async def _live(world: World, seen: Seen, log: _Log) -> Run:
    dialled = 0

    async def serve(transport: Transport) -> None:
        await (h1_upstream if world.upstream == "h1" else h2_upstream).serve(transport, world, seen)

    async def dialling() -> None:
        nonlocal dialled
        takes = world.dials[dialled % len(world.dials)]
        dialled += 1
        if takes is None:
            raise UpstreamFault("refused")
        await trio.sleep(takes)

    async def come(client: Client) -> None:
        await trio.sleep(client.starts)
        await (h1_client if client.protocol == "h1" else h2_client).talk(proxied.connect(), client, seen)

    url = "http://origin" if world.upstream == "h1" else "h2c://origin"
    async with linked(
        world.document, serve, upstream=url, room=world.room, seed=world.seed, dialling=dialling
    ) as proxied:
        async with trio.open_nursery() as nursery:
            for client in world.clients:
                nursery.start_soon(come, client)
        await trio.sleep(SETTLE)
        unwanted = [served.number for served in seen.served if not served.over]
        before = Remains.of(proxied.proxy)
        await proxied.proxy.shut_down(0)
        await trio.sleep(SETTLE)
        after = Remains.of(proxied.proxy)
    return Run(seen, proxied.exchanges, proxied.proxy.begun, unwanted, before, after, log.lines)


def run(world: World) -> Run:
    """Live through it once."""
    scheduler._ALLOW_DETERMINISTIC_SCHEDULING = True
    scheduler._r.seed(world.seed)
    log, logger = _Log(), logging.getLogger("chaosproxy")
    logger.addHandler(log)
    try:
        return trio.run(_bounded, world, Seen(), log, clock=MockClock(autojump_threshold=0))
    finally:
        logger.removeHandler(log)
