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

import pytest

from chaosproxy.wire import tls

WITHIN = 15.0
"""Seconds for a program to come up or go down; reached only when something is wrong."""
PACKAGES = {"nginx": "nginx-light", "haproxy": "haproxy", "nghttp": "nghttp2-client", "curl": "curl", "node": "nodejs"}


def find(name: str) -> str:
    """The program's path; skips or fails the test if it is missing."""
    found = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    if found is None:
        reason = f"{name} not found: apt-get install {PACKAGES[name]}"
        if os.environ.get("CHAOSPROXY_PEERS") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def until(condition: Callable[[], bool], what: str) -> None:
    """Poll: other processes ring no bell."""
    deadline = time.monotonic() + WITHIN
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def accepts(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


class Process:
    """One program, its output in a file."""

    def __init__(self, argv: Sequence[str], log: Path, **environment: str) -> None:
        self.log = log
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **environment},
            )

    def up(self, ready: Callable[[], bool]) -> None:
        until(lambda: ready() or self._process.poll() is not None, f"{self._process.args} did not come up: {self.said}")
        assert self._process.poll() is None, f"{self._process.args} ended: {self.said}"

    @property
    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def stop(self, number: int = signal.SIGTERM) -> int:
        if self._process.poll() is None:
            self._process.send_signal(number)
        try:
            return self._process.wait(WITHIN)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            pytest.fail(f"{self._process.args} did not end: {self.said}")


@pytest.fixture
def spawn(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Start `argv` and wait until it accepts on `port`; ended after the test, the last one first."""
    running: list[Process] = []

    def start(argv: Sequence[str], port: int, **environment: str) -> Process:
        process = Process(argv, tmp_path / f"process-{len(running)}.log", **environment)
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
def proxy(tmp_path: Path) -> Iterator[Callable[..., Proxy]]:
    """`proxy(upstream_url, scenario, tls="auto")`: a scenario as a dict, options as keywords. At the end every proxy
    must leave at SIGTERM with status 0 and without a traceback."""
    running: list[Proxy] = []

    def start(upstream: str, scenario: dict | None = None, **options: str) -> Proxy:
        place = tmp_path / f"proxy-{len(running)}"
        place.mkdir()
        ready, journal = place / "ready", place / "journal.jsonl"
        argv = [sys.executable, "-m", "chaosproxy", "run", "--upstream", upstream, "--listen", "127.0.0.1:0"]
        argv += ["--ready-file", str(ready), "--journal", str(journal), "--grace", "200ms"]
        for name, value in options.items():
            argv += [f"--{name.replace('_', '-')}", value]
        if options.get("tls") == "auto":
            argv += ["--ca-out", str(place / "ca.pem")]
        if scenario is not None:
            (place / "scenario.yaml").write_text(json.dumps({"version": 1, **scenario}))  # JSON is YAML
            argv.append(str(place / "scenario.yaml"))
        process = Process(argv, place / "log")
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
    tls.server_context(f"{made.certificate}:{made.key}", [], None)
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

    def start(server: str) -> int:
        program, port = find("nginx"), free_port()
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

    def start(upstream: int, options: str = "") -> int:
        program, port = find("haproxy"), free_port()
        configuration = tmp_path / f"haproxy-{port}.cfg"
        configuration.write_text(
            "defaults\n mode http\n timeout client 20s\n timeout server 20s\n timeout connect 5s\n"
            f"listen one\n bind 127.0.0.1:{port}\n server one 127.0.0.1:{upstream} {options}\n"
        )
        spawn([program, "-db", "-f", str(configuration)], port)
        return port

    return start
