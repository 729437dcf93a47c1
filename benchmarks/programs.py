"""Programs beside the benchmark: started on one set of processors, waited for, and ended by their own handle.

Rules: loopback only; whatever is started is ended. A program that is missing or does not start is an UnavailableError.
"""

import contextlib
import os
import resource
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parent.parent
MITMPROXY = ROOT / ".venv-mitmproxy"
"""Made by `make bench`: mitmproxy wants other versions of h11 and h2 than we do."""
_START = 15.0
"""Seconds until a proxy accepts."""
_PLENTY = 60_000


class UnavailableError(Exception):
    """It cannot be measured here; says why."""


def descriptors() -> int:
    """How many this process may have open, and who is started by it, at most some 60,000."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _PLENTY if most == resource.RLIM_INFINITY else min(most, _PLENTY)


def settle(cpus: set[int]) -> None:
    """What a new process begins with: its processors, and as many descriptors as it may have."""
    os.sched_setaffinity(0, cpus)
    resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors(), resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def started(cpus: set[int], *command: str, **how) -> subprocess.Popen[str]:
    """`command` on these processors, in the project's folder; `how` as of Popen."""
    return subprocess.Popen(
        command,
        text=True,
        cwd=ROOT,
        preexec_fn=partial(settle, cpus),  # noqa: PLW1509 - no threads here
        **how,
    )


def said(process: subprocess.Popen[str], within: float) -> str:
    """All that it says, with both outputs piped. UnavailableError, with its last words, if it fails or takes longer."""
    with process:
        try:
            out, words = process.communicate(timeout=within)
        except subprocess.TimeoutExpired:
            process.kill()
            raise UnavailableError(f"it has not come to an end in {within:g} s") from None
    if process.returncode:
        raise UnavailableError((words.strip().splitlines() or [f"it ended with status {process.returncode}"])[-1])
    return out


@dataclass(slots=True)
class Starter:
    """Starts processes on one set of processors, and knows how to end them."""

    origin: int
    cpus: set[int]
    folder: Path
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    def spawn(self, *command: str, piped: bool = False) -> subprocess.Popen[str]:
        """Start `command`, its messages in a file of their own."""
        log = (self.folder / f"log{len(self.processes)}").open("w")
        with log:
            out = subprocess.PIPE if piped else log
            process = started(self.cpus, *command, stdin=subprocess.DEVNULL, stdout=out, stderr=log)
        self.processes.append(process)
        return process

    def end(self) -> None:
        """End everything, politely first."""
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdout:
                process.stdout.close()

    def until(self, ready: Callable[[], bool], process: subprocess.Popen[str]) -> None:
        """Wait until `ready`; UnavailableError if the process ends before, or takes too long."""
        give_up = time.monotonic() + _START
        while not ready():
            if process.poll() is not None:
                raise UnavailableError(f"ended with status {process.returncode}: {self._last_words(process)}")
            if time.monotonic() > give_up:
                raise UnavailableError(f"does not accept after {_START:g} s")
            time.sleep(0.05)

    def _last_words(self, process: subprocess.Popen[str]) -> str:
        lines = (self.folder / f"log{self.processes.index(process)}").read_text().strip().splitlines()
        return lines[-1][:200] if lines else "it said nothing"


def need(files: int) -> None:
    """UnavailableError if a process may not have so many descriptors."""
    if descriptors() < files:
        raise UnavailableError(f"needs {files} descriptors, the limit is {descriptors()}")


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def accepts(port: int) -> bool:
    """Whether somebody listens there."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def find(name: str) -> str:
    """The program of this name, or UnavailableError."""
    places = os.pathsep.join([str(MITMPROXY / "bin"), os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"])
    program = shutil.which(name, path=places)
    if program is None:
        raise UnavailableError("not found")
    return program
