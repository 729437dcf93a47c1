"""Whoever is slow slows the other end down; nothing is hoarded in between, and everything arrives."""

import contextlib
import resource
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import trio
import trio.testing

from chaosproxy.testing.h2_origin import h2_origin
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.listening import listening
from chaosproxy.testing.peers import Ending, RawClient
from chaosproxy.testing.proxied import proxy_on
from chaosproxy.testing.recorder import Recorder
from chaosproxy.wire import dial

MIB = 1024 * 1024
PIECE = bytes(range(256)) * 256
CHUNK = b"10000\r\n" + PIECE + b"\r\n"
TOTAL = 200 * MIB
BOUND = 24 * MIB
"""What four kernel buffers on loopback hold at most, and our own beside them; a tenth of what is on offer."""
OK = [(b":status", b"200")]


@contextlib.asynccontextmanager
async def raw_origin(serve: Callable[[Recorder], Awaitable[None]]) -> AsyncIterator[str]:
    async with listening(lambda transport: serve(Recorder(transport))) as port:
        yield f"http://127.0.0.1:{port}"


class Flood:
    """An origin that sends TOTAL bytes as fast as they are taken, and counts."""

    def __init__(self) -> None:
        self.sent = 0

    async def __call__(self, peer: Recorder) -> None:
        with contextlib.suppress(ConnectionError):
            if not peer.pieces:
                await peer.read()
            await peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % TOTAL)
            while self.sent < TOTAL:
                await peer.send(PIECE)
                self.sent += len(PIECE)
            await peer.read()

    async def standing(self) -> int:
        """What was sent once nothing more is taken."""
        before = -1
        while before != self.sent:
            before = self.sent
            await trio.sleep(0.2)  # real time: a kernel's buffers ring no bell when they stay full
        return self.sent


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


@pytest.mark.parametrize("scenario", [None, {"version": 1, "faults": [{"buffer": "64KiB"}]}], ids=["none", "buffer"])
async def test_a_client_that_stops_reading_stops_the_upstream_and_loses_nothing(scenario):
    flood = Flood()
    async with raw_origin(flood) as url, proxy_on(scenario, url) as proxied:
        before = resident()
        transport = await dial.connect("127.0.0.1", proxied.port, None)
        await Recorder(transport).send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert await flood.standing() < BOUND
        assert resident() - before < BOUND
        got, head = 0, b""
        with trio.fail_after(50):
            while not head.endswith(b"\r\n\r\n"):
                await transport.readable()
                head += transport.recv(1) or b""
            while got < TOTAL:
                await transport.readable()
                data = transport.recv(MIB)
                assert data != b"", f"ended after {got}"
                assert (data or PIECE)[0] == got % 256 or data is None
                got += len(data or b"")
        assert resident() - before < BOUND
        transport.close()
        record = await proxied.last()
    assert (record.end.how, record.response.bytes_out) == ("clean", TOTAL)


async def test_a_stalled_h2_stream_does_not_stall_its_sibling_from_an_h1_upstream():
    flood = Flood()

    async def serve(peer: Recorder) -> None:
        request = await peer.read()
        if b"/big" in request:
            await flood(peer)
            return
        await peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nsmall")
        await peer.read()

    async with (
        raw_origin(serve) as url,
        proxy_on(None, url) as proxied,
        h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client,
    ):
        client.stalled.add(1)
        await client.request(1, "/big")
        await client.until(lambda: len(client.streams[1].body) == 65535)
        assert await flood.standing() < BOUND
        await client.request(3, "/small")
        await client.until(lambda: client.streams[3].ended)
        assert client.streams[3].body == b"small"
        await client.credit(1, MIB)
        await client.until(lambda: len(client.streams[1].body) == 65535 + MIB)


async def test_a_stalled_h2_stream_does_not_stall_its_sibling_on_one_upstream_connection():
    sent = 0

    async def answer(peer, stream):
        nonlocal sent
        await peer.headers(stream, OK)
        if stream == 3:
            await peer.data(stream, b"small", end=True)
            return
        while sent < TOTAL:
            await peer.data(stream, PIECE[:16384])
            sent += 16384

    async with (
        h2_origin(answer) as url,
        proxy_on(None, url) as proxied,
        h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client,
    ):
        client.stalled.add(1)
        await client.request(1)
        await client.until(lambda: len(client.streams[1].body) == 65535)
        await client.request(3)
        await client.until(lambda: client.streams[3].ended)
        assert client.streams[3].body == b"small"
        assert sent < 4 * MIB
        await client.credit(1, MIB)
        await client.until(lambda: len(client.streams[1].body) == 65535 + MIB)
        await client.reset(1)
        records = await proxied.finished(2)
    assert {record.upstream.connection for record in records} == {1}


