"""Real programs on both sides of a real proxy process.

Each program listens on a free loopback port and is ended by its own process id. One that is not installed skips its
tests with the package that has it; where CHAOSPROXY_PEERS=required it fails them, so that nothing is skipped unseen.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, Protocol

import pytest

from tests.ports import free_port

WITHIN = 30.0
"""Seconds for a program to come up or go down; reached only when something is wrong."""
PACKAGES = {
    "nginx": ("nginx-light", "nginx"),
    "haproxy": ("haproxy", "haproxy"),
    "nghttp": ("nghttp2-client", "nghttp2"),
    "curl": ("curl", "curl"),
    "node": ("nodejs", "node"),
    "chromium": ("chromium", "chromium"),
    "jq": ("jq", "jq"),
}
"""What has each program, on Debian and in Homebrew."""


def find(name: str) -> str:
    """The program's path; skips or fails the test if it is missing. For fixtures: a skip from within Trio loses its
    reason."""
    found = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    if found is None:
        debian, homebrew = PACKAGES[name]
        missing(f"{name} not found: apt-get install {debian}, or brew install {homebrew}")
    return found


def missing(reason: str) -> NoReturn:
    """Skips the test, or fails it where nothing may be missing."""
    if os.environ.get("CHAOSPROXY_PEERS") == "required":
        pytest.fail(reason)
    pytest.skip(reason)


def until(condition: Callable[[], bool], what: str, within: float = WITHIN) -> None:
    """Poll: other processes ring no bell."""
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def accepts(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


class Handle(Protocol):
    """What is needed of a running process; subprocess.Popen has it."""

    def poll(self) -> int | None: ...

    def send_signal(self, sig: int, /) -> None: ...


class Process:
    """One program, its output in a file."""

    def __init__(self, handle: Handle, name: str, log: Path) -> None:
        self._process = handle
        self.name = name
        self.log = log

    def up(self, ready: Callable[[], bool]) -> None:
        until(lambda: ready() or self._process.poll() is not None, f"{self.name} did not come up: {self.said}")
        assert self._process.poll() is None, f"{self.name} ended: {self.said}"

    @property
    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def stop(self) -> int:
        """Its exit status after SIGTERM, or whenever it left before."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + WITHIN
        while (status := self._process.poll()) is None:
            if time.monotonic() > deadline:
                self._process.send_signal(signal.SIGKILL)
                until(lambda: self._process.poll() is not None, f"{self.name} cannot be killed")
                pytest.fail(f"{self.name} did not end: {self.said}")
            time.sleep(0.005)
        return status


class Forker:
    """A chaosproxy that is imported already, and forks; see forking.py."""

    def __init__(self) -> None:
        program = [sys.executable, str(Path(__file__).with_name("forking.py"))]
        self._process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **question: object) -> dict:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate()


class Fork:
    """The handle of one process that the forker has made."""

    def __init__(self, forker: Forker, argv: Sequence[str], log: Path) -> None:
        self._forker = forker
        self._pid = forker.ask(argv=list(argv), log=str(log))["pid"]
        self._status: int | None = None

    def poll(self) -> int | None:
        if self._status is None:
            self._status = self._forker.ask(wait=self._pid)["status"]
        return self._status

    def send_signal(self, sig: int, /) -> None:
        os.kill(self._pid, sig)


@pytest.fixture(scope="session")
def forker() -> Iterator[Forker]:
    started = Forker()
    yield started
    started.close()


