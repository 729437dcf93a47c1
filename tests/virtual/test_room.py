"""Where a reader never reads and a sender floods, what lies between them stays under the sum of the bounds."""

import contextlib
import tracemalloc
from collections.abc import Awaitable, Callable

import pytest
import trio
from hpack import Encoder

from chaosproxy.http2.frames import PREFACE
from chaosproxy.proxy.connection import READ
from chaosproxy.testing.h2_peers import H2Peer, h2_client
from chaosproxy.testing.peers import Origin
from chaosproxy.testing.proxied import linked
from chaosproxy.testing.recorder import Recorder

KIB, MIB = 1024, 1024 * 1024
PIECE = bytes(16 * KIB)
CHUNK = b"4000\r\n" + PIECE + b"\r\n"
TOTAL = 32 * MIB
LINKS = 2 * 64 * KIB
"""What the two connections hold, each way."""
EXIT = 64 * KIB
WRITTEN = 64 * KIB
BETWEEN = LINKS + READ + EXIT + WRITTEN + len(CHUNK)
"""Everything that holds anything where no fault does."""

FAULTS = {
    "none": ([], 0),
    "latency": ([{"latency": "10s"}], MIB),
    "stall": ([{"stall": {"at": "body", "for": "forever"}}], MIB),
    "buffer": ([{"buffer": {"until_end": True, "limit": "2MiB"}}], 3 * 2 * MIB),
    "three": ([{"latency": "10s"}, {"buffer": "256KiB"}, {"stall": {"at": {"bytes": 1}, "for": "1h"}}], 2.5 * MIB),
}
"""With what they may hold. What `until_end` lets go of is one piece, and none is cut for want of room: one stands in the
buffer, one at the exit, one is being written."""


class Flood:
    """A sender that never ends."""

    def __init__(self) -> None:
        self.sent = 0

    async def h1(self, peer: Recorder) -> None:
        await self._all(lambda: peer.send(CHUNK))

    async def h2(self, peer: H2Peer, stream: int) -> None:
        await self._all(lambda: peer.data(stream, PIECE))

    async def _all(self, send: Callable[[], Awaitable[None]]) -> None:
        with contextlib.suppress(ConnectionError):  # the test is over
            while self.sent < TOTAL:
                await send()
                self.sent += len(PIECE)

    async def stands(self) -> int:
        """What was sent once nothing more is taken: an hour after the last piece."""
        before = -1
        while before != self.sent:
            before = self.sent
            await trio.sleep(1800)
        return self.sent


def scenario(name: str, way: str) -> dict[str, object] | None:
    faults, _ = FAULTS[name]
    given = [{kind: {**_mapping(kind, value), "way": way}} for fault in faults for kind, value in fault.items()]
    return {"version": 1, "hops": [{"faults": [fault]} for fault in given]} if given else None


def _mapping(kind: str, value: object) -> dict[str, object]:
    if isinstance(value, dict):
        return value
    return {{"latency": "delay", "buffer": "bytes"}[kind]: value}


@pytest.fixture
def memory():
    tracemalloc.start(1)
    yield lambda: tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("protocol", ["h1", "h2"])
