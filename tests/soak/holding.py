"""Thousands of streams held by one process, on a plain epoll: opened in a ramp, every event counted and its age taken.

`python -m tests.soak.holding '{"port": 1, "path": "/events/1/60/1/0", "streams": 5000, "per": 1, "ramp": 5}'` says `open` when
all have a head, and in the end one JSON object. `per` is how many streams a connection has: above 1 it is HTTP/2.
"""

import gc
import json
import select
import sys
import time

from benchmarks.clients import Client
from benchmarks.frames import h2_opening
from benchmarks.wire import LAST_CHUNK, Stamps, h1_request, quantile

GIVE_UP = 120.0
HEADS = b"HTTP/1.1 200"


class Held:
    """One connection, and what has come on it."""

    __slots__ = ("client", "ended", "events", "heads", "over", "stamps", "tail")

    def __init__(self, client: Client) -> None:
        self.client = client
        self.stamps = Stamps()
        self.events = self.heads = self.ended = 0
        self.over = False
        self.tail = b""

    def read(self, ages: list[int]) -> None:
        """What there is. EOFError where it has ended."""
        data = self.client.read()
        now = time.monotonic_ns()
        found = self.stamps.feed(data)
        self.events += len(found)
        ages += [now - stamp for stamp in found]
        if self.client.frames is not None:
            self.heads = self.client.frames.heads
            return
        self.heads |= HEADS in data
        self.tail = (self.tail + data)[-len(LAST_CHUNK) :]
        self.ended = self.tail == LAST_CHUNK


class Reader:
    """All of them."""

    def __init__(self) -> None:
        self.epoll = select.epoll()
        self.held: dict[int, Held] = {}
        self.ages: list[int] = []
        self.lost = 0
        """Connections that ended before their answers."""

    def add(self, one: Held) -> None:
        self.held[one.client.sock.fileno()] = one
        self.epoll.register(one.client.sock, select.EPOLLIN)

    def read(self, within: float) -> None:
        """What comes in that time."""
        for descriptor, _ in self.epoll.poll(within):
            one = self.held[descriptor]
            try:
                one.read(self.ages)
            except (EOFError, ConnectionError):
                self.lost += not one.ended
                one.over = True
                self.epoll.unregister(one.client.sock)
                one.client.sock.close()

    def open(self, port: int, path: str, streams: int, per: int, ramp: float) -> None:
        """One after the other, at their times; what has come is read meanwhile."""
        began, number = time.monotonic(), streams // per
        opening = h1_request(path) if per == 1 else h2_opening(path, per)
        for at in range(number):
            self.read(0)
            while (left := began + ramp * at / number - time.monotonic()) > 0:
                self.read(left)
            self.add(Held(Client(port, opening, h2=per > 1)))

    @property
    def heads(self) -> int:
        return sum(one.heads for one in self.held.values())


def held(*, port: int, path: str, streams: int, per: int, ramp: float, events: int) -> dict[str, float]:
    """Until every stream has had so many events, or for so long that none will come."""
    reader = Reader()
    reader.open(port, path, streams, per, ramp)
    give_up = time.monotonic() + GIVE_UP
    while reader.heads < streams and time.monotonic() < give_up:
        reader.read(0.1)
    print("open", flush=True)
    give_up = time.monotonic() + events + 15
    wanted = streams * events
    while sum(one.events for one in reader.held.values()) < wanted and time.monotonic() < give_up:
        reader.read(0.5)
    began = time.monotonic()
    while time.monotonic() < began + 2:  # the ends
        reader.read(0.1)
    ages = sorted(reader.ages)
    resets = sum(one.client.frames.lost for one in reader.held.values() if one.client.frames is not None)
    return {
        "heads": reader.heads,
        "events": len(ages),
        "lost": wanted - len(ages),
        "resets": reader.lost + resets,
        "p50_ms": quantile(ages, 0.5) / 1e6 if ages else 0.0,
        "p99_ms": quantile(ages, 0.99) / 1e6 if ages else 0.0,
    }


def main() -> None:
    """As the argument says."""
    gc.disable()
    print(json.dumps(held(**json.loads(sys.argv[1]))), flush=True)


if __name__ == "__main__":
    sys.exit(main())
