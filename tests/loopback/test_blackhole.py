"""`blackhole` on the wire: neither side is read, written to or told anything; then it comes back, or the proxy ends."""

import socket

import pytest
import trio

from chaosproxy.testing.h2_origin import h2_origin
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, RawClient, origin
from chaosproxy.testing.proxied import proxy_on
from chaosproxy.wire import dial

GET = b"GET /s HTTP/1.1\r\nHost: x\r\n\r\n"
POST = b"POST /s HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENTS = [b"data: %d\n\n" % number for number in range(1, 6)]
OK = [(b":status", b"200"), (b"content-type", b"text/event-stream")]
BLOCK = b"8000\r\n" + b"x" * 0x8000 + b"\r\n"
SILENT = 0.3
"""Seconds in which nothing may come; too short a wait could only hide a mistake, never make one."""


def chunk(event: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(event), event)


THREE = [chunk(event) for event in EVENTS[:3]]
SEEN = HEAD + b"".join(THREE)


def scenario(*others: dict[str, object], **fault: object) -> dict[str, object]:
    hole = {"blackhole": {"at": {"event": 3}, **fault}}
    hops = [{"faults": [hole]}, *({"faults": [one]} for one in others)]
    return {"version": 1, "rules": [{"match": {"path": "/s"}, "hops": hops}]}


def unread(client: RawClient) -> int:
    """Bytes that the other end's kernel has not acknowledged: it takes no more because nobody reads."""
    return client.transport.unacknowledged()


async def fill(client: RawClient, block: bytes) -> None:
    """Send until nothing is taken any more."""
    with trio.move_on_after(10):
        stuck = 0
        while stuck < 30:
            taken = client.transport.send(block)
            stuck = 0 if taken else stuck + 1
            await trio.sleep(0.01)
        return
    raise AssertionError("whatever is sent is taken")


# ---- HTTP/1: the whole connection


async def test_for_ever_and_nobody_is_told_that_the_other_has_left():
    async with origin([HEAD, *THREE, Ending.OPEN]) as served:
        async with proxy_on(scenario(), served.url) as proxied:
            client = await RawClient.connect("127.0.0.1", proxied.port)
            await client.send(GET)
            await client.read_until(THREE[-1])
            asked = await served.request(1)
            client.transport.fin()
            assert await client.read_all(within=SILENT) is Ending.OPEN
            client.transport.rst()
            with trio.move_on_after(SILENT):
                await asked.gone.wait()
            assert not asked.gone.is_set()
            assert not proxied.exchanges
        [record] = proxied.exchanges
        assert client.received == SEEN
    assert (record.end.by, record.end.cause) == ("proxy", "shutdown")
    assert (record.upstream.end.by, record.upstream.end.cause) == ("proxy", "shutdown")
    assert [(fired.fault, fired.detail) for fired in record.faults] == [("blackhole", "gone after event 3")]
    assert record.times.client_closed is None


