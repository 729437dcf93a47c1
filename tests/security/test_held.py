"""A thousand streams at a time, and all their clients gone in one moment; thousands that queue for one connection. Over links,
in virtual time."""

import contextlib
from collections.abc import Callable

import pytest
import trio
import trio.testing

from chaosproxy.http2.frames import PREFACE, SETTINGS, frame
from chaosproxy.testing.proxied import Linked, linked
from chaosproxy.testing.recorder import Ending, Recorder
from chaosproxy.wire.transport import Transport
from tests.http2.test_h2_floods import ATTACKS, opening
from tests.loopback.test_leaks import tasks
from tests.soak.mix import H2

STREAMS = 1000
PER_CONNECTION = 100
ATTACKING = ("RST_STREAM", "PING", "SETTINGS", "CONTINUATION")
EVENTS = 4
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
EVENT = b"data: 0123456789\n\n"
CHUNK = b"%x\r\n%s\r\n" % (len(EVENT), EVENT)


class EverySecond:
    """An origin that answers with an event a second, for ever."""

    def __init__(self) -> None:
        self.open = self.most = 0

    async def serve(self, transport: Transport) -> None:
        peer = Recorder(transport)
        await peer.read()
        self.open += 1
        self.most = max(self.most, self.open)
        async with trio.open_nursery() as nursery:

            async def stream() -> None:
                await peer.send(HEAD)
                while True:
                    await trio.sleep(1)
                    await peer.send(CHUNK)

            nursery.start_soon(stream)
            while await peer.read():
                pass
            nursery.cancel_scope.cancel()
        self.open -= 1
        transport.close()


async def attack(proxied: Linked, name: str) -> None:
    """In the middle of it, on a connection of its own."""
    await trio.sleep(1.5)
    attacker = Recorder(proxied.connect())
    with contextlib.suppress(ConnectionError):  # it may be over before all is said
        await attacker.send(PREFACE + frame(SETTINGS, 0, 0) + opening(1))
        for part in ATTACKS[name]():
            await attacker.send(part)
    while await attacker.read():
        pass
    assert attacker.ending is Ending.FIN
    attacker.transport.close()


async def h1(proxied: Linked, peers: list[Recorder]) -> None:
    for number in range(STREAMS):
        peers.append(Recorder(proxied.connect()))
        await peers[-1].send(b"GET /%d HTTP/1.1\r\nHost: x\r\n\r\n" % number)


async def h2(proxied: Linked, peers: list[Recorder]) -> None:
    for _ in range(STREAMS // PER_CONNECTION):
        peers.append(Recorder(proxied.connect()))
        client = H2(peers[-1])
        await client.greet()
        await client.begin({2 * number + 1: b"/" for number in range(PER_CONNECTION)})


@pytest.mark.parametrize("opened", [h1, h2])
async def test_a_thousand_streams_and_then_none(autojump_clock, opened: Callable, shown):
    origin = EverySecond()
    async with linked(None, origin.serve) as proxied:
        before = tasks()
        peers: list[Recorder] = []
        await opened(proxied, peers)
        async with trio.open_nursery() as nursery:

            async def read(peer: Recorder) -> None:
                while await peer.read():
                    pass

            for peer in peers:
                nursery.start_soon(read, peer)
            for name in ATTACKING:
                nursery.start_soon(attack, proxied, name)
            await trio.sleep(EVENTS + 0.5)
            nursery.cancel_scope.cancel()
        events = sum(peer.received.count(EVENT) for peer in peers)
        late = max(time % 1 for peer in peers for time, data in peer.pieces if EVENT in data)
        assert origin.most >= STREAMS
        for number, peer in enumerate(peers):
            (peer.transport.rst if number % 2 else peer.transport.close)()
        killed = trio.current_time()
        with trio.fail_after(20):
            while origin.open or proxied.proxy._exchanges or proxied.proxy._clients:
                await trio.sleep(0.01)
        took = trio.current_time() - killed
        await trio.testing.wait_all_tasks_blocked()
        assert tasks() == before
        assert not proxied.proxy._pool.upstreams[0].connections
    assert events == STREAMS * EVENTS
    assert round(late, 6) == 0
    assert took <= 2.5  # a client is waited for so long after a FIN of ours
    ended = [record.end for record in proxied.exchanges if not (record.end.cause or "").startswith("flood:")]
    assert len(ended) >= STREAMS
    assert {end.by for end in ended} == {"client"}
    shown(
        "held",
        f"a thousand streams over {'HTTP/1.1' if opened is h1 else 'HTTP/2'}, beside four attackers, then all clients gone at once",
        tried=STREAMS,
        must="no event lost or late; then tasks, connections and pool as before",
        happens=f"{STREAMS * EVENTS - events} lost, 0 late, in virtual time; + 0 tasks, 0 connections",
    )


async def test_who_queues_is_served_in_order_and_who_leaves_leaves_at_once(autojump_clock, shown):
    """At `max_connections: 1`, behind a stream of a minute."""
    waiting = 1000
    served: list[bytes] = []

    async def serve(transport: Transport) -> None:
        peer = Recorder(transport)
        while data := await peer.read():
            served.append(data.split(b" ", 2)[1])
            await trio.sleep(60 if len(served) == 1 else 0.01)
            await peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    async with linked({"version": 1, "upstream": {"max_connections": 1}}, serve) as proxied:
        before = tasks()
        peers = [Recorder(proxied.connect()) for _ in range(waiting)]
        for number, peer in enumerate(peers):
            await peer.send(b"GET /%d HTTP/1.1\r\nHost: x\r\n\r\n" % number)
            await trio.testing.wait_all_tasks_blocked()
        await trio.sleep(10)
        leaving = [peer for number, peer in enumerate(peers) if number % 2]
        for peer in leaving:
            peer.transport.close()
        await trio.testing.wait_all_tasks_blocked()
        at_once = len(proxied.exchanges)
        await proxied.finished(waiting, within=600)
        for peer in peers:
            peer.transport.close()
        with trio.fail_after(20):
            while proxied.proxy._clients:
                await trio.sleep(0.1)
        await trio.testing.wait_all_tasks_blocked()
        kept = len(proxied.proxy._pool.upstreams[0].connections)
        assert tasks() == before + 2 * kept  # the origin's and ours
    assert served == [b"/%d" % number for number in range(0, waiting, 2)]
    assert at_once == len(leaving)
    shown(
        "held",
        "a thousand that wait for one connection, every second leaves",
        tried=waiting,
        must="in order; who leaves is gone at once, and never sent",
        happens=f"{len(served)} in order; {at_once} gone at once, 0 of them sent",
    )
