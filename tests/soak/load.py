"""`python -m tests.soak.load`: thousands of streams at a time, all clients gone in one second, a storm of connections, thousands
that queue. Over real sockets, everybody in a process of its own; some five minutes of two processors.

`--streams 5000`, `--seconds 60`. It writes its rows of `docs/security/held.json` (`--dry`: only shows them), and its exit
status is 1 where one of them is not as it must be.
"""

import argparse
import contextlib
import itertools
import json
import select
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cpu import spent
from benchmarks.wire import SHORT_BODY, h1_request
from tests.security.rows import Row, keep
from tests.soak import process

PER_CONNECTION = 100
RAMP = 5.0
BACK = 5.0
"""Seconds within which everything is as it was."""
ADDED = 250.0
"""Milliseconds of the 99th of a hundred events."""
EACH = 16.0
"""KiB of a stream: one that says nothing has 14 (`make bench`, scene `idle`), the times of what comes, and where they are gathered,
are the rest."""
EACH_CLIENT = 2
"""Descriptors that the proxy expects a client to take."""
OUTSIDE = 1000
"""Of those that queue, so many may still wait in the listener's backlog."""
SPARE = 400
STORM = 2000
"""Connections a second."""
BY = "make load"


@dataclass(slots=True)
class Load:
    """What is asked for, and what came of it."""

    streams: int
    seconds: int
    storm: float
    queue: int
    rows: list[Row]
    bad: int = 0

    def say(self, name: str, tried: int, must: str, happens: str, figure: str, *, good: bool) -> None:
        """A row."""
        self.bad += not good
        self.rows.append(Row(name=name, tried=tried, must=must, happens=happens, figure=figure, by=BY))
        print(f"{'ok' if good else 'NOT OK':7} {name}\n        {happens}\n        {figure}", flush=True)


@contextlib.contextmanager
def holding(port: int, streams: int, per: int, seconds: int) -> Iterator["Holding"]:
    """A process with so many streams of an event a second."""
    asked = {
        "port": port, "path": f"/events/1/{seconds}/1/0", "streams": streams, "per": per, "ramp": RAMP, "events": seconds,
    }  # fmt: skip
    with process.program("-m", "tests.soak.holding", json.dumps(asked)) as running:
        yield Holding(running)


class Holding:
    """Such a process."""

    def __init__(self, running) -> None:
        self.process = running

    def until_open(self) -> None:
        line = self.process.stdout.readline().strip()
        assert line == b"open", f"the clients say {line!r}"

    def told(self) -> dict[str, float]:
        return json.loads(self.process.stdout.readline())


def killed(running: process.Running, streams: int, per: int, before: int) -> tuple[float, float, int]:
    """So many streams whose clients are killed: how long until it has so few descriptors, by the clock and of a processor, and
    how many it had."""
    with holding(running.port, streams, per, 3600) as clients:
        clients.until_open()
        most, busy = running.descriptors, spent([running.process.pid])
        clients.process.kill()
        clients.process.wait()
        took = running.until(lambda: running.descriptors <= before, 60)
        return took, (spent([running.process.pid]) - busy) / 1e9, most


def held(load: Load, origin: int, per: int) -> None:
    """An event a second on every stream, all counted; then the same, and every client is killed."""
    version = "HTTP/1.1" if per == 1 else f"HTTP/2, {per} a connection"
    with holding(origin, load.streams, 1, 10) as clients:
        clients.until_open()
        straight = clients.told()["p99_ms"]
    with process.proxy(f"http://127.0.0.1:{origin}", None, "--journal-limit", "100") as running:
        threads, before = running.threads, running.descriptors
        killed(running, 10, 1, before)  # what is loaded and made by the first ones
        empty = running.resident
        with holding(running.port, load.streams, per, load.seconds) as clients:
            clients.until_open()
            time.sleep(2)
            each = (running.resident - empty) / load.streams
            seen = clients.told()
        added = seen["p99_ms"] - straight
        good = seen["lost"] == seen["resets"] == 0 and seen["heads"] == load.streams
        load.say(
            f"{load.streams:,} streams held, {version}",
            int(seen["events"]),
            "no event lost, no reset; 250 ms more at most at p99; 16 KiB a stream",
            f"{seen['lost']:g} lost, {seen['resets']:g} resets",
            f"p99 {seen['p99_ms']:.1f} ms, without the proxy {straight:.1f} ms; {each:.1f} KiB a stream",
            good=good and added <= ADDED and each <= EACH,
        )
        took, cpu, most = killed(running, load.streams, per, before)
        load.say(
            f"{load.streams:,} clients killed in one second, {version}",
            load.streams,
            "descriptors and threads as before within 5 s",
            f"descriptors {running.descriptors - before:+d}, threads {running.threads - threads:+d}",
            f"within {took:.1f} s, {cpu:.1f} s of a processor; {most:,} descriptors at the most",
            good=took <= BACK and running.threads == threads and running.half_closed == 0,
        )


