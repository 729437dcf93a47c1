"""What a scene is: rows that are visited in turn, round after round, and what one visit of a reader is.

Must not know: any scene.
"""

import contextlib
import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from benchmarks.peers import Peer, Pool
from benchmarks.programs import UnavailableError, said, started

Seen = dict[str, float]
_TOO_LONG = 180.0
APART = 4
"""So many rows stand between two visits of the one beside them."""


@dataclass(frozen=True, slots=True)
class Measure:
    """How long, how often, how much."""

    rounds: int
    seconds: float
    warm_up: float
    streams: int
    rate: float
    megabytes: int
    quick: bool


class Visit(Protocol):
    """Measures one row once. UnavailableError if that cannot be."""

    def __call__(self) -> Seen: ...


@dataclass(slots=True)
class Scene:
    """One table of the result."""

    name: str
    title: str
    rows: dict[str, Visit]
    absent: dict[str, str] = field(default_factory=dict)
    """Rows that cannot be, and why."""
    rounds: int = 0
    """0: as many as asked for."""
    beside: str = ""
    """The row that is visited behind every fourth other too, so that it stands beside each of them; empty: none."""


Make = Callable[[Pool, Measure, list[str]], AbstractContextManager[Scene]]
"""With the names of the peers that are wanted."""


def reader(cpus: set[int], given: dict[str, object], **how) -> subprocess.Popen[str]:
    """The program that makes a load and reads it; `how` as of Popen."""
    # -S: it needs the standard library alone, and starts in half the time.
    return started(cpus, sys.executable, "-S", "-m", "benchmarks.reader", json.dumps(given), **how)


def read(cpus: set[int], load: str, peer: Peer, **arguments) -> Seen:
    """What a reader saw of one peer. UnavailableError, with its last words, if it saw nothing."""
    given = {"load": load, "port": peer.port, "pids": peer.pids, **arguments}
    process = reader(cpus, given, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    seen: Seen = json.loads(said(process, _TOO_LONG))
    return seen


def each(pool: Pool, names: list[str], visit: Callable[[Peer], Seen], pair: str = "h1-h1") -> tuple[dict, dict]:
    """A row for each peer that is there, and why the others are not."""
    rows: dict[str, Visit] = {}
    absent: dict[str, str] = {}
    for name in names:
        try:
            rows[name] = partial(visit, pool.peer(name, pair))
        except UnavailableError as reason:
            absent[name] = str(reason)
    return rows, absent


def play(scene: Scene, rounds: int, progress: Callable[[str], None]) -> tuple[dict[str, list[Seen]], dict[str, str]]:
    """All rounds: what was seen of each row, and what failed at last."""
    seen: dict[str, list[Seen]] = {name: [] for name in scene.rows}
    failed: dict[str, str] = {}
    rows = list(scene.rows.items())
    for number in range(scene.rounds or rounds):
        turn = number % max(1, len(rows))
        for name, visit in _with(scene.beside, rows[turn:] + rows[:turn]):  # nobody is always behind the busiest
            progress(f"{scene.title}: round {number + 1}, {name}")
            try:
                seen[name].append(visit())
            except UnavailableError as reason:
                failed[name] = str(reason)
    return seen, failed


def _with(beside: str, rows: list[tuple[str, Visit]]) -> list[tuple[str, Visit]]:
    """The rows of a round, and between them the one that all are held against: so it shares what the machine does."""
    order: list[tuple[str, Visit]] = []
    again = [row for row in rows if row[0] == beside]
    for at, row in enumerate(rows):
        order.append(row)
        if at % APART == APART - 1:
            order += again
    return order


def plain(make: Callable[[Pool, Measure, list[str]], Scene]) -> Make:
    """A scene that leaves nothing open behind itself."""
    return lambda pool, measure, names: contextlib.nullcontext(make(pool, measure, names))
