"""The processes of a cell on loopback: the proxy as a user starts it, and a peer that can be killed.

Must not know: what is right.
"""

import contextlib
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import trio

WITHIN = 60.0


class Process:
    """A program, its lines, its descriptors."""

    def __init__(self, inner: trio.Process) -> None:
        self.inner = inner
        self.lines: list[str] = []
        """Of stdout."""
        self.said = b""
        """On stderr."""
        self.news = trio.lowlevel.ParkingLot()

    @classmethod
    async def start(cls, nursery: trio.Nursery, *words: str) -> "Process":
        """`python -m WORDS`."""
        command = [sys.executable, "-m", *words]
        opened = partial(trio.lowlevel.open_process, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process = cls(await opened(command, stderr=subprocess.PIPE))
        nursery.start_soon(process._read)
        nursery.start_soon(process._hear)
        return process

    async def _read(self) -> None:
        assert self.inner.stdout is not None
        rest = b""
        async for data in self.inner.stdout:
            *lines, rest = (rest + data).split(b"\n")
            self.lines += [line.decode() for line in lines]
            self.news.unpark_all()
        self.news.unpark_all()

    async def _hear(self) -> None:
        assert self.inner.stderr is not None
        async for data in self.inner.stderr:
            self.said += data
            self.news.unpark_all()

    async def until(self, condition: Callable[[], object]) -> None:
        """Looked at whenever it has said something."""
        with trio.fail_after(WITHIN):
            while not condition():
                await self.news.park()

    async def told(self, word: str) -> dict[str, object]:
        """Say a word, and what it answers; nothing if it is no more."""
        assert self.inner.stdin is not None
        count = len(self.lines)
        try:
            await self.inner.stdin.send_all(word.encode() + b"\n")
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return {}
        await self.until(lambda: len(self.lines) > count or self.inner.poll() is not None)
        return json.loads(self.lines[-1]) if len(self.lines) > count else {}

    def signal(self, number: signal.Signals) -> None:
        """Send it that, if it is there."""
        if self.inner.poll() is None:
            self.inner.send_signal(number)

    async def ended(self) -> int:
        """Its exit status."""
        with trio.fail_after(WITHIN):
            return await self.inner.wait()

    @property
    def descriptors(self) -> dict[int, str]:
        """What it has open."""
        found = {}
        for one in Path(f"/proc/{self.inner.pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                found[int(one.name)] = str(one.readlink())
        return found