@pytest.fixture
def spawn(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Start `argv` and wait until it accepts on `port`; ended after the test, the last one first."""
    running: list[Process] = []

    def start(argv: Sequence[str], port: int) -> Process:
        log = tmp_path / f"process-{len(running)}.log"
        with log.open("wb") as output:
            handle = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
        process = Process(handle, argv[0], log)
        running.append(process)
        process.up(lambda: accepts(port))
        return process

    yield start
    for process in reversed(running):
        process.stop()


@dataclass
class Proxy:
    """A running `chaosproxy run`."""

    url: str
    ca: str | None
    process: Process
    file: Path

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def journal(self, exchanges: int) -> list[dict]:
        """The first `exchanges` records, waited for."""
        until(lambda: len(self._records()) >= exchanges, f"no {exchanges} exchanges journalled: {self.process.said}")
        return self._records()[:exchanges]

    def _records(self) -> list[dict]:
        lines = self.file.read_bytes().splitlines(keepends=True) if self.file.exists() else []
        return [json.loads(line) for line in lines if line.endswith(b"\n")]


@pytest.fixture
def proxy(tmp_path: Path, forker: Forker) -> Iterator[Callable[..., Proxy]]:
    """`proxy(upstream_url, scenario, tls="auto")`: a scenario as a dict, options as keywords. At the end every proxy
    must leave at SIGTERM with status 0 and without a traceback."""
    running: list[Proxy] = []

    def start(upstream: str, scenario: dict | None = None, **options: str) -> Proxy:
        place = tmp_path / f"proxy-{len(running)}"
        place.mkdir()
        ready, journal = place / "ready", place / "journal.jsonl"
        argv = ["run", "--upstream", upstream, "--listen", "127.0.0.1:0"]
        argv += ["--ready-file", str(ready), "--journal", str(journal), "--grace", "200ms"]
        for name, value in options.items():
            argv += [f"--{name.replace('_', '-')}", value]
        if options.get("tls") == "auto":
            argv += ["--ca-out", str(place / "ca.pem")]
        if scenario is not None:
            (place / "scenario.yaml").write_text(json.dumps({"version": 1, **scenario}))  # JSON is YAML
            argv.append(str(place / "scenario.yaml"))
        (place / "log").touch()
        process = Process(Fork(forker, argv, place / "log"), " ".join(argv), place / "log")
        try:
            process.up(ready.exists)
        except BaseException:
            process.stop()
            raise
        said = json.loads(ready.read_text())
        running.append(Proxy(said["url"], said["ca"], process, journal))
        return running[-1]

    yield start
    ends = [(one.process.stop(), one.process.said) for one in reversed(running)]
    for status, said in ends:
        assert status == 0, said
        assert "Traceback" not in said


@dataclass(frozen=True)
class Certificate:
    """A server certificate for localhost, its key, and the CA that signed it."""

    certificate: Path
    key: Path
    ca: Path


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    import trustme  # noqa: PLC0415 - slow to load, and few tests need it

    place = tmp_path_factory.mktemp("certificate")
    authority = trustme.CA()
    leaf = authority.issue_cert("localhost", "127.0.0.1")
    made = Certificate(place / "cert.pem", place / "key.pem", place / "ca.pem")
    leaf.cert_chain_pems[0].write_to_path(made.certificate)
    leaf.private_key_pem.write_to_path(made.key)
    authority.cert_pem.write_to_path(made.ca)
    return made


@pytest.fixture
def run() -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Run one program to its end, by name."""

    def to_the_end(name: str, *arguments: str, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [find(name), *arguments],
            input=stdin,
            capture_output=True,
            timeout=WITHIN,
            check=False,
            env={**os.environ, **environment},
        )

    return to_the_end


@pytest.fixture
def nginx(spawn: Callable[..., Process], tmp_path: Path) -> Callable[[str], int]:
    """`nginx(server)`: the inside of a `server` block, listening added; its port."""
    program = find("nginx")

    def start(server: str) -> int:
        port = free_port()
        place = tmp_path / f"nginx-{port}"
        place.mkdir()
        paths = "".join(
            f"{name}_temp_path {place}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        configuration = place / "nginx.conf"
        configuration.write_text(
            f"daemon off; master_process off; pid {place}/pid; error_log stderr warn;\n"
            f"events {{ worker_connections 256; }}\n"
            f"http {{ access_log off; {paths}\n"
            f"server {{ listen 127.0.0.1:{port}; root {place}; server_name localhost;\n{server}\n}} }}\n"
        )
        spawn([program, "-c", str(configuration), "-p", str(place), "-e", "stderr"], port)
        return port

    return start


@pytest.fixture
def haproxy(spawn: Callable[..., Process], tmp_path: Path) -> Callable[[int, str], int]:
    """`haproxy(upstream_port, options)`: one frontend in front of one server; its port."""
    program = find("haproxy")

    def start(upstream: int, options: str = "") -> int:
        port = free_port()
        configuration = tmp_path / f"haproxy-{port}.cfg"
        configuration.write_text(
            "defaults\n mode http\n timeout client 20s\n timeout server 20s\n timeout connect 5s\n"
            " option abortonclose\n"  # else it does not look at a client that waits
            f"listen one\n bind 127.0.0.1:{port}\n server one 127.0.0.1:{upstream} {options}\n"
        )
        spawn([program, "-db", "-f", str(configuration)], port)
        return port

    return start
