"""The reader of the loads: a process of its own that opens streams, reads them and prints what it saw as one JSON object.

Its argument is a JSON object: `load`, and the arguments of the function of that name.
It reads the proxy's CPU time at the edges of its own window, so that both speak of the same time.
Rules: plain epoll and the standard library; nothing but stamps and bytes is looked at.
"""

import gc
import json
import select
import sys
import time

from benchmarks.clients import READ, STREAMS_PER_H2_CONNECTION, Client, clients
from benchmarks.cpu import resident, spent
from benchmarks.reading_exact import ends, lateness
from benchmarks.reading_tales import tales
from benchmarks.wire import BULK, FLOOD, LAST_CHUNK, SHORT_BODY, Count, Stamps, Unzipped, h1_request, quantile

_GIVE_UP = 30.0
_MILLION = 1_000_000


def events(
    *,
    port: int,
    pids: list[int],
    streams: int,
    rate: float,
    seconds: float,
    warm_up: float = 0.7,
    batch: int = 1,
    prefix: str = "",
    h2: bool = False,
    tls: bool = False,
    gzip: bool = False,
    opening: float = 0.003,
) -> dict[str, float]:
    """Read `streams` streams of `rate` events a second for `seconds`, after a warm-up that begins when all are open;
    each is given `opening` seconds for that."""
    started = time.monotonic()
    # Nobody shall have to be accepted through the noise of the others: all are opened before the first event.
    after = 0.1 + streams * opening
    path = f"{prefix}/events/{rate:g}/3600/{batch}/{after:g}"
    epoll = select.epoll()
    peers: dict[int, tuple[Client, Stamps, Unzipped | None]] = {}
    for client in clients(port, path, streams, h2=h2, tls=tls):
        epoll.register(client.sock, select.EPOLLIN)
        peers[client.sock.fileno()] = client, Stamps(), Unzipped() if gzip else None
    silent = set(peers)
    give_up = time.monotonic() + _GIVE_UP
    while silent:
        _listen(epoll, peers, time.monotonic() + 0.05, silent)
        if time.monotonic() > give_up:
            raise SystemExit(f"{len(silent)} connections have never answered")
    _listen(epoll, peers, max(started + after, time.monotonic()) + warm_up, silent)
    before, began = spent(pids), time.monotonic()
    ages = _listen(epoll, peers, began + seconds, silent)
    while not ages and time.monotonic() < began + _GIVE_UP:  # where everything stood still there is no number yet
        ages = _listen(epoll, peers, time.monotonic() + seconds, silent)
    cpu, took = spent(pids) - before, time.monotonic() - began
    for client, _, _ in peers.values():
        client.sock.close()
    if not ages:
        raise SystemExit("no event has arrived")
    ages.sort()
    return {
        "events": len(ages),
        "delivered": len(ages) / (streams * rate * took),
        "events_per_second": len(ages) / took,
        "cpu_us_per_event": cpu / 1e3 / len(ages),
        "cpu_share": cpu / 1e9 / took,
        "p50_us": quantile(ages, 0.5) / 1e3,
        "p99_us": quantile(ages, 0.99) / 1e3,
        "p999_us": quantile(ages, 0.999) / 1e3,
    }


def _listen(epoll: select.epoll, peers: dict, until: float, silent: set[int]) -> list[int]:
    """How old each event was that arrived before `until`, in nanoseconds."""
    ages: list[int] = []
    while (left := until - time.monotonic()) > 0:
        for fileno, _ in epoll.poll(left):
            client, stamps, unzipped = peers[fileno]
            try:
                data = client.read()
            except EOFError:
                raise SystemExit("a stream has ended early") from None
            now = time.monotonic_ns()
            silent.discard(fileno)
            if unzipped is not None:
                data = unzipped.feed(data)
            ages.extend(now - stamp for stamp in stamps.feed(data))
    return ages


def bulk(*, port: int, pids: list[int], pieces: int, h2: bool = False) -> dict[str, float]:
    """Read one body of `pieces` chunks of 64 KiB as fast as it comes."""
    nbytes = pieces * BULK
    before, began = spent(pids), time.monotonic()
    (client,) = clients(port, f"/bulk/{pieces}", 1, h2=h2)
    seen = 0
    for data in _whatever(client):
        seen += len(data)
        if seen >= nbytes:
            break
    else:
        raise SystemExit(f"the body has ended after {seen} bytes")
    cpu, took = spent(pids) - before, time.monotonic() - began
    client.sock.close()
    return {
        "bytes": seen,
        "mb_per_cpu_second": seen / 1e6 / (cpu / 1e9) if cpu else 0.0,
        "mb_per_second": seen / 1e6 / took,
    }


def _whatever(client: Client):
    """All that comes, until the end; SystemExit if it takes too long."""
    began = time.monotonic()
    client.sock.settimeout(_GIVE_UP)
    while data := client.sock.recv(READ):
        if client.frames is not None and (answer := client.frames.feed(data)):
            client.sock.sendall(answer)
        yield data
        if time.monotonic() - began > _GIVE_UP:
            raise SystemExit(f"no end after {_GIVE_UP:g} s")