async def test_a_client_that_never_reads(autojump_clock, memory, protocol, name):
    flood = Flood()

    async def serve(transport) -> None:
        async with trio.open_nursery() as nursery:
            if protocol == "h1":
                peer = Recorder(transport)
                await peer.read()
                await peer.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                await flood.h1(peer)
                return
            answering = H2Peer(transport, client=False)

            async def answer(stream: int) -> None:
                await answering.headers(stream, [(b":status", b"200")])
                await flood.h2(answering, stream)

            answering.on_head = lambda stream: nursery.start_soon(answer, stream)
            await answering.start()
            await answering.read()

    url = "http://o" if protocol == "h1" else "h2c://o"
    async with linked(scenario(name, "response"), serve, upstream=url) as proxied:
        before = memory()
        client = proxied.connect()
        client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        sent = await flood.stands()
        held = memory() - before
        client.rst()
    bound = BETWEEN + FAULTS[name][1]
    assert 100 * KIB < sent < bound
    assert held < bound + 256 * KIB


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("protocol", ["h1", "h2"])
async def test_an_upstream_that_never_reads(autojump_clock, memory, protocol, name):
    flood = Flood()

    async def serve(transport) -> None:
        await trio.sleep_forever()

    async with linked(scenario(name, "request"), serve) as proxied, trio.open_nursery() as nursery:
        before = memory()
        if protocol == "h1":
            client = Recorder(proxied.connect())
            await client.send(b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
            nursery.start_soon(flood.h1, client)
            sent, held = await flood.stands(), memory() - before
        else:
            async with h2_client(proxied.connect()) as peer:
                await peer.request(1, method="POST", end=False)
                nursery.start_soon(flood.h2, peer, 1)
                sent, held = await flood.stands(), memory() - before
        nursery.cancel_scope.cancel()
    bound = BETWEEN + FAULTS[name][1]
    assert 60 * KIB < sent < bound
    assert held < bound + 256 * KIB


async def crumbs(transport, count: int, sent: list[int]) -> None:
    """An answer of single bytes, each a chunk of its own."""
    peer = Recorder(transport)
    await peer.read()
    with contextlib.suppress(ConnectionError):
        await peer.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(0, count, 500):
            await peer.send(b"1\r\nx\r\n" * 500)
            sent.append(500)
        await peer.read()


async def test_crumbs_take_up_more_room_than_their_bytes(autojump_clock):
    """A piece costs memory beside its bytes: of 64 KiB in single bytes a sixteenth is taken."""
    sent: list[int] = []
    asked = {"version": 1, "faults": [{"stall": {"at": "body", "for": "1h", "capacity": "64KiB"}}]}
    async with linked(asked, lambda transport: crumbs(transport, 40_000, sent), room=3000) as proxied:
        client = Recorder(proxied.connect())
        await client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await trio.sleep(3000)
        assert 4096 <= sum(sent) < 7000
        while client.received.count(b"x") < 40_000:  # and nothing is lost
            assert await client.read()
            client.pieces[:] = [(0.0, client.received)]
        client.transport.close()


async def test_crumbs_in_a_buffer_become_one_piece(autojump_clock, memory):
    sent: list[int] = []
    asked = {"version": 1, "faults": [{"buffer": {"until_end": True}}]}
    async with linked(asked, lambda transport: crumbs(transport, 20_000, sent)) as proxied:
        client = proxied.connect()
        before = memory()
        client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await trio.sleep(1)
        assert sum(sent) == 20_000
        assert memory() - before < 0.75 * MIB  # as many pieces of their own are twice that
        client.rst()


async def test_answers_to_a_client_that_never_reads_do_not_pile_up(autojump_clock):
    """Body between its PINGs makes them no flood; but it reads none of the answers, and so is read no further itself."""
    ping = (8).to_bytes(3, "big") + b"\x06\x00" + bytes(4) + b"8 bytes!"
    data = (1).to_bytes(3, "big") + b"\x00\x00" + (1).to_bytes(4, "big") + b"x"
    head = Encoder().encode([(":method", "POST"), (":scheme", "http"), (":path", "/"), (":authority", "x")])
    opening = (
        PREFACE + bytes(3) + b"\x04" + bytes(5) + len(head).to_bytes(3, "big") + b"\x01\x04\x00\x00\x00\x01" + head
    )
    sent = 0
    async with linked(None, Origin([trio.Event()]).serve) as proxied:
        client = proxied.connect()
        for part in [opening, *[(data + ping) * 100] * 500]:
            left = part
            with trio.move_on_after(1) as waiting:
                while left:
                    left = left[client.send(left) :]
                    if left:
                        await client.writable()
            if waiting.cancelled_caught:
                break
            sent += 1
        assert 50 < sent < 250
        reader = Recorder(client)
        with trio.fail_after(20):  # whoever reads at last is read on
            while left:
                await reader.read()
                left = left[client.send(left) :]
        client.close()
