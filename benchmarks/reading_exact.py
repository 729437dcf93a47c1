"""How late something came that was asked for at an exact time, as a client sees it.

Rules: an event's time begins with the stamp that the origin gave it before sending it, a stream's with the moment before
its request is sent: so whatever the proxy holds back exactly as long as asked comes late here, never early.
"""

import contextlib
import select
import time

from benchmarks.clients import Client, clients
from benchmarks.wire import LAST_CHUNK, Stamps, h1_request, quantile

_WARM_UP = 0.3
_GIVE_UP = 30.0


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
    peers: dict[int, tuple[Client, int]] = {}
    request = h1_request(f"{prefix}/idle")

    def opened() -> None:
        client = Client(port, b"")
        began = time.monotonic_ns()
        client.sock.sendall(request)
        epoll.register(client.sock, select.EPOLLIN)
        peers[client.sock.fileno()] = client, began

    for _ in range(streams):
        opened()
    late: list[int] = []
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0 or (not late and left > -_GIVE_UP):
        for fileno, _ in epoll.poll(max(left, 0.05)):
            client, began = peers[fileno]
            with contextlib.suppress(
                EOFError
            ):  # it ended in another way: its origin took longer for the head than asked
                if not client.read().endswith(LAST_CHUNK):
                    continue
                late.append(time.monotonic_ns() - began - int(asked_ms * 1e6))
            del peers[fileno]
            client.sock.close()
            opened()
    for client, _ in peers.values():
        client.sock.close()
    return summed(late[streams:] or late)
