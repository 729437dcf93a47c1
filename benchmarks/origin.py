"""The origin of the loads: a process of its own on a plain epoll, cheap enough not to be what is measured.

`GET /events/RATE/SECONDS` sends RATE events a second, each in its own chunk and its own write, from a random phase on.
`GET /bulk/BYTES` sends chunks of 64 KiB as fast as they are taken. Anything else is answered 404.
Rules: an event that the socket does not take is left out, as a model would fall behind: the reader notices the number.
"""

import gc
import random
import select
import socket
import sys
import time
from heapq import heappop, heappush

from benchmarks.wire import BULK, BULK_CHUNK, BULK_HEAD, EVENTS_HEAD, LAST_CHUNK, event_chunk

_TOO_FINE = 1e-3
"""epoll counts in whole milliseconds; below that we sleep."""


class Connection:
    """One client: what it asked for, and what is still owed."""

    __slots__ = ("due", "interval", "owed", "request", "rest", "sock", "until")

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.request = b""
        self.rest = memoryview(b"")
        self.owed = 0
        self.interval = self.due = self.until = 0.0

    def flush(self) -> bool:
        """Write what waits, bulk too; False while the socket is full."""
        while True:
            while self.rest:
                try:
                    self.rest = self.rest[self.sock.send(self.rest) :]
                except BlockingIOError:
                    return False
            if self.owed <= 0:
                return True
            self.owed -= BULK
            self.rest = memoryview(BULK_CHUNK if self.owed > 0 else BULK_CHUNK + LAST_CHUNK)


class Origin:
    """Serves every connection from one loop."""

    def __init__(self, listener: socket.socket) -> None:
        self.listener = listener
        self.epoll = select.epoll()
        self.epoll.register(listener, select.EPOLLIN)
        self.connections: dict[int, Connection] = {}
        self.schedule: list[tuple[float, int, Connection]] = []
        self.turn = 0

    def run(self) -> None:
        """Serve until the process is ended."""
        while True:
            for fileno, _ in self.epoll.poll(self._wait()):
                if fileno == self.listener.fileno():
                    self._accept()
                elif fileno in self.connections:
                    self._served(self.connections[fileno], self._ready)
            now = time.monotonic()
            while self.schedule and self.schedule[0][0] <= now:
                _, _, connection = heappop(self.schedule)
                if connection.sock.fileno() >= 0:
                    self._served(connection, self._tick)

    def _wait(self) -> float:
        if not self.schedule:
            return -1
        left = self.schedule[0][0] - time.monotonic()
        if left >= _TOO_FINE:
            return left - _TOO_FINE / 2
        if left > 0:
            time.sleep(left)
        return 0

    def _accept(self) -> None:
        sock, _ = self.listener.accept()
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connections[sock.fileno()] = Connection(sock)
        self.epoll.register(sock, select.EPOLLIN)

    def _served(self, connection: Connection, act) -> None:
        try:
            act(connection)
        except (ConnectionError, EOFError):
            del self.connections[connection.sock.fileno()]
            connection.sock.close()

    def _ready(self, connection: Connection) -> None:
        try:
            data = connection.sock.recv(65536)
            if not data:
                raise EOFError
            connection.request += data
        except BlockingIOError:
            pass
        if b"\r\n\r\n" in connection.request:
            line, connection.request = connection.request.split(b"\r\n", 1)[0], b""
            self._answer(connection, line.split(b" ")[1].decode().strip("/").split("/"))
        if connection.flush():
            self.epoll.modify(connection.sock, select.EPOLLIN)

    def _answer(self, connection: Connection, path: list[str]) -> None:
        match path:
            case ["events", rate, seconds]:
                connection.rest = memoryview(EVENTS_HEAD)
                connection.interval = 1 / float(rate)
                now = time.monotonic()
                connection.until = now + float(seconds)
                self._plan(connection, now + random.random() * connection.interval)
            case ["bulk", nbytes]:
                connection.rest = memoryview(BULK_HEAD)
                connection.owed = int(nbytes)
                self.epoll.modify(connection.sock, select.EPOLLIN | select.EPOLLOUT)
            case _:
                connection.rest = memoryview(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")

    def _plan(self, connection: Connection, due: float) -> None:
        connection.due = due
        self.turn += 1  # decides between equal times, so that connections are never compared
        heappush(self.schedule, (due, self.turn, connection))

    def _tick(self, connection: Connection) -> None:
        if connection.due > connection.until:
            connection.rest = memoryview(bytes(connection.rest) + LAST_CHUNK)
            connection.flush()
            return
        if connection.flush():
            connection.rest = memoryview(event_chunk(time.monotonic_ns()))
            connection.flush()
        self._plan(connection, connection.due + connection.interval)


def main() -> None:
    """Print the port, then serve."""
    gc.disable()
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
        print(listener.getsockname()[1], flush=True)
        Origin(listener).run()


if __name__ == "__main__":
    sys.exit(main())
