"""Nothing grows with the length of a stream, the number of exchanges or of connections: memory, live objects.

The journal's bounds are made small, so that few events are past them, and whatever is kept of each event shows.
"""

import gc
import sys
from collections.abc import Awaitable, Callable

import pytest
import trio

from chaosproxy.http2 import streams
from chaosproxy.journal import marks, record
from chaosproxy.proxy import alarm
from chaosproxy.testing.h2_origin import serve_h2
from chaosproxy.testing.h2_peers import H2Peer, h2_client
from chaosproxy.testing.proxied import Linked, linked
from chaosproxy.testing.recorder import Recorder

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENT = b"data: 12345678\n\n"
CHUNK = b"%x\r\n%s\r\n" % (len(EVENT), EVENT)
LAST = b"0\r\n\r\n"
EVENTS = 300
EARLY = 100
"""From here on everything has its size: pools, caches, the bounds below."""
GAP = 86_400 / EVENTS
"""A day."""

AT_REST = [
    {"timeout": {"idle": "1h", "total": "1000h"}},
    {"cut": {"at": {"event": 1_000_000}}},
    {"stall": {"at": {"bytes": 1_000_000_000}, "for": "1s"}},
    {"latency": "0ms"},
]
ACTING = [
    {"timeout": {"idle": "1h", "total": "1000h"}},
    {"latency": {"delay": "5m", "jitter": "1m"}},
    {"stall": {"at": {"event": 1, "every": 1}, "for": "1s", "meanwhile": {"comments": "300ms"}}},
    {"stall": {"at": {"time": "10m", "every": "10m"}, "for": "1s"}},
    {"pace": {"events": 1, "every": "10ms"}},
    {"buffer": {"events": 2, "every": "3s"}},
    {"strip": ["ids"]},
]
CODED = [{"latency": "1s"}, {"compress": {"when_accepted": False, "flush": "sync"}}]


Measured = tuple[int, int]
"""Blocks of memory, objects."""


def scenario(faults: list[dict[str, object]]) -> dict[str, object]:
    return {"version": 1, "hops": [{"faults": [fault]} for fault in faults]}


@pytest.fixture
def held(monkeypatch):
    """`held()`: blocks of memory and objects alive now."""
    monkeypatch.setattr(marks, "FIRST", 20)
    monkeypatch.setattr(marks, "LAST", 10)
    monkeypatch.setattr(record, "FIRED", 10)
    monkeypatch.setattr(streams, "REMEMBERED", 10)
    monkeypatch.setattr(alarm, "_FEW", -1000)

    monkeypatch.setattr("trio._core._run.DEADLINE_HEAP_MIN_PRUNE_THRESHOLD", 10)

    def measure() -> Measured:
        gc.collect()
        sys._clear_type_cache()  # each class pattern that is matched leaves a name there, up to 4,096 of them
        return sys.getallocatedblocks(), len(gc.get_objects())

    return measure


def nothing_grew(early: Measured, late: Measured) -> None:
    """One block for each of what has happened since would be too much."""
    assert late[1] - early[1] < 0.6 * (EVENTS - EARLY)
    assert late[0] - early[0] < 0.6 * (EVENTS - EARLY)


class Stream:
    """An upstream that streams for a day, and looks twice."""

    def __init__(self, measure: Callable[[], Measured], gap: float) -> None:
        self.seen: list[Measured] = []
        self._measure, self._gap = measure, gap

    async def _events(self, send: Callable[[], Awaitable[None]]) -> None:
        for number in range(EVENTS + 1):
            if number in (EARLY, EVENTS):
                self.seen.append(self._measure())
            await send()
            await trio.sleep(self._gap)

    async def h1(self, transport) -> None:
        peer = Recorder(transport)
        await peer.read()
        await peer.send(HEAD)
        await self._events(lambda: peer.send(CHUNK))
        await peer.send(LAST)
        await peer.read()

    async def h2(self, transport) -> None:
        async def answer(peer, stream: int) -> None:
            await peer.headers(stream, [(b":status", b"200"), (b"content-type", b"text/event-stream")])
            await self._events(lambda: peer.data(stream, EVENT))
            await peer.data(stream, b"", end=True)

        await serve_h2(transport, answer)


async def drain_h1(proxied: Linked) -> None:
    client = Recorder(proxied.connect())
    await client.send(GET)
    while LAST not in (await client.read())[-9:]:
        client.pieces.clear()
    client.transport.close()
    await proxied.finished()


async def drain_h2(proxied: Linked) -> None:
    async with h2_client(proxied.connect()) as client:
        await client.request(1)
        while not proxied.exchanges:
            await trio.sleep(1000)
            client.streams[1].frames.clear()
            client.recorder.pieces.clear()


