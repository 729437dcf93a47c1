"""The client leaves: the upstream feels it at once, whatever is under way, and the journal tells who left and how."""

import select

import pytest
import trio

from chaosproxy.testing.h2_origin import h2_origin
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, Pause, RawClient, origin
from chaosproxy.testing.proxied import proxy_on
from chaosproxy.wire import dial

GET = b"GET /s HTTP/1.1\r\nHost: x\r\n\r\n"
POST = b"POST /s HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nsome of it"
HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNK = b"a\r\n0123456789\r\n"
TEN = b"0123456789"
OK = [(b":status", b"200")]
CANCEL = 0x8

IGNORE = {"version": 1, "faults": [{"client_abort": "ignore"}]}
SERVE = {"version": 1, "faults": [{"client_abort": {"half_close": "serve"}}]}

MOMENTS = {
    "before the head": (GET, [Ending.OPEN], b""),
    "in the stream": (GET, [HEAD, CHUNK, Ending.OPEN], TEN),
    "while the request goes up": (POST, [Ending.OPEN], b""),
}


@pytest.mark.parametrize("ending", [Ending.FIN, Ending.RST])
@pytest.mark.parametrize(("request_bytes", "script", "seen"), MOMENTS.values(), ids=MOMENTS)
async def test_h1_to_h1(request_bytes, script, seen, ending):
    async with origin(script, at_head=True) as served, proxy_on(None, served.url) as proxied:
        client = await RawClient.connect("127.0.0.1", proxied.port)
        async with client:
            await client.send(request_bytes)
            asked = await served.request(1)
            if seen:
                await client.read_until(seen)
            await client.leave(ending)
        with trio.fail_after(20):
            await asked.gone.wait()
        record = await proxied.last()
    assert (record.end.by, record.end.how, record.end.cause) == ("client", str(ending), None)
    assert (record.upstream.end.by, record.upstream.end.how) == ("proxy", "fin")
    assert record.upstream.end.cause == f"client:{ending}"
    assert record.times.upstream_closed == record.times.client_closed, "at once"


@pytest.mark.parametrize(("request_bytes", "script", "seen"), MOMENTS.values(), ids=MOMENTS)
async def test_h2_to_h1(request_bytes, script, seen):
    async with (
        origin(script, at_head=True) as served,
        proxy_on(None, served.url) as proxied,
        h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client,
    ):
        uploading = request_bytes is POST
        await client.request(1, method="POST" if uploading else "GET", end=not uploading)
        if uploading:
            await client.data(1, b"some of it")
        asked = await served.request(1)
        await client.until(lambda: client.streams[1].body == seen)
        await client.reset(1, CANCEL)
        with trio.fail_after(20):
            await asked.gone.wait()
        record = await proxied.last()
    assert (record.end.by, record.end.how) == ("client", "stream:CANCEL")
    assert (record.upstream.end.how, record.upstream.end.cause) == ("fin", "client:stream:CANCEL")


@pytest.mark.parametrize("silent", [True, False], ids=["before the head", "in the stream"])
@pytest.mark.parametrize("client_protocol", ["h1", "h2"])
async def test_an_h2_upstream_gets_a_cancel_and_keeps_its_connection(silent, client_protocol):
    peers = []
    asked = trio.Event()

    async def answer(peer, stream):
        peers.append(peer)
        if not silent:
            await peer.headers(stream, OK)
            await peer.data(stream, TEN)
        asked.set()

    async with h2_origin(answer) as url, proxy_on(None, url) as proxied:
        transport = await dial.connect("127.0.0.1", proxied.port, None)
        if client_protocol == "h1":
            async with RawClient(transport) as old:
                await old.send(GET)
                await asked.wait()
                if not silent:
                    await old.read_until(TEN)
        else:
            async with h2_client(transport) as client:
                await client.request(1)
                await asked.wait()
                if not silent:
                    await client.until(lambda: client.streams[1].body == TEN)
        with trio.fail_after(20):
            await peers[0].until(lambda: peers[0].streams[1].reset is not None)
        assert peers[0].streams[1].reset == CANCEL
        record = await proxied.last()
        assert (record.end.by, record.end.how) == ("client", "fin")
        assert (record.upstream.end.how, record.upstream.end.cause) == ("stream:CANCEL", "client:fin")
        async with h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client:
            await client.request(1)
        record = await proxied.last(2)
        assert record.upstream.connection == 1


