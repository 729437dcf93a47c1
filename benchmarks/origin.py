"""The origin of the loads: a process of its own on a plain epoll, cheap enough not to be what is measured.

HTTP/1.1, and HTTP/2 to those who begin with its preface. What is asked for stands at the end of the path, whatever is
before it:

- `events/RATE/SECONDS/BATCH/AFTER`: RATE events a second, each in its own chunk or DATA frame, BATCH of them in one
  write with the same stamp; the first AFTER seconds behind the request and a random phase.
- `bulk/PIECES`: chunks of 64 KiB, `flood/PIECES`: 500 events in 500 chunks, both as fast as they are taken.
- `tale/EVENTS/HOW`: a head and so many events, each in its own chunk, all in one write; then the `end`, or nothing more.
- `short`: 100 bytes with their length. `idle`: a head, and nothing more.

Rules: an event that the socket or a window does not take is left out, as a model would fall behind: the reader notices.
"""

import gc
import random
import select
import socket
import sys
import time
from heapq import heappop, heappush

from benchmarks.origin_sides import H1Side, Side, Stream, side_of

_TOO_FINE = 1e-3
"""epoll counts in whole milliseconds; below that we sleep."""
_READ = 65536


class Origin:
    """Serves every connection from one loop."""

    def __init__(self, listener: socket.socket) -> None:
        self.listener = listener
        self.epoll = select.epoll()
        self.epoll.register(listener, select.EPOLLIN)
        self.sides: dict[int, Side] = {}
        self.schedule: list[tuple[float, int, Stream]] = []
        self.turn = 0

    def run(self) -> None:
        """Serve until the process is ended."""
        while True:
            for fileno, _ in self.epoll.poll(self._wait()):
                if fileno == self.listener.fileno():
                    self._accept()
                elif fileno in self.sides:
                    self._served(self.sides[fileno], self._ready)
            now = time.monotonic()
            while self.schedule and self.schedule[0][0] <= now:
                _, _, stream = heappop(self.schedule)
                if not stream.gone:
                    self._served(stream.side, lambda _, stream=stream: self._tick(stream))

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
        self.sides[sock.fileno()] = H1Side(sock)
        self.epoll.register(sock, select.EPOLLIN)

    def _served(self, side: Side, act) -> None:
        try:
            act(side)
        except (ConnectionError, EOFError):
            self.sides.pop(side.sock.fileno()).leave()

    def _ready(self, side: Side) -> None:
        try:
            data = side.sock.recv(_READ)
            if not data:
                raise EOFError
            side = self.sides[side.sock.fileno()] = side_of(side, data)
            for stream, asked in side.feed(data):
                self._answer(stream, asked)
        except BlockingIOError:
            pass
        waiting = side.waiting
        side.pump()
        if side.waiting != waiting:
            self.epoll.modify(side.sock, select.EPOLLIN | (select.EPOLLOUT if side.waiting else 0))

    def _answer(self, stream: Stream, path: str) -> None:
        # What stands before the request proper tells the proxies' rules apart, and is nothing to us.
        words = path.strip("/").split("/")
        names = [at for at, word in enumerate(words) if word in {"events", "bulk", "flood", "tale", "short", "idle"}]
        match words[names[0] :] if names else []:
            case ["events", rate, seconds, batch, after]:
                stream.begin("text/event-stream")
                stream.batch = int(batch)
                stream.interval = stream.batch / float(rate)
                first = time.monotonic() + float(after)
                stream.until = first + float(seconds)
                self._plan(stream, first + random.random() * stream.interval)
            case ["bulk" | "flood" as what, pieces]:
                stream.begin("application/octet-stream" if what == "bulk" else "text/event-stream")
                stream.side.owe(stream, what, int(pieces))
            case ["tale", number, how]:
                stream.begin("text/event-stream")
                stream.batch = int(number)
                stream.events(time.monotonic_ns())
                if how == "end":
                    stream.end()
            case ["short"]:
                stream.short()
            case ["idle"]:
                stream.begin("text/event-stream")
            case _:
                raise EOFError(path)

    def _plan(self, stream: Stream, due: float) -> None:
        stream.due = due
        self.turn += 1  # decides between equal times, so that streams are never compared
        heappush(self.schedule, (due, self.turn, stream))

    def _tick(self, stream: Stream) -> None:
        if stream.due > stream.until:
            stream.end()
            return
        stream.events(time.monotonic_ns())
        # Who has fallen behind does not catch up: what was due meanwhile is left out.
        self._plan(stream, max(stream.due + stream.interval, time.monotonic() - stream.interval))


def main() -> None:
    """Print the port, then serve."""
    gc.disable()
    with socket.create_server(("127.0.0.1", 0), backlog=4096) as listener:
        print(listener.getsockname()[1], flush=True)
        Origin(listener).run()


if __name__ == "__main__":
    sys.exit(main())