@pytest.mark.parametrize("ending", [Ending.FIN, Ending.RST])
async def test_the_client_hears_nothing_of_an_upstream_that_has_left(ending):
    async with (
        origin([HEAD, *THREE, ending]) as served,
        proxy_on(scenario(), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(GET)
        await client.read_until(THREE[-1])
        assert await client.read_all(within=SILENT) is Ending.OPEN
        assert client.received == SEEN


async def test_what_the_upstream_writes_runs_into_backpressure():
    written = 0

    async def flood(peer) -> None:
        nonlocal written
        while True:
            await peer.send(BLOCK)
            written += 1

    async with (
        origin([HEAD, *THREE, Ending.OPEN]) as served,
        proxy_on(scenario(), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
        trio.open_nursery() as nursery,
    ):
        await client.send(GET)
        await client.read_until(THREE[-1])
        nursery.start_soon(flood, served.peers[0])
        before = -1
        with trio.fail_after(10):
            while before != written:
                before = written
                await trio.sleep(0.3)
        assert await client.read_all(within=SILENT) is Ending.OPEN
        assert client.received == SEEN
        nursery.cancel_scope.cancel()


async def test_what_the_client_writes_does_too():
    async with (
        origin([HEAD, *THREE, Ending.OPEN], at_head=True) as served,
        proxy_on(scenario(), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        client.transport.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16384)
        await client.send(POST)
        await client.read_until(THREE[-1])
        await fill(client, b"x" * 65536)
        assert unread(client)


async def test_it_comes_back_and_what_waited_goes_on():
    go_on = trio.Event()

    script = [HEAD, *THREE, go_on, *map(chunk, EVENTS[3:]), b"0\r\n\r\n"]
    async with (
        origin(script) as served,
        proxy_on(scenario(**{"for": "500ms"}), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        began = trio.current_time()
        await client.send(GET)
        await client.read_until(THREE[-1])
        go_on.set()
        await client.read_until(b"0\r\n\r\n", within=10)
        times = [time for time, data in client.pieces if EVENTS[3] in data or EVENTS[4] in data]
        assert min(times) - began >= 0.5
        await client.send(b"GET /other HTTP/1.1\r\nHost: x\r\n\r\n")  # the connection goes on too
        await served.request(2)
        record = (await proxied.finished())[0]
    assert (record.end.by, record.end.how) == ("upstream", "clean")
    assert (record.response.bytes_in, record.response.bytes_out) == (45, 45)


async def test_it_comes_back_and_sees_who_has_left():
    async with (
        origin([HEAD, *THREE, Ending.OPEN]) as served,
        proxy_on(scenario(**{"for": "500ms"}), served.url) as proxied,
    ):
        client = await RawClient.connect("127.0.0.1", proxied.port)
        began = trio.current_time()
        await client.send(GET)
        await client.read_until(THREE[-1])
        client.transport.fin()
        asked = await served.request(1)
        with trio.fail_after(10):
            await asked.gone.wait()
        assert asked.left_at - began >= 0.5
        record = await proxied.last()
        client.transport.close()
    assert (record.end.by, record.end.how) == ("client", "fin")
    assert record.upstream.end.cause == "client:fin"
    assert record.times.client_closed > record.faults[0].t + 0.49


async def test_it_comes_back_and_sees_that_the_upstream_has_left():
    async with (
        origin([HEAD, *THREE, Ending.RST]) as served,
        proxy_on(scenario(**{"for": "500ms"}), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        began = trio.current_time()
        await client.send(GET)
        await client.read_until(THREE[-1])
        assert await client.read_all(within=10) is Ending.RST
        assert client.ended_at - began >= 0.5
        record = await proxied.last()
    assert (record.end.by, record.end.how) == ("upstream", "rst")


# ---- HTTP/2: the stream


async def test_on_http2_the_stream_is_dead_and_the_connection_is_not():
    peers: dict[bytes, object] = {}
    streams: dict[bytes, int] = {}
    go_on = trio.Event()

    async def answer(peer, stream: int) -> None:
        path = dict(peer.streams[stream].heads[0])[b":path"]
        peers[path], streams[path] = peer, stream
        await peer.headers(stream, OK)
        for event in EVENTS[:3]:
            await peer.data(stream, event)
        await go_on.wait()
        if path == b"/s":
            for _ in range(20):
                await peer.data(stream, b"x" * 8000)  # more than the window
        else:
            await peer.data(stream, EVENTS[3], end=True)

    async with h2_origin(answer) as url:
        async with (
            proxy_on(scenario(), url) as proxied,
            h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client,
        ):
            await client.request(1, "/s", method="POST", end=False)
            await client.request(3, "/other")
            await client.until(lambda: len(client.streams[1].frames) == len(client.streams[3].frames) == 3)
            upstream, stream = peers[b"/s"], streams[b"/s"]
            go_on.set()
            await client.until(lambda: client.streams[3].ended)
            await client.data(1, b"x" * 1000)
            await client.reset(1)
            await client.ping()
            await client.until(lambda: client.pongs)
            await upstream.ping()
            await upstream.until(lambda: upstream.pongs)
            with trio.move_on_after(SILENT):
                await upstream.until(lambda: upstream.streams[stream].reset is not None)
            assert upstream.streams[stream].reset is None
            assert upstream.streams[stream].body == b""
            with trio.fail_after(10):
                while upstream._credit[stream] + 65535 >= 8000:  # the window is filled, and never opened again
                    await trio.sleep(0.01)
            assert client.streams[1].body == b"".join(EVENTS[:3])
            assert not client.streams[1].over
            assert [record.request.path for record in proxied.exchanges] == ["/other"]
        record = proxied.exchanges[-1]
    assert record.request.path == "/s"
    assert (record.end.by, record.end.cause) == ("proxy", "shutdown")
    assert record.faults[0].fault == "blackhole"


@pytest.mark.parametrize("who", ["client", "upstream"])
async def test_on_http2_a_reset_that_came_meanwhile_is_seen_afterwards(who):
    peers = []
    go_on = trio.Event()

    async def answer(peer, stream: int) -> None:
        peers.append((peer, stream))
        await peer.headers(stream, OK)
        for event in EVENTS[:3]:
            await peer.data(stream, event)
        await go_on.wait()
        await peer.reset(stream, 0x2)

    async with (
        h2_origin(answer) as url,
        proxy_on(scenario(**{"for": "500ms"}), url) as proxied,
        h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client,
    ):
        began = trio.current_time()
        await client.request(1, "/s")
        await client.until(lambda: len(client.streams[1].frames) == 3)
        peer, stream = peers[0]
        if who == "client":
            await client.reset(1)
            await peer.until(lambda: peer.streams[stream].reset is not None, within=10)
        else:
            go_on.set()
            await client.until(lambda: client.streams[1].reset is not None, within=10)
        assert trio.current_time() - began >= 0.5
        record = await proxied.last()
    how = "stream:CANCEL" if who == "client" else "stream:INTERNAL_ERROR"
    assert (record.end.by, record.end.how) == (who, how)


# ---- one way


async def test_response_only_the_client_s_leaving_still_arrives():
    async with origin([HEAD, *THREE, Ending.OPEN]) as served, proxy_on(scenario(way="response"), served.url) as proxied:
        async with await RawClient.connect("127.0.0.1", proxied.port) as client:
            await client.send(GET)
            await client.read_until(THREE[-1])
            asked = await served.request(1)
        with trio.fail_after(10):
            await asked.gone.wait()
        record = await proxied.last()
    assert (record.end.by, record.end.how, record.upstream.end.cause) == ("client", "fin", "client:fin")


async def test_response_only_and_who_ignores_the_leaving_drains_the_answer():
    go_on = trio.Event()
    hole = {"blackhole": {"at": {"event": 3}, "way": "response"}}
    rules = {"version": 1, "faults": [{"client_abort": "ignore"}, hole]}
    async with (
        origin([HEAD, *THREE, go_on, *map(chunk, EVENTS[3:]), b"0\r\n\r\n"]) as served,
        proxy_on(rules, served.url) as proxied,
    ):
        async with await RawClient.connect("127.0.0.1", proxied.port) as client:
            await client.send(GET)
            await client.read_until(THREE[-1])
        go_on.set()
        record = await proxied.last()
    assert (record.end.by, record.end.how, record.upstream.end.how) == ("client", "fin", "clean")
    assert (record.response.bytes_in, record.response.bytes_out) == (45, 27)


async def test_request_only_the_answer_goes_on_and_then_the_connection_too():
    go_on = trio.Event()
    fault = {"blackhole": {"at": "headers", "way": "request"}}
    rules = {"version": 1, "rules": [{"match": {"path": "/s"}, "faults": [fault]}]}
    async with (
        origin([HEAD, *THREE, go_on, b"0\r\n\r\n"], at_head=True) as served,
        proxy_on(rules, served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(b"POST /s HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n")
        await client.read_until(THREE[-1])
        await client.send(b"12345")
        client.transport.fin()
        with trio.move_on_after(SILENT):
            await proxied.finished()
        assert not proxied.exchanges, "nobody sees that it has left"
        go_on.set()
        assert await client.read_all(within=10) is Ending.FIN
        assert client.body == b"".join(THREE) + b"0\r\n\r\n"
        record = await proxied.last()
        assert served.requests[0].body == b""
    assert (record.end.by, record.end.how) == ("upstream", "clean")


# ---- among other machines


async def test_a_timeout_nearer_the_client_fires_and_the_upstream_hears_nothing_of_it():
    async with (
        origin([HEAD, *THREE, Ending.OPEN]) as served,
        proxy_on(scenario({"timeout": {"idle": "300ms"}}), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(GET)
        assert await client.read_all(within=10) is Ending.FIN
        assert client.received == SEEN
        asked = await served.request(1)
        with trio.move_on_after(SILENT):
            await asked.gone.wait()
        assert not asked.gone.is_set()
