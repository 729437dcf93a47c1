"""The comparison: every row once through the real program and once through its preset, side by side.

Rules: everything shares one Trio run and one origin, and mostly waits. What was not expected is asked
again, when little else is, before it is believed: the machine may have been busy.
"""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import trio

import chaosproxy
from chaosproxy.errors import Error
from tests.differential.launch import Ports, Running, find, version_of
from tests.differential.observed import Observed
from tests.differential.origin import Origin, serving
from tests.differential.programs import PROGRAMS
from tests.differential.rows import Peer, Row
from tests.differential.rules import BUSY, RULES, Way

TOGETHER = 100
"""Rows that wait at the same time."""
FEW = 8
"""Of those that are busy, and of those that are asked again."""
AGAIN = 3
"""Times that what was not expected is asked again before it is believed."""
APART = 0.03
"""Seconds between their beginnings, so that they are not all busy at once."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one row."""

    row: Row
    real: Observed
    preset: Observed

    @property
    def agrees(self) -> bool:
        """A client could not tell the two apart."""
        return self.real.agrees(self.preset)


class Comparison:
    """One run over some programs."""

    def __init__(self, peers: Sequence[Peer], rows: Iterable[Row], known: Iterable[str], place: Path) -> None:
        """`known`: the rows that are expected to disagree."""
        self._peers = peers
        self._rows = list(rows)
        self._known = set(known)
        self._place = place
        self._real: dict[tuple[str, str], Ports] = {}
        self._presets: dict[tuple[str, str], Ports | str] = {}
        self._asked = 0
        self.results: dict[Row, Result] = {}
        self.versions: dict[str, str] = {}

    async def run(self) -> None:
        """Fill `results` and `versions`."""
        async with serving() as origin, contextlib.AsyncExitStack() as stack:
            try:
                running = [self._running(peer, origin) for peer in self._peers]
                async with trio.open_nursery() as nursery:
                    for one in running:
                        stack.push_async_callback(_stop, one)
                        nursery.start_soon(trio.to_thread.run_sync, one.start)
                await self._open_presets(origin, stack)
                await self._ask_all(origin)
            except BaseExceptionGroup as group:
                raise group.exceptions[0] from None

    def _running(self, peer: Peer, origin: Origin) -> Running:
        program = PROGRAMS[peer.name]
        place = self._place / peer.name
        place.mkdir()
        place.chmod(0o755)
        self.versions[peer.name] = version_of(program, find(program))
        used = {row.setting for row in self._rows if row.program == peer.name}
        settings = {name: one.real for name, one in peer.settings.items() if name in used}
        numbered = {f"s{number}": text for number, text in enumerate(settings.values())}
        running = Running(program, origin.port, numbered, place)
        for name, ports in zip(settings, running.ports.values(), strict=True):
            self._real[peer.name, name] = ports
        return running

    async def _open_presets(self, origin: Origin, stack: contextlib.AsyncExitStack) -> None:
        for peer in self._peers:
            for name, setting in peer.settings.items():
                if (peer.name, name) in self._real:
                    self._presets[peer.name, name] = await _open(peer.name, setting.preset, origin, stack)

    async def _ask_all(self, origin: Origin) -> None:
        """First whoever mostly waits; then those that keep the machine busy, a few at a time; and again, a few at a time,
        what was not expected."""
        await self._ask_these([row for row in self._rows if row.rule not in BUSY], TOGETHER, origin)
        await self._ask_these([row for row in self._rows if row.rule in BUSY], FEW, origin)
        for _ in range(AGAIN):
            await self._ask_these([row for row in self._rows if self.unexpected(row)], FEW, origin)
        self.results = {row: self.results[row] for row in self._rows}

    def unexpected(self, row: Row) -> bool:
        """It disagrees and is not known to, or is known to and does not."""
        return self.results[row].agrees == (str(row) in self._known)

    async def _ask_these(self, rows: Sequence[Row], together: int, origin: Origin) -> None:
        limit = trio.CapacityLimiter(together)

        async def one(row: Row) -> None:
            async with limit:
                self.results[row] = await self._ask(row, origin)

        async with trio.open_nursery() as nursery:
            for row in rows:
                nursery.start_soon(one, row)
                await trio.sleep(APART)

    async def _ask(self, row: Row, origin: Origin) -> Result:
        seen: dict[str, Observed] = {}

        async def side(name: str, ports: Ports | str) -> None:
            seen[name] = await self._observed(row, ports, origin)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(side, "real", self._real[row.program, row.setting])
            nursery.start_soon(side, "preset", self._presets[row.program, row.setting])
        return Result(row, seen["real"], seen["preset"])

    async def _observed(self, row: Row, ports: Ports | str, origin: Origin) -> Observed:
        if isinstance(ports, str):
            return Observed(ports)
        self._asked += 1
        way = Way(origin, ports.h1 if row.protocol == "h1" else ports.h2, row.protocol, str(self._asked))
        try:
            return await RULES[row.rule](way)
        except (EOFError, OSError, trio.TooSlowError, ExceptionGroup) as error:
            while isinstance(error, ExceptionGroup):
                error = error.exceptions[0]
            return Observed(f"cannot be asked: {error!r}")


async def _open(
    name: str, parameters: Mapping[str, object], origin: Origin, stack: contextlib.AsyncExitStack
) -> Ports | str:
    scenario = {"version": 1, "hops": [{"preset": name, **parameters}]}
    try:
        proxy = await stack.enter_async_context(
            chaosproxy.open_proxy(scenario, upstream=f"http://127.0.0.1:{origin.port}")
        )
    except Error as error:
        return f"no preset: {str(error).splitlines()[0]}"
    port = int(proxy.url.rpartition(":")[2])
    return Ports(port, port)


async def _stop(running: Running) -> None:
    with trio.CancelScope(shield=True):  # whatever has gone wrong, no program stays behind
        await trio.to_thread.run_sync(running.stop)
