"""One cell, lived through: the exchange is brought to its state, the event comes, everything goes on.

Must not know: how a state is reached, how an event is made, what must come of it.
"""

import logging
from dataclasses import dataclass

import trio
from trio._core import _run as scheduler
from trio.testing import MockClock

from chaosproxy.journal.record import Ending
from tests.security.matrix import rules, trap
from tests.security.matrix.clients import View
from tests.security.matrix.events import EVENTS, Event, out_of_date
from tests.security.matrix.rules import End
from tests.security.matrix.states import STATES, State
from tests.security.matrix.world import SIBLING, TARGET, World, certificates
from tests.simulation.run import Remains

PAIRS = (("h1", "h1"), ("h1", "h2"), ("h2", "h1"), ("h2", "h2"))
ASKED, HAPPENS, SOON, GOES_ON, UNDONE, LATE, PATIENCE = 0.25, 2.3, 3.2, 7.35, 8.35, 60.0, 1.0
"""At which second what is done; and for how long what is over may still hold anything."""


@dataclass(frozen=True)
class Cell:
    """What happens to which exchange."""

    state: State
    event: Event
    client: str
    upstream: str

    @property
    def name(self) -> str:
        return f"{self.state.key} x {self.event.key}, {self.client} to {self.upstream}"


CELLS = [
    Cell(state, event, client, upstream)
    for state in STATES
    for event in EVENTS
    for client, upstream in PAIRS
    if rules.makes_sense(state, event, client, upstream)
]


@dataclass
class Look:
    """What is to be seen at one moment."""

    view: View
    heard: str
    end: End | None
    upstream_end: End | None
    journalled: bool
    remains: Remains
    open_links: int


@dataclass
class Lived:
    """What came of a cell."""

    cell: Cell
    soon: Look
    late: Look
    after: Look
    """Everybody has left."""
    sent: bytes
    """Of the answer."""
    beats: list[tuple[float, bytes]]
    sibling: View
    meanwhile: View | None
    """What a newcomer was answered."""
    probes: list[View]
    left: float | None
    """When the proxy was gone, if it was by itself."""
    gone: tuple[bool, int]
    """The proxy: whether it has left, and what it has not given back."""
    detail: str
    complaints: list[str]
    logged: list[str]
    lost: int


def _end(ending: Ending | None) -> End | None:
    return None if ending is None else (ending.by, ending.how, ending.cause)


def _look(w: World) -> Look:
    record = w.record
    return Look(
        w.client.view(TARGET),
        w.heard,
        _end(record.end) if record else None,
        _end(record.upstream.end) if record else None,
        record is not None,
        Remains.of(w.proxy) if w.left is None else Remains(0, len(w.proxy._clients), 0, 0, 0),
        w.open_links,
    )


class _Log(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


async def _live(cell: Cell, log: _Log) -> Lived:
    state, event = cell.state, cell.event
    result: Lived | None = None
    async with trio.open_nursery() as peers:
        w = World(cell.client, cell.upstream, state.answer, peers)
        if (state.key, event.key) == ("handshake", "certificate"):
            w.shown = out_of_date(certificates()[0])
        faults = (*state.faults, "x_trap: {}") if event.kind == "bug" else state.faults
        await w.begin(faults, upstreams=rules.upstreams(state, event))
        w.sibling = await w.connect()
        await w.sibling.ask(SIBLING)
        await trio.sleep_until(ASKED)
        if state.key != "handshake":
            w.client = w.sibling if rules.shared(state, event, cell.client) else await w.connect()
        await trio.testing.wait_all_tasks_blocked()
        await state.reach(w)
        await trio.sleep_until(HAPPENS)
        await event.act(w)
        await trio.sleep_until(SOON)
        soon = _look(w)
        await trio.sleep_until(GOES_ON)
        w.go.set()
        peers.start_soon(state.rest, w)
        await trio.sleep_until(UNDONE)
        event.undo(w)
        await trio.sleep_until(LATE)
        result = await _leave(cell, w, soon, log)
        peers.cancel_scope.cancel()
    assert result is not None
    return result


async def _leave(cell: Cell, w: World, soon: Look, log: _Log) -> Lived:
    """Everybody leaves, somebody else still asks, and the proxy leaves."""
    late, left = _look(w), w.left
    sibling, beats = w.sibling.view(SIBLING), w.sibling.beats(SIBLING)
    w.client.close()
    w.sibling.close()
    await trio.sleep(PATIENCE)
    after = _look(w)
    probes = [await w.newcomer(f"/probe{number}") for number in (1, 2)] if w.left is None else []
    record = w.record
    w.term.set()
    w.second.set()
    await trio.sleep(PATIENCE)
    return Lived(
        cell=cell,
        soon=soon,
        late=late,
        after=after,
        sent=w.talks[-1].sent if w.talks else b"",
        beats=beats,
        sibling=sibling,
        meanwhile=w.meanwhile,
        probes=probes,
        left=left,
        gone=(w.left is not None, w.open_links),
        detail=record.detail or "" if record else "",
        complaints=w.complaints,
        logged=log.lines,
        lost=w.file.lost if w.file is not None else 0,
    )


def live(cell: Cell, seed: int = 1) -> Lived:
    """Live through it once; the order in which tasks run is the seed's."""
    scheduler._ALLOW_DETERMINISTIC_SCHEDULING = True
    scheduler._r.seed(seed)
    trap.ARMED.clear()
    log, logger = _Log(), logging.getLogger("chaosproxy")
    logger.addHandler(log)
    propagates, logger.propagate = logger.propagate, False
    try:
        return trio.run(_live, cell, log, clock=MockClock(autojump_threshold=0))
    finally:
        logger.removeHandler(log)
        logger.propagate = propagates