@pytest.mark.parametrize("faults", [None, AT_REST, ACTING, CODED], ids=["none", "rest", "acting", "coded"])
@pytest.mark.parametrize("protocol", ["h1", "h2"])
async def test_a_day(autojump_clock, held, protocol, faults):
    stream = Stream(held, GAP)
    serve, url = (stream.h1, "http://o") if protocol == "h1" else (stream.h2, "h2c://o")
    async with linked(scenario(faults) if faults else None, serve, upstream=url) as proxied:
        await (drain_h1 if protocol == "h1" else drain_h2)(proxied)
        (seen,) = proxied.exchanges
    assert (seen.end.by, seen.end.how) == ("upstream", "clean")
    assert seen.response.events_in == EVENTS + 1
    nothing_grew(*stream.seen)


async def answer_h1(transport) -> None:
    """Every request of a connection, with a short stream."""
    peer = Recorder(transport)
    try:
        while await peer.read():
            peer.pieces.clear()
            await peer.send(HEAD + CHUNK + LAST)
    finally:
        transport.close()


async def answer_h2(transport) -> None:
    async with trio.open_nursery() as nursery:
        peer = H2Peer(transport, client=False)

        async def answer(stream: int) -> None:
            await peer.headers(stream, [(b":status", b"200"), (b"content-type", b"text/event-stream")])
            await peer.data(stream, EVENT, end=True)
            peer._credit.pop(stream)
            for number in [number for number in peer.streams if number <= stream]:
                del peer.streams[number]
            peer.recorder.pieces.clear()

        peer.on_head = lambda stream: nursery.start_soon(answer, stream)
        await peer.start()
        await peer.read()
        nursery.cancel_scope.cancel()
    transport.close()


async def one_after_another_h1(proxied: Linked, measure: Callable[[], Measured]) -> list[Measured]:
    client, seen = Recorder(proxied.connect()), []
    for count in range(1, EVENTS + 1):
        await client.send(GET)
        while LAST not in (await client.read())[-9:]:
            pass
        client.pieces.clear()
        await proxied.finished(count)
        if count in (EARLY, EVENTS):
            proxied.proxy.journal._records.clear()
            seen.append(measure())
    client.transport.close()
    return seen


async def one_after_another_h2(proxied: Linked, measure: Callable[[], Measured]) -> list[Measured]:
    seen = []
    async with h2_client(proxied.connect()) as client:
        for count in range(1, EVENTS + 1):
            stream = 2 * count - 1
            await client.request(stream)
            await proxied.finished(count)
            await client.until(lambda stream=stream: client.streams[stream].ended)
            client.streams.clear()
            client.recorder.pieces.clear()
            if count in (EARLY, EVENTS):
                proxied.proxy.journal._records.clear()
                seen.append(measure())
    return seen


@pytest.mark.parametrize("faults", [None, AT_REST], ids=["none", "rest"])
@pytest.mark.parametrize("protocol", ["h1", "h2"])
async def test_exchanges_on_one_connection(autojump_clock, held, protocol, faults):
    serve, url = (answer_h1, "http://o") if protocol == "h1" else (answer_h2, "h2c://o")
    async with linked(scenario(faults) if faults else None, serve, upstream=url) as proxied:
        seen = await (one_after_another_h1 if protocol == "h1" else one_after_another_h2)(proxied, held)
        assert proxied.proxy.journal.total == EVENTS
    nothing_grew(*seen)


async def visit_h1(proxied: Linked, number: int) -> None:
    """One connection with one request: a third leave in the middle of the answer, a third before any of it."""
    client = Recorder(proxied.connect())
    await client.send(GET)
    if number % 3:
        await client.read()
    if number % 3 == 1:
        await proxied.finished(number)
    client.transport.close()


async def visit_h2(proxied: Linked, number: int) -> None:
    async with h2_client(proxied.connect()) as client:
        await client.request(1)
        if number % 3:
            await client.until(lambda: client.streams[1].heads)


@pytest.mark.parametrize("protocol", ["h1", "h2"])
async def test_connections_that_come_and_go(autojump_clock, held, protocol):
    """With a fault of each connection, whose alarm is set far away."""
    serve, url = (answer_h1, "http://o") if protocol == "h1" else (answer_h2, "h2c://o")
    asked = {**scenario(AT_REST), "connections": [{"faults": [{"stall": {"at": {"time": "1h"}, "for": "1s"}}]}]}
    seen = []
    async with linked(asked, serve, upstream=url) as proxied:
        for number in range(1, EVENTS + 1):
            await (visit_h1 if protocol == "h1" else visit_h2)(proxied, number)
            await proxied.finished(number)
            if number in (EARLY, EVENTS):
                await trio.sleep(10)
                proxied.proxy.journal._records.clear()
                seen.append(held())
    nothing_grew(*seen)
