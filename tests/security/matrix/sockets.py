"""The cells that real connections, processes and signals can show, some at a time, and their rows on the page.

Must not know: how one is lived.
"""

import signal
import tempfile
import time
import traceback
from pathlib import Path

import trio

from tests.security.matrix import rules
from tests.security.matrix.events import EVENTS
from tests.security.matrix.looked import Looked
from tests.security.matrix.loopback import Cell
from tests.security.matrix.states import STATES
from tests.security.rows import Row, keep

BY_KEY = {event.key: event for event in EVENTS}
REAL = ("killed", "reset", "fin", "stopped", "client reset", "client fin", "client killed", "client stopped",
        "no descriptor", "full", "term", "second term", "reload", "bad reload")  # fmt: skip
TOGETHER = 4
"""Cells at a time."""
SHOWN = 12
"""Lines of a mistake."""
LONGEST = 240.0
"""Seconds for one."""


def cells() -> list[Cell]:
    """Those that make sense."""
    return [
        Cell(state, BY_KEY[key], protocol)
        for protocol in ("h1", "h2")
        for state in STATES
        for key in REAL
        if rules.makes_sense(state, BY_KEY[key], protocol, protocol)
        or (state.key == "handshake" and key in ("term", "second term"))
    ]


async def _one(cell: Cell, limit: trio.CapacityLimiter, found: dict[str, list[str]]) -> None:
    async with limit:
        with tempfile.TemporaryDirectory() as folder:
            wrong = ["not over in time"]
            try:
                with trio.move_on_after(LONGEST):
                    async with trio.open_nursery() as nursery:
                        loopback = Looked(cell, Path(folder), nursery)
                        try:
                            await loopback.run()
                        finally:
                            for process in loopback.processes:
                                process.signal(signal.SIGKILL)
                        wrong = loopback.wrong
                        nursery.cancel_scope.cancel()
            except* Exception as error:  # noqa: BLE001 - a cell that ends like this is wrong, too
                wrong = traceback.format_exception(error)[-SHOWN:]
            found[cell.name] = wrong
            if wrong:
                print(f"{cell.name}:", *wrong, sep="\n    ", flush=True)


async def _all(chosen: list[Cell]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    limit = trio.CapacityLimiter(TOGETHER)
    async with trio.open_nursery() as nursery:
        for cell in chosen:
            nursery.start_soon(_one, cell, limit, found)
    return found


def sockets(only: str, *, keeps: bool) -> int:
    """How many are wrong."""
    chosen = [cell for cell in cells() if only in cell.name]
    began = time.monotonic()
    found = trio.run(_all, chosen)
    wrong, took = sum(bool(one) for one in found.values()), time.monotonic() - began
    print(f"{len(found)} cells on sockets, {wrong} wrong, {took:.0f} s")
    if keeps and not only:
        for protocol, name in (("h1", "HTTP/1.1"), ("h2", "HTTP/2")):
            mine = {cell.name for cell in chosen if cell.protocol == protocol}
            bad = sum(bool(found[one]) for one in mine)
            happens = "the same" if not bad else f"{bad} WRONG"
            by = "python -m tests.security.matrix --sockets --keep"
            row = Row(
                name=f"the same with processes and signals, over {name}", tried=len(mine),
                must="as above; the exit status, descriptors as before, no trace of a mistake", happens=happens,
                figure=f"{took:.0f} s for all", by=by,
            )  # fmt: skip
            keep("matrix", row)
    return wrong
