"""`blackhole` under `connections:`: the whole connection, whatever speaks on it."""

import pytest
import trio

from chaosproxy.testing.h2_origin import h2_origin
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, RawClient, origin
from chaosproxy.testing.proxied import proxy_on
from chaosproxy.wire import dial

GET = b"GET /s HTTP/1.1\r\nHost: x\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\n\r\n"
BODY = b"x" * 100
PLACE = len(HEAD) + 42
OK = [(b":status", b"200")]
SILENT = 0.3


def connection(side: str, **fault: object) -> dict[str, object]:
    hole = {"blackhole": {"at": {"bytes": PLACE}, **fault}}
    return {"version": 1, "connections": [{"match": {"side": side, "number": 1}, "faults": [hole]}]}


async def test_the_client_s_is_silent_from_the_exact_byte_on_and_nobody_is_told():
    async with origin([HEAD, BODY, Ending.OPEN]) as served:
        async with proxy_on(connection("client"), served.url) as proxied:
            client = await RawClient.connect("127.0.0.1", proxied.port)
            await client.send(GET)
            await client.read_until((HEAD + BODY)[:PLACE])
            asked = await served.request(1)
            client.transport.fin()
            assert await client.read_all(within=SILENT) is Ending.OPEN
            assert client.received == (HEAD + BODY)[:PLACE]
            client.transport.rst()
            with trio.move_on_after(SILENT):
                await asked.gone.wait()
            assert not asked.gone.is_set()
            assert not proxied.exchanges
            async with await RawClient.connect("127.0.0.1", proxied.port) as second:
                await second.send(GET)
                await second.read_until(HEAD + BODY)
        [record] = [record for record in proxied.exchanges if record.client.connection == 1]
    assert (record.end.by, record.end.cause) == ("proxy", "shutdown")
    assert [(fired.fault, fired.hop_name) for fired in record.faults] == [("blackhole", "connection")]


@pytest.mark.parametrize("under_tls", [False, True])
async def test_it_comes_back_and_goes_on_where_it_was(certificates, under_tls):
    rules = connection("client", **{"at": {"bytes": 2500 if under_tls else PLACE}, "for": "500ms"})
    script = [HEAD, *[BODY] * 10]
    async with (
        origin(script) as served,
        proxy_on(rules, served.url, server_tls=certificates.server if under_tls else None) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port, certificates.client() if under_tls else None) as client,
    ):
        began = trio.current_time()
        await client.send(GET)
        with trio.fail_after(10):
            while len(client.body) < 1000:
                assert await client.read()
        assert trio.current_time() - began >= 0.5
        assert client.received == HEAD + BODY * 10
        record = await proxied.last()
    assert (record.end.by, record.end.how) == ("upstream", "clean")


async def test_it_comes_back_and_sees_who_has_left():
    rules = connection("client", **{"for": "500ms"})
    async with origin([HEAD, BODY, Ending.OPEN]) as served, proxy_on(rules, served.url) as proxied:
        client = await RawClient.connect("127.0.0.1", proxied.port)
        began = trio.current_time()
        await client.send(GET)
        await client.read_until((HEAD + BODY)[:PLACE])
        client.transport.fin()
        asked = await served.request(1)
        with trio.fail_after(10):
            await asked.gone.wait()
        assert asked.left_at - began >= 0.5
        record = await proxied.last()
        client.transport.close()
    assert (record.end.by, record.end.how) == ("client", "fin")


async def test_on_http2_no_ping_is_answered():
    async def answer(peer, stream: int) -> None:
        await peer.headers(stream, OK)
        await peer.data(stream, BODY * 10)

    rules = connection("client", at={"bytes": 300})
    async with (
        h2_origin(answer) as url,
        proxy_on(rules, url) as proxied,
        h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client,
    ):
        await client.request(1)
        await client.until(lambda: len(client.recorder.received) == 300)
        await client.ping()
        with trio.move_on_after(SILENT):
            await client.until(lambda: client.pongs)
        assert client.pongs == 0
        assert len(client.recorder.received) == 300
        assert client.ending is None


async def test_the_upstream_s_writes_run_into_backpressure_and_the_client_waits():
    async def flood(peer) -> None:
        nonlocal written
        while True:
            await peer.send(b"x" * 32768)
            written += 1

    written = 0
    head = HEAD.replace(b"1000", b"100000000")
    async with (
        origin([head, BODY, Ending.OPEN]) as served,
        proxy_on(connection("upstream"), served.url) as proxied,
        trio.open_nursery() as nursery,
    ):
        async with await RawClient.connect("127.0.0.1", proxied.port) as client:
            await client.send(GET)
            with trio.fail_after(10):
                while len(client.received) < PLACE:
                    assert await client.read()
            asked = await served.request(1)
            nursery.start_soon(flood, served.peers[0])
            before = -1
            with trio.fail_after(10):
                while before != written:
                    before = written
                    await trio.sleep(0.3)
            assert await client.read_all(within=SILENT) is Ending.OPEN
            assert len(client.received) == PLACE
        record = await proxied.last()  # the client's side is alive: it is seen to leave
        with trio.move_on_after(SILENT):
            await asked.gone.wait()
        assert not asked.gone.is_set(), "a machine that is gone says nothing, no FIN either"
        nursery.cancel_scope.cancel()
    assert (record.end.by, record.end.how) == ("client", "fin")
    assert [fired.fault for fired in record.faults] == ["blackhole"]


async def test_a_gone_connection_costs_no_time():
    """Nobody turns in circles about bytes that are there and may not be read."""
    async with (
        origin([HEAD, BODY, Ending.OPEN]) as served,
        proxy_on(connection("client"), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(GET)
        await client.read_until((HEAD + BODY)[:PLACE])
        await client.send(b"x" * 1000)
        client.transport.fin()
        turns = 0

        class Count(trio.abc.Instrument):
            def before_task_step(self, _task: object) -> None:
                nonlocal turns
                turns += 1

        count = Count()
        trio.lowlevel.add_instrument(count)
        await trio.sleep(SILENT)
        trio.lowlevel.remove_instrument(count)
        assert turns < 100
