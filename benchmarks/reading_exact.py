"""How late something came that was asked for at an exact time, as a client sees it.

Rules: an event's time begins with the stamp that the origin gave it before sending it, a stream's with the moment before
its request is sent, on a connection that has been open for a while: so whatever the proxy holds back exactly as long as
asked comes late here, never early.
"""

import math
import select
import time

from benchmarks.clients import Client, clients
from benchmarks.wire import LAST_CHUNK, Stamps, h1_request, quantile

_WARM_UP = 0.3
_GIVE_UP = 30.0
_OPEN = 0.02
"""Seconds for which a connection is open before a request is sent: to open one is no part of what is measured."""


def summed(late: list[int]) -> dict[str, float]:
    """Quantiles of what was late, in milliseconds; how many were early."""
    late.sort()
    if not late:
        raise SystemExit("nothing has arrived")
    return {
        "samples": len(late),
        "late_p50_ms": quantile(late, 0.5) / 1e6,
        "late_p99_ms": quantile(late, 0.99) / 1e6,
        "first_ms": late[0] / 1e6,
        "early": sum(one < 0 for one in late),
    }


def lateness(
    *, port: int, pids: list[int], prefix: str, asked_ms: float, batch: int, seconds: float, streams: int = 10
) -> dict[str, float]:
    """Of each batch of events the last is asked to come `asked_ms` late; five batches a second on each stream."""
    epoll = select.epoll()
    peers: dict[int, tuple[Client, Stamps]] = {}
    seen: dict[int, int] = {}
    for client in clients(port, f"{prefix}/events/{5 * batch}/3600/{batch}/{_WARM_UP:g}", streams):
        epoll.register(client.sock, select.EPOLLIN)
        peers[client.sock.fileno()] = client, Stamps()
        seen[client.sock.fileno()] = 0
    late: list[int] = []
    began = time.monotonic()
    until = began + _WARM_UP + seconds
    while (left := until - time.monotonic()) > 0 or (not late and left > -_GIVE_UP):
        for fileno, _ in epoll.poll(max(left, 0.05)):
            client, stamps = peers[fileno]
            data = client.read()
            now = time.monotonic_ns()
            for stamp in stamps.feed(data):
                seen[fileno] += 1
                if seen[fileno] % batch == 0 and time.monotonic() > began + _WARM_UP:
                    late.append(now - stamp - int(asked_ms * 1e6))
    for client, _ in peers.values():
        client.sock.close()
    return summed(late)


def ends(
    *, port: int, pids: list[int], prefix: str, asked_ms: float, seconds: float, streams: int = 2
) -> dict[str, float]:
    """Streams that say nothing are asked to end `asked_ms` behind their request; `streams` at a time."""
    epoll = select.epoll()
    peers: dict[int, Client] = {}
    began: dict[int, int] = {}
    waiting: dict[int, float] = {}
    """When the next request is sent."""
    request = h1_request(f"{prefix}/idle")

    def opened() -> None:
        client = Client(port, b"")
        fileno = client.sock.fileno()
        epoll.register(fileno, select.EPOLLIN)
        peers[fileno], waiting[fileno] = client, time.monotonic() + _OPEN

    for _ in range(streams):
        opened()
    late: list[int] = []
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0 or (not late and left > -_GIVE_UP):
        for fileno in [fileno for fileno, due in waiting.items() if due <= time.monotonic()]:
            del waiting[fileno]
            began[fileno] = time.monotonic_ns()
            peers[fileno].sock.sendall(request)
        next_request = min(waiting.values(), default=math.inf) - time.monotonic()
        for fileno, _ in epoll.poll(max(0.0, min(max(left, 0.05), next_request))):
            try:
                if not peers[fileno].read().endswith(LAST_CHUNK):
                    continue
                late.append(time.monotonic_ns() - began[fileno] - int(asked_ms * 1e6))
                waiting[fileno] = time.monotonic() + _OPEN
            except EOFError:  # it ended in another way: its origin took longer for the head than asked
                peers.pop(fileno).sock.close()
                waiting.pop(fileno, None)
                opened()
    for client in peers.values():
        client.sock.close()
    return summed(late[streams:] or late)