def length(*, port: int, pids: list[int], pieces: int, window: int) -> dict[str, float]:
    """Read one stream of so many floods as fast as they come: what an event costs behind event 1,000, and at the end;
    each over `window` events."""
    (client,) = clients(port, f"/flood/{pieces}", 1)
    events = pieces * FLOOD
    wanted = [1000, 1000 + window, events - 2 * FLOOD - window, events - 2 * FLOOD]
    marks: list[tuple[int, int, int]] = []
    count = Count()
    for data in _whatever(client):
        count.feed(data)
        if len(marks) < len(wanted) and count.seen >= wanted[len(marks)]:
            marks.append((count.seen, spent(pids), resident(pids)))
        if data.endswith(LAST_CHUNK):
            break
    client.sock.close()
    if len(marks) < len(wanted):
        raise SystemExit(f"the stream has ended after {count.seen} events")
    early, late = (_each(*marks[:2]), _each(*marks[2:]))
    ratio = late / early if early else 0.0
    return {
        "events": count.seen,
        "cpu_us_early": early,
        "cpu_us_late": late,
        "late_to_early": ratio,
        **({"million_to_early": ratio} if events > _MILLION else {}),
        "grown_kib": (marks[3][2] - marks[0][2]) / 1024,
    }


def _each(first: tuple[int, int, int], second: tuple[int, int, int]) -> float:
    return (second[1] - first[1]) / 1e3 / (second[0] - first[0])


def short(*, port: int, pids: list[int], seconds: float, connections: int = 16, warm_up: float = 0.3):
    """One short request after the other on each of `connections` connections that stay open."""
    request = h1_request("/short")
    epoll = select.epoll()
    peers = {}
    for _ in range(connections):
        client = Client(port, request)
        epoll.register(client.sock, select.EPOLLIN)
        peers[client.sock.fileno()] = [client, b""]
    _exchanges(epoll, peers, request, time.monotonic() + warm_up)
    before, began = spent(pids), time.monotonic()
    done = _exchanges(epoll, peers, request, began + seconds)
    while not done and time.monotonic() < began + _GIVE_UP:
        done = _exchanges(epoll, peers, request, time.monotonic() + seconds)
    cpu, took = spent(pids) - before, time.monotonic() - began
    for client, _ in peers.values():
        client.sock.close()
    return {
        "requests": done,
        "requests_per_cpu_second": done / (cpu / 1e9) if cpu else 0.0,
        "requests_per_second": done / took,
        "cpu_us_per_request": cpu / 1e3 / done if done else 0.0,
    }


def _exchanges(epoll: select.epoll, peers: dict, request: bytes, until: float) -> int:
    done = 0
    while (left := until - time.monotonic()) > 0:
        for fileno, _ in epoll.poll(left):
            peer = peers[fileno]
            peer[1] += peer[0].read()
            if not peer[1].endswith(SHORT_BODY):
                continue
            if not peer[1].startswith(b"HTTP/1.1 200"):
                raise SystemExit(f"a wrong answer: {peer[1][:80]!r}")
            peer[1] = b""
            done += 1
            peer[0].sock.sendall(request)
    return done


def idle(*, port: int, pids: list[int], steps: list[int], h2: bool = False, settle: float = 0.5) -> dict[str, float]:
    """Open streams that say nothing behind their heads: what each holds in memory, with as many as each step says."""
    held = [_opened(port, _WARM, h2=h2)]
    base = resident(pids)
    streams, seen = 0, {}
    for step in steps:
        while streams < step:
            more = min(_AT_ONCE, step - streams)
            held.append(_opened(port, more, h2=h2))
            streams += more
        time.sleep(settle)
        seen[f"kib_each_at_{step}"] = (resident(pids) - base) / 1024 / step
    for several in held:
        for client in several:
            client.sock.close()
    return {"streams": streams, "base_mib": base / 2**20, **seen}


_WARM = 10
_AT_ONCE = 100


def _opened(port: int, number: int, *, h2: bool) -> list[Client]:
    opened = clients(port, "/idle", number, h2=h2)
    for client in opened:
        client.sock.settimeout(_GIVE_UP)
    if h2:
        left = number
        for client in opened:
            assert client.frames
            share = min(left, STREAMS_PER_H2_CONNECTION)
            while client.frames.heads < share:
                _wait(client)
                if client.frames.lost:
                    raise SystemExit("a stream has been reset")
            left -= share
        return opened
    for client in opened:
        head = b""
        while b"\r\n\r\n" not in head:
            head += _wait(client)
    return opened


def _wait(client: Client) -> bytes:
    """What comes next; SystemExit if nothing does any more."""
    try:
        return client.read()
    except TimeoutError:
        raise SystemExit(f"no head after {_GIVE_UP:g} s") from None
    except EOFError:
        raise SystemExit("a stream has ended early") from None


LOADS = {one.__name__: one for one in (events, bulk, length, short, idle, lateness, ends, tales)}


def main() -> None:
    """Read one load as the argument says, print what was seen."""
    given = json.loads(sys.argv[1])
    gc.disable()
    print(json.dumps(LOADS[given.pop("load")](**given)))


if __name__ == "__main__":
    sys.exit(main())