async def test_an_upload_goes_at_the_pace_of_a_slow_upstream_and_ends_with_its_client():
    ended: list[Ending | None] = []
    go_on, gone = trio.Event(), trio.Event()
    taken = 0

    async def serve(peer: Recorder) -> None:
        nonlocal taken
        await peer.read()
        await go_on.wait()
        while data := await peer.read():
            taken += len(data)
            peer.pieces.clear()
        ended.append(peer.ending)
        gone.set()

    async with raw_origin(serve) as url, proxy_on(None, url) as proxied:
        before = resident()
        client = await RawClient.connect("127.0.0.1", proxied.port)
        async with client:
            await client.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % TOTAL)
            sent = 0
            with trio.move_on_after(0.5):
                while sent < TOTAL:
                    await client.send(PIECE)
                    sent += len(PIECE)
            assert sent < BOUND
            assert resident() - before < BOUND
            go_on.set()
            while sent < 100 * MIB:
                await client.send(PIECE)
                sent += len(PIECE)
        with trio.fail_after(20):
            await gone.wait()
        record = await proxied.last()
    assert ended != [None]
    assert taken < TOTAL
    assert (record.end.by, record.end.how, record.upstream.end.cause) == ("client", "fin", "client:fin")


@pytest.mark.parametrize("upstream", ["h1", "h2"])
async def test_an_h2_upload_goes_at_the_pace_of_its_upstream_and_arrives_whole(upstream):
    go_on = trio.Event()
    arrived = b""

    async def serve_http1(peer: Recorder) -> None:
        nonlocal arrived
        await go_on.wait()
        while not peer.received.endswith(b"0\r\n\r\n"):
            await peer.read()
        arrived = b"".join([part for part in peer.received.partition(b"\r\n\r\n")[2].split(b"\r\n") if len(part) > 9])
        await peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        await peer.read()

    async def serve_http2(peer, stream) -> None:
        nonlocal arrived
        peer.stalled.add(stream)
        await go_on.wait()
        peer.stalled.clear()
        await peer.credit(stream, 64 * MIB)
        await peer.until(lambda: peer.streams[stream].ended, within=20)
        arrived = peer.streams[stream].body
        await peer.headers(stream, OK, end=True)

    serving = raw_origin(serve_http1) if upstream == "h1" else h2_origin(serve_http2)
    payload = b"chunk of an upload" * 910
    async with (
        serving as url,
        proxy_on(None, url) as proxied,
        h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client,
    ):
        await client.request(1, method="POST", end=False)
        sent = 0
        with trio.move_on_after(0.3):
            while sent < 2000:
                await client.data(1, payload)
                sent += 1
        assert sent * len(payload) < BOUND
        go_on.set()
        await client.data(1, payload, end=True)
        await client.until(lambda: client.streams[1].ended, within=20)
        assert arrived == payload * (sent + 1)
        assert (await proxied.last()).request.bytes == len(arrived)


@pytest.mark.parametrize("ending", [Ending.FIN, Ending.RST])
async def test_a_client_that_leaves_behind_a_body_nobody_reads_is_noticed(ending):
    """The upstream takes nothing, so the proxy reads nothing: the client's FIN stands behind what is unread."""
    over = trio.Event()

    async def serve(peer: Recorder) -> None:
        await over.wait()

    async with raw_origin(serve) as url, proxy_on(None, url) as proxied:
        async with await RawClient.connect("127.0.0.1", proxied.port) as client:
            await client.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % TOTAL)
            await trio.testing.wait_all_tasks_blocked()
            (connection,) = proxied.proxy._clients
            while not connection.paused:
                await client.send(PIECE[:16384])
                while client.transport.unacknowledged():  # else the FIN would stand in the client's own kernel
                    await trio.sleep(0)
            if ending is Ending.RST:
                client.transport.rst()
        record = await proxied.last()
        over.set()
    assert (record.end.by, record.end.how, record.upstream.end.cause) == ("client", str(ending), f"client:{ending}")
