"""What is run in a case: a command, or a function of Python's; and what both are given.

Rules: a client is ended with its children, however it behaves, and what it prints is bounded. Must not know: cases'
meaning, verdicts.
"""

import asyncio
import contextlib
import inspect
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import trio

from chaosproxy.check.told import Told, of_mapping, read
from chaosproxy.errors import UsageError
from chaosproxy.model.leading import leading

MOST = 8 * 1024 * 1024
"""Bytes that are kept of what a client prints."""
DRAIN = 1.0
"""Seconds to read what a client has printed, once it has ended."""
_READ = 65536


@dataclass(frozen=True, slots=True)
class Address:
    """Where a client is to ask, and in which case."""

    case: str
    url: str
    """The proxy, bare: `http://127.0.0.1:PORT`."""
    ca: Path | None = None

    def environment(self, surroundings: Mapping[str, str]) -> dict[str, str]:
        """The variables that lead a client there."""
        made = dict(surroundings) | leading(self.url, surroundings)
        made |= {"CHAOSPROXY_URL": self.url, "CHAOSPROXY_CASE": self.case}
        made.setdefault("PYTHONIOENCODING", "utf-8")
        if self.ca is not None:
            made |= dict.fromkeys(_CA_FILES, str(self.ca))
        return made


_CA_FILES = ("CHAOSPROXY_CA", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")


@dataclass(slots=True)
class Watch:
    """Between a client that runs and who watches it."""

    over: trio.Event = field(default_factory=trio.Event)
    """Set when its time is up."""
    interrupt: trio.Event = field(default_factory=trio.Event)
    """Set when it is to be interrupted."""


class Client(Protocol):
    """Something that asks once."""

    async def run(self, at: Address, watch: Watch) -> Told:
        """Ask, until it has ended or its time is up."""


class Command:
    """A command, run in a process group of its own."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self._arguments = list(arguments)

    async def run(self, at: Address, watch: Watch) -> Told:
        began = trio.current_time()
        process = await self._started(at)
        assert process.stdout is not None
        assert process.stderr is not None
        out, complaint = Printed(), Printed()
        interrupted: list[float] = []
        async with trio.open_nursery() as reading:
            reading.start_soon(out.read, process.stdout)
            reading.start_soon(complaint.read, process.stderr)
            try:
                await _until_ended(process, watch, interrupted)
                ended = process.returncode is not None
            finally:
                with trio.CancelScope(shield=True):
                    _end_group(process)
                    await process.wait()
            reading.cancel_scope.deadline = trio.current_time() + DRAIN
        took = trio.current_time() - began
        told = read(bytes(out.kept), bytes(complaint.kept), process.returncode if ended else None)
        return replace(told, first=out.first, ended=took, left=interrupted[0] if interrupted else None)

    async def _started(self, at: Address) -> trio.Process:
        """UsageError if it cannot be run at all, as a script without its first line cannot."""
        try:
            return await trio.lowlevel.open_process(
                self._arguments,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=at.environment(os.environ),
                start_new_session=True,
                preexec_fn=_can_be_interrupted if os.name == "posix" else None,
            )
        except OSError as error:
            raise UsageError(f"{self._arguments[0]} cannot be run: {error.strerror}") from error


def _can_be_interrupted() -> None:
    """Though whoever started us may not be: a shell has what it runs in the background ignore SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


async def _until_ended(process: trio.Process, watch: Watch, interrupted: list[float]) -> None:
    async def interrupt() -> None:
        await watch.interrupt.wait()
        interrupted.append(time.time())
        with contextlib.suppress(ProcessLookupError):
            _signal_group(process, signal.SIGINT)

    async def limit(nursery: trio.Nursery) -> None:
        await watch.over.wait()
        nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(interrupt)
        nursery.start_soon(limit, nursery)
        await process.wait()
        nursery.cancel_scope.cancel()


def _end_group(process: trio.Process) -> None:
    """With its children, those too that it has left behind."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _signal_group(process: trio.Process, which: signal.Signals) -> None:
    if hasattr(os, "killpg"):
        os.killpg(process.pid, which)
    else:
        process.send_signal(which)


class Printed:
    """What comes out of one of its outputs."""

    def __init__(self) -> None:
        self.kept = bytearray()
        self.first: float | None = None

    async def read(self, stream: trio.abc.ReceiveStream) -> None:
        """To the end; what is too much is read and let go."""
        async with stream:
            while data := await stream.receive_some(_READ):
                if self.first is None:
                    self.first = time.time()
                self.kept += data[: MOST - len(self.kept)]


Function = Callable[[str], Any]
"""A client in Python: it is given the proxy's URL, and returns the text that it received, or a mapping with `text`,
`finish`, `outcome` and `error`; it raises if it does not believe the answer. It may be a coroutine function."""


class InProcess:
    """A function of Python's, in a thread of its own."""

    def __init__(self, function: Function) -> None:
        self._function = function

    async def run(self, at: Address, watch: Watch) -> Told:
        began = trio.current_time()
        said: list[Told] = []

        async def asked(nursery: trio.Nursery) -> None:
            said.append(await trio.to_thread.run_sync(self._ask, at.url, abandon_on_cancel=True))
            nursery.cancel_scope.cancel()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(asked, nursery)
            await watch.over.wait()
            nursery.cancel_scope.cancel()
        told = said[0] if said else Told(status=None)
        return replace(told, ended=trio.current_time() - began)

    def _ask(self, url: str) -> Told:
        try:
            answer = self._function(url)
            if inspect.iscoroutine(answer):
                answer = asyncio.run(answer)
        except Exception as error:  # noqa: BLE001 - whatever it raises is what the case is about
            return Told(getattr(error, "text", ""), "raised", error=f"{type(error).__name__}: {error}")
        if isinstance(answer, Mapping):
            return of_mapping(answer)
        if not isinstance(answer, str):
            raise TypeError(f"a client returns the text it received, or a mapping; this one {type(answer).__name__}")
        return Told(answer)
