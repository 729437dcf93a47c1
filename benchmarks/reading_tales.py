"""Short streams, each on a connection of its own, read to whatever end they come to.

Rules: a connection is over when it is closed, by whoever it is: the request asks for that, or the client leaves itself.
"""

import select
import time

from benchmarks.clients import Client
from benchmarks.cpu import spent
from benchmarks.wire import Count, h1_request

_GIVE_UP = 30.0


def tales(
    *, port: int, pids: list[int], path: str, seconds: float, events: int = 0, streams: int = 16, warm_up: float = 0.3
) -> dict[str, float]:
    """Always `streams` at a time; with `events` the client leaves as soon as it has seen so many."""
    request = h1_request(path, close=True)
    epoll = select.epoll()
    peers: dict[int, tuple[Client, Count]] = {}

    def opened() -> None:
        client = Client(port, request)
        epoll.register(client.sock, select.EPOLLIN)
        peers[client.sock.fileno()] = client, Count()

    def read(until: float) -> int:
        done = 0
        while (left := until - time.monotonic()) > 0:
            for fileno, _ in epoll.poll(left):
                client, count = peers[fileno]
                try:
                    count.feed(client.read())
                except (EOFError, ConnectionError):
                    over = True
                else:
                    over = 0 < events <= count.seen
                if over:
                    del peers[fileno]
                    client.sock.close()
                    opened()
                    done += 1
        return done

    for _ in range(streams):
        opened()
    read(time.monotonic() + warm_up)
    before, began = spent(pids), time.monotonic()
    done = read(began + seconds)
    while not done and time.monotonic() < began + _GIVE_UP:
        done = read(time.monotonic() + seconds)
    cpu, took = spent(pids) - before, time.monotonic() - began
    for client, _ in peers.values():
        client.sock.close()
    if not done:
        raise SystemExit("no stream has come to an end")
    return {"requests": done, "cpu_us_per_request": cpu / 1e3 / done, "requests_per_second": done / took}
