"""The reader of the loads: a process of its own that opens streams, reads them and prints what it saw as one JSON object.

It reads the proxy's CPU time at the edges of its own window, so that both speak of the same time.
Rules: plain epoll; nothing but stamps and bytes is looked at.
"""

import argparse
import gc
import json
import select
import socket
import statistics
import sys
import time

from benchmarks.cpu import spent
from benchmarks.wire import Frames, Stamps, h1_request, h2_opening

STREAMS_PER_H2_CONNECTION = 25
_WARM_UP = 0.7
_GIVE_UP = 60.0


def connect(port: int, opening: bytes) -> socket.socket:
    """A connection on which `opening` has been sent."""
    sock = socket.create_connection(("127.0.0.1", port), timeout=10)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.sendall(opening)
    return sock


def read_events(port: int, *, h2: bool, streams: int, rate: float, seconds: float, pids: list[int]) -> dict[str, float]:
    """Read `streams` streams of `rate` events a second for `seconds`, after a warm-up."""
    path = f"/events/{rate:g}/{seconds + _WARM_UP + 1.5:g}"
    if h2:
        shares = [min(STREAMS_PER_H2_CONNECTION, streams - at) for at in range(0, streams, STREAMS_PER_H2_CONNECTION)]
        openings = [h2_opening(path, share) for share in shares]
    else:
        openings = [h1_request(path)] * streams
    epoll = select.epoll()
    peers = {}
    for opening in openings:
        sock = connect(port, opening)
        sock.setblocking(False)
        epoll.register(sock, select.EPOLLIN)
        peers[sock.fileno()] = (sock, Stamps(), Frames() if h2 else None)
    _listen(epoll, peers, time.monotonic() + _WARM_UP)
    before, began = spent(pids), time.monotonic()
    lateness = _listen(epoll, peers, began + seconds)
    cpu, took = spent(pids) - before, time.monotonic() - began
    for sock, _, _ in peers.values():
        sock.close()
    if not lateness:
        raise SystemExit("no event has arrived")
    cuts = statistics.quantiles(lateness, n=100) if len(lateness) > 1 else lateness * 99
    return {
        "events": len(lateness),
        "delivered": len(lateness) / (streams * rate * took),
        "cpu_us_per_event": cpu / 1e3 / len(lateness),
        "p50_us": cuts[49] / 1e3,
        "p99_us": cuts[98] / 1e3,
    }


def _listen(epoll: select.epoll, peers: dict, until: float) -> list[int]:
    """How old each event was that arrived before `until`, in nanoseconds."""
    ages: list[int] = []
    while (left := until - time.monotonic()) > 0:
        for fileno, _ in epoll.poll(left):
            sock, stamps, frames = peers[fileno]
            data = sock.recv(65536)
            now = time.monotonic_ns()
            if not data:
                raise SystemExit("a stream has ended early")
            ages.extend(now - stamp for stamp in stamps.feed(data))
            if frames is not None and (answer := frames.feed(data)):
                sock.sendall(answer)
    return ages


def read_bulk(port: int, *, h2: bool, nbytes: int, pids: list[int]) -> dict[str, float]:
    """Read one body of `nbytes` as fast as it comes."""
    path = f"/bulk/{nbytes}"
    before, began = spent(pids), time.monotonic()
    frames = Frames() if h2 else None
    buffer = bytearray(1024 * 1024)
    view = memoryview(buffer)
    with connect(port, h2_opening(path, 1) if h2 else h1_request(path)) as sock:
        seen = 0
        while seen < nbytes:
            count = sock.recv_into(buffer)
            if not count:
                raise SystemExit(f"the body has ended after {seen} bytes")
            seen += count
            if frames is not None and (answer := frames.feed(bytes(view[:count]))):
                sock.sendall(answer)
            if time.monotonic() - began > _GIVE_UP:
                raise SystemExit(f"only {seen} bytes in {_GIVE_UP:g} s")
        cpu, took = spent(pids) - before, time.monotonic() - began
    return {
        "bytes": seen,
        "mb_per_cpu_second": seen / 1e6 / (cpu / 1e9) if cpu else 0.0,
        "mb_per_second": seen / 1e6 / took,
    }


def main() -> None:
    """Read one load as the arguments say, print what was seen."""
    parser = argparse.ArgumentParser(prog="benchmarks.reader")
    parser.add_argument("load", choices=["events", "bulk"])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--h2", action="store_true")
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--rate", type=float, default=20)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--bytes", type=int, default=256 * 1024 * 1024)
    parser.add_argument("--pids", type=int, nargs="*", default=[])
    given = parser.parse_args()
    gc.disable()
    if given.load == "events":
        seen = read_events(
            given.port, h2=given.h2, streams=given.streams, rate=given.rate, seconds=given.seconds, pids=given.pids
        )
    else:
        seen = read_bulk(given.port, h2=given.h2, nbytes=given.bytes, pids=given.pids)
    print(json.dumps(seen))


if __name__ == "__main__":
    sys.exit(main())