async def test_a_client_that_leaves_while_it_waits_for_a_connection_is_forgotten():
    async with (
        origin([Ending.OPEN]) as served,
        proxy_on({"version": 1, "upstream": {"max_connections": 1}}, served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as first,
    ):
        await first.send(GET)
        await served.request(1)
        async with await RawClient.connect("127.0.0.1", proxied.port) as second:
            await second.send(GET)
        record = await proxied.last()
        assert (record.end.by, record.end.how, record.upstream.connection) == ("client", "fin", None)
        assert len(served.requests) == 1


async def test_ignore_drains_the_upstream_and_the_journal_shows_the_waste():
    go_on = trio.Event()
    async with (
        origin([HEAD, CHUNK, go_on, CHUNK, CHUNK, b"0\r\n\r\n"], [HEAD, b"0\r\n\r\n"]) as served,
        proxy_on(IGNORE, served.url) as proxied,
    ):
        async with await RawClient.connect("127.0.0.1", proxied.port) as client:
            await client.send(GET)
            await client.read_until(TEN)
        [running] = proxied.proxy.running
        with trio.fail_after(20):
            while running.times.client_closed is None:
                await trio.sleep(0.01)
        assert proxied.exchanges == []
        go_on.set()
        record = await proxied.last()
        assert (await served.request(1)).left is None
        async with await RawClient.connect("127.0.0.1", proxied.port) as client:
            await client.send(GET)
            await client.read_until(b"0\r\n\r\n")
        assert (await proxied.last(2)).upstream.connection == 1, "the connection went back to the pool"
    assert (record.end.by, record.end.how) == ("client", "fin")
    assert (record.upstream.end.by, record.upstream.end.how) == ("upstream", "clean")
    assert (record.response.bytes_in, record.response.bytes_out) == (30, 10)
    assert record.times.client_closed < record.times.upstream_closed


async def test_who_ignores_the_leaving_still_cannot_finish_the_request():
    """The rest of the body never comes: an upstream that waits for it is told."""
    async with origin([Ending.OPEN], at_head=True) as served, proxy_on(IGNORE, served.url) as proxied:
        async with await RawClient.connect("127.0.0.1", proxied.port) as client:
            await client.send(POST)
            asked = await served.request(1)
        with trio.fail_after(20):
            await asked.gone.wait()
        record = await proxied.last()
    assert (record.end.by, record.end.how, record.upstream.end.cause) == ("client", "fin", "client:fin")


@pytest.mark.parametrize(("scenario", "served_whole"), [(None, False), (SERVE, True)], ids=["leaves", "serve"])
async def test_a_half_close_is_leaving_unless_it_is_to_be_served(scenario, served_whole):
    go_on = trio.Event()
    async with (
        origin([HEAD, CHUNK, go_on, CHUNK, b"0\r\n\r\n"]) as served,
        proxy_on(scenario, served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(GET)
        await client.read_until(TEN)
        client.transport.fin()
        if not served_whole:
            await proxied.finished()
        go_on.set()
        assert await client.read_all() is Ending.FIN
        assert (client.body == CHUNK + CHUNK + b"0\r\n\r\n") is served_whole
        record = await proxied.last()
    assert (record.end.by, record.end.how) == (("upstream", "clean") if served_whole else ("client", "fin"))


async def test_whoever_has_half_closed_and_is_served_may_still_leave():
    """Nothing more is read from it then: a write is the first to meet its reset."""
    script = [HEAD, CHUNK, *[CHUNK, Pause(0.01)] * 2000]
    async with origin(script) as served, proxy_on(SERVE, served.url) as proxied:
        async with await RawClient.connect("127.0.0.1", proxied.port) as client:
            await client.send(GET)
            await client.read_until(TEN)
            client.transport.fin()
            asked = await served.request(1)
            await client.read_until(TEN + b"\r\na\r\n" + TEN)
            client.transport.rst()
        with trio.fail_after(20):
            await asked.gone.wait()
        record = await proxied.last()
    assert asked.left is not None
    assert (record.end.by, record.end.how, record.upstream.end.cause) == ("client", "rst", "client:rst")


async def test_a_reset_is_told_from_a_fin_also_when_a_send_meets_it_first():
    """The failed send has eaten the error that the next read would have raised."""
    times = 12
    async with origin([HEAD, CHUNK, Ending.OPEN]) as served, proxy_on(None, served.url) as proxied:
        for number in range(times):
            client = await RawClient.connect("127.0.0.1", proxied.port)
            await client.send(GET)
            await client.read_until(TEN)
            served.peers[number].transport.send(CHUNK)
            client.transport.rst()
            await proxied.finished(number + 1)
        assert [record.end.how for record in proxied.exchanges] == ["rst"] * times


async def left_after(connect, served, number: int) -> float:
    """Seconds from a client's leaving to the origin's noticing it."""
    client = await connect()
    await client.send(GET)
    await client.read_until(TEN)
    asked = await served.request(number)
    began = trio.current_time()
    client.transport.close()
    await asked.gone.wait()
    return asked.left_at - began


async def test_the_upstream_feels_it_about_as_soon_as_directly():
    async with origin([HEAD, CHUNK, Ending.OPEN]) as served, proxy_on(None, served.url) as proxied:
        direct, through = [], []
        for turn in range(15):
            for times, port in ((direct, served.port), (through, proxied.port)):
                times.append(
                    await left_after(
                        lambda port=port: RawClient.connect("127.0.0.1", port),
                        served,
                        2 * turn + (1 if times is direct else 2),
                    )
                )
    assert min(through) < min(direct) + 0.01  # a timer, or something polled, would delay each of them


@pytest.mark.skipif(not hasattr(select, "EPOLLRDHUP"), reason="only Linux tells without reading")
async def test_a_client_that_is_served_half_closed_and_resets_has_left_though_nobody_writes():
    async with origin([HEAD, CHUNK, Ending.OPEN]) as served, proxy_on(SERVE, served.url) as proxied:
        client = await RawClient.connect("127.0.0.1", proxied.port)
        async with client:
            await client.send(GET)
            await client.read_until(TEN)
            client.transport.fin()
            connection = next(iter(proxied.proxy._clients))
            with trio.fail_after(20):
                while not connection.over:
                    await trio.sleep(0.001)
            await client.leave(Ending.RST)
        asked = await served.request(1)
        with trio.fail_after(20):
            await asked.gone.wait()
        record = await proxied.last()
    assert (record.end.by, record.end.how) == ("client", "rst")
    assert (record.upstream.end.by, record.upstream.end.cause) == ("proxy", "client:rst")