def storm(load: Load, origin: int) -> None:
    """A connection for every request, as many a second as there shall be, or as the machine can."""
    with process.proxy(f"http://127.0.0.1:{origin}", None, "--journal-limit", "100") as running:
        before = running.descriptors
        asked = answered = 0
        began = time.monotonic()
        open_now: dict[int, tuple[socket.socket, bytes]] = {}
        epoll = select.epoll()
        request = h1_request("/short", close=True)
        while time.monotonic() < began + load.storm or open_now:
            due = int(min(time.monotonic() - began, load.storm) * STORM)
            while asked < due and len(open_now) < STORM:
                sock = socket.create_connection(("127.0.0.1", running.port), timeout=30)
                sock.sendall(request)
                sock.setblocking(False)
                open_now[sock.fileno()] = sock, b""
                epoll.register(sock, select.EPOLLIN)
                asked += 1
            for descriptor, _ in epoll.poll(0.005):
                sock, seen = open_now[descriptor]
                data = sock.recv(65536)
                if data:
                    open_now[descriptor] = sock, seen + data
                    continue
                answered += seen.endswith(SHORT_BODY)
                epoll.unregister(sock)
                sock.close()
                del open_now[descriptor]
        took = time.monotonic() - began
        running.until(lambda: running.descriptors < before + SPARE and not running.half_closed, 30)
        load.say(
            f"a storm of connections, {STORM:,} a second asked for",
            asked,
            "each is answered",
            f"{asked - answered} not answered",
            f"{asked / took:,.0f} a second over {took:.0f} s; {running.descriptors - before:+d} descriptors, kept to the origin",
            good=asked == answered,
        )


def queue(load: Load, origin: int) -> None:
    """At `max_connections: 1`, behind a stream; every second one leaves."""
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "journal.jsonl"
        options = ("--journal", str(journal), "--journal-limit", "100")
        scenario = {"version": 1, "upstream": {"max_connections": 1}}
        with process.proxy(f"http://127.0.0.1:{origin}", scenario, *options) as running:
            staying = running.descriptors + 2 + load.queue - load.queue // 2  # with both ends of the stream in front
            first = socket.create_connection(("127.0.0.1", running.port))
            first.sendall(h1_request("/events/1/3600/1/0"))
            first.recv(100)
            socks: list[socket.socket] = []
            for number in range(load.queue):
                socks.append(socket.create_connection(("127.0.0.1", running.port), timeout=30))
                socks[-1].sendall(h1_request(f"/{number}/short"))
                time.sleep(0.0005)
            running.until(lambda: running.descriptors >= load.queue - OUTSIDE, 60)
            time.sleep(1)
            busy = spent([running.process.pid])
            for sock in socks[1::2]:
                sock.close()
            left = running.until(lambda: running.descriptors <= staying, 60)
            cpu = (spent([running.process.pid]) - busy) / 1e9
            first.close()
            for sock in socks[::2]:
                sock.settimeout(60)
                assert sock.recv(65536).startswith(b"HTTP/1.1 200")
                sock.close()
        lines = [json.loads(line) for line in journal.read_bytes().splitlines()]
    order = [line["id"] for line in lines if line["end"]["how"] == "clean"]
    sent = sum(line["upstream"]["connection"] is not None for line in lines if line["end"]["by"] == "client")
    load.say(
        f"{load.queue:,} that wait for one connection, every second leaves",
        load.queue,
        "in order; who leaves is gone at once, and never sent",
        f"{len(order)} answered, {sum(b < a for a, b in itertools.pairwise(order))} of them out of order; "
        f"{sent - 1} sent of those that have left",
        f"{load.queue // 2:,} gone within {left:.1f} s, {cpu:.1f} s of a processor",
        good=len(order) == load.queue - load.queue // 2 and order == sorted(order) and sent == 1 and left <= BACK,
    )


def main() -> int:
    """As the arguments say."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak.load", description=__doc__)
    parser.add_argument("--streams", type=int, default=5000)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--storm", type=float, default=30.0, help="seconds")
    parser.add_argument("--queue", type=int, default=10_000)
    parser.add_argument("--dry", action="store_true")
    given = parser.parse_args()
    try:
        process.enough(EACH_CLIENT * max(given.streams, given.queue - OUTSIDE) + SPARE)
    except process.TooFewError as error:
        print(f"python -m tests.soak.load: {error}; --streams and --queue ask for fewer", file=sys.stderr)
        return 2
    load = Load(given.streams, given.seconds, given.storm, given.queue, [])
    with process.origin("benchmarks.origin") as origin:
        held(load, origin, 1)
        held(load, origin, PER_CONNECTION)
        storm(load, origin)
        queue(load, origin)
    if not given.dry:
        for row in load.rows:
            keep("held", row)
    return 1 if load.bad else 0


if __name__ == "__main__":
    sys.exit(main())
