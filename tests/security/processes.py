"""Real processes of `chaosproxy run`, and what the system knows of them. Each is ended by its number."""

import contextlib
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from chaosproxy.embedded import outlet
from chaosproxy.journal import jsonl

WITHIN = 40
"""Seconds; what takes longer does not come."""
AT_ONCE = 1.0
"""Seconds that pass at most where something is to be at once, or beyond the time that it may take: the machine is shared."""
READER = jsonl.LAST + 2 * outlet.LOOK
"""Seconds at the end for each reader that has stopped reading, be it of the journal, of stdout or of stderr."""
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n"

LONG = b"GET /" + b"x" * 3000 + b" HTTP/1.1\r\nHost: x\r\n\r\n"
"""A pipe of a page is full with the second line about it; a line on stderr shows the beginning of it."""
MANY = 40


def until(holds: Callable[[], object], what: str = "") -> None:
    """Another process does it, and rings no bell."""
    ends = time.monotonic() + WITHIN
    while not holds():
        assert time.monotonic() < ends, what
        time.sleep(0.01)


class Process:
    """One `chaosproxy run`."""

    def __init__(
        self,
        folder: Path,
        *arguments: str,
        journal: Path | None = None,
        stdout: int = subprocess.PIPE,
        stderr: int = subprocess.PIPE,
        wrapped: Sequence[str] = (),
        env: dict[str, str] | None = None,
    ) -> None:
        self.journal = journal or folder / "journal.jsonl"
        self.ready_file = folder / "ready.json"
        command = [*wrapped, sys.executable, "-m", "chaosproxy", "run", "--listen", "127.0.0.1:0"]
        command += ["--ready-file", str(self.ready_file), "--journal", str(self.journal), *arguments]
        self.process = subprocess.Popen(
            command, stdout=stdout, stderr=stderr, text=True, env={**os.environ, **(env or {})}
        )
        self.port = 0

    def ready(self) -> "Process":
        """Once it accepts."""
        ends = time.monotonic() + 2 * WITHIN  # a start is half a second of a processor, where there is one
        while not self.ready_file.exists():
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < ends, "not ready"
            time.sleep(0.01)
        self.port = int(json.loads(self.ready_file.read_text())["url"].rpartition(":")[2])
        return self

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def descriptors(self) -> int:
        """How many it has."""
        return len(list(Path(f"/proc/{self.pid}/fd").iterdir()))

    @property
    def cpu(self) -> float:
        """Seconds of a processor that it has had."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def limit(self, which: int, value: int) -> None:
        """The soft limit of a resource, from now on."""
        hard = resource.prlimit(self.pid, which)[1]
        resource.prlimit(self.pid, which, (value, hard))

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=WITHIN)

    def get(self, head: bytes = GET) -> bytes:
        """A request on a connection of its own, and its answer's head and body, if that has a length."""
        with self.connect() as client:
            client.sendall(head)
            return answer(client)

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str, str]:
        """Exit status, stdout, stderr."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=WITHIN)
        return self.process.returncode, out or "", err or ""

    def records(self) -> list[dict]:
        return [json.loads(line) for line in self.journal.read_text().splitlines()]

    def kill(self) -> None:
        """If it still runs."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()


def asked(proxy: Process) -> set[str]:
    """The statuses of all, none of which comes where the loop waits for a reader."""
    return {proxy.get(LONG).split()[1].decode() for _ in range(MANY)}


def answer(client: socket.socket) -> bytes:
    """One with a Content-Length, or what came until the end."""
    received = b""
    while True:
        head, end, body = received.partition(b"\r\n\r\n")
        if end:
            length = next(
                (line[15:] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), None
            )
            if length is not None and len(body) >= int(length):
                return received
        part = client.recv(65536)
        if not part:
            return received
        received += part


def until_came(client: socket.socket, text: bytes) -> bytes:
    """What came up to it."""
    received = b""
    while text not in received:
        part = client.recv(65536)
        assert part, received
        received += part
    return received


def ended(client: socket.socket) -> bytes:
    """What came until the end, be it a reset."""
    received = b""
    with contextlib.suppress(ConnectionError):
        while part := client.recv(65536):
            received += part
    return received


class Upstream:
    """Each connection is served by a function, in a thread."""

    def __init__(self, serve: Callable[[socket.socket], None]) -> None:
        self._serve = serve
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._connections: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                self._connections.append(connection)
                threading.Thread(target=self._one, args=(connection,), daemon=True).start()

    def _one(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            self._serve(connection)

    def close(self) -> None:
        for one in (self._socket, *self._connections):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


@contextlib.contextmanager
def serving(serve: Callable[[socket.socket], None]) -> Iterator[Upstream]:
    upstream = Upstream(serve)
    try:
        yield upstream
    finally:
        upstream.close()


def answers(connection: socket.socket, reply: bytes = ANSWER) -> None:
    """The same to every request."""
    while connection.recv(65536):
        connection.sendall(reply)


@pytest.fixture
def process(tmp_path) -> Iterator[Callable[..., Process]]:
    """Starts a `run`; those that a test has left running are killed."""
    if sys.platform != "linux":
        pytest.skip("what the system knows of a process is asked as Linux tells it")
    started: list[Process] = []

    def start(*arguments: str, **options: Any) -> Process:
        folder = tmp_path / f"run{len(started)}"
        folder.mkdir()
        started.append(Process(folder, *arguments, **options))
        return started[-1]

    yield start
    for one in started:
        one.kill()
