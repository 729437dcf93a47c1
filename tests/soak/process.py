"""`chaosproxy run` as a process of its own, and what it holds, from outside (Linux)."""

import contextlib
import json
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

START = 30.0
CLOSE_WAIT = "08"
"""Of /proc/net/tcp."""


class TooFewError(Exception):
    """Too few descriptors are allowed here; says how many are needed."""


@dataclass(frozen=True, slots=True)
class Running:
    """One that serves."""

    process: subprocess.Popen[bytes]
    port: int

    @property
    def descriptors(self) -> int:
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))

    @property
    def threads(self) -> int:
        return self._status("Threads")

    @property
    def resident(self) -> int:
        """In KiB."""
        return self._status("VmRSS")

    def _status(self, name: str) -> int:
        lines = Path(f"/proc/{self.process.pid}/status").read_text("ascii").splitlines()
        (line,) = [line for line in lines if line.startswith(f"{name}:")]
        return int(line.split()[1])

    @property
    def half_closed(self) -> int:
        """Connections to its port whose client has left, and that it has not closed (CLOSE_WAIT)."""
        rows = [line.split() for line in Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]]
        return sum(row[1].endswith(f":{self.port:04X}") and row[3] == CLOSE_WAIT for row in rows)

    def until(self, condition: Callable[[], bool], within: float) -> float:
        """How long it took. TimeoutError behind `within` seconds."""
        began = time.monotonic()
        while not condition():
            if time.monotonic() > began + within:
                raise TimeoutError(f"not within {within:g} s")
            time.sleep(0.01)
        return time.monotonic() - began


def enough(descriptors: int) -> None:
    """Let this process, and those that it starts, have as many as they may. TooFewError if those are fewer."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < descriptors:
        raise TooFewError(f"needs {descriptors} descriptors, and may have {hard} (ulimit -Hn)")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard != resource.RLIM_INFINITY else descriptors, hard))


@contextlib.contextmanager
def program(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A Python of its own, while the block runs."""
    with subprocess.Popen([sys.executable, *arguments], stdout=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()


@contextlib.contextmanager
def origin(module: str) -> Iterator[int]:
    """One that says its port; the port."""
    with program("-m", module) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline())


@contextlib.contextmanager
def proxy(upstream: str, scenario: dict[str, object] | None = None, *options: str) -> Iterator[Running]:
    """In front of `upstream`, while the block runs; then it must have ended with status 0."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ready, file = folder / "ready.json", folder / "scenario.yaml"
        named = []
        if scenario is not None:
            file.write_text(yaml.safe_dump(scenario), "utf-8")
            named = [str(file)]
        command = ["-m", "chaosproxy", "run", *named, "--upstream", upstream, "--listen", "127.0.0.1:0"]
        with program(*command, "--ready-file", str(ready), "-q", *options) as process:
            give_up = time.monotonic() + START
            while not (ready.exists() and ready.stat().st_size):
                assert process.poll() is None, f"ended with status {process.returncode}"
                assert time.monotonic() < give_up, "does not listen"
                time.sleep(0.02)
            yield Running(process, int(json.loads(ready.read_text("utf-8"))["url"].rpartition(":")[2]))
        assert process.returncode == 0, f"ended with status {process.returncode}"
