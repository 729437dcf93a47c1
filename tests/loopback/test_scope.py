"""`scope` on real connections: a reload that ends several at one moment, under HTTP or in a hop."""

import contextlib

import trio

from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, RawClient, origin
from chaosproxy.testing.proxied import proxy_on
from chaosproxy.wire import dial

GET = b"GET /s HTTP/1.1\r\nHost: x\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENT = b"9\r\ndata: 1\n\n\r\n"
STREAM = [HEAD, EVENT, Ending.OPEN]


async def test_a_reload_ends_every_connection_at_once_and_later_ones_live():
    """The moment is that at which the second event of the first stream would have passed."""
    place = len(HEAD) + len(EVENT) + 1
    cut = {"cut": {"at": {"bytes": place}, "then": "fin", "scope": "all"}}
    scenario = {"version": 1, "connections": [{"match": {"side": "client"}, "faults": [cut]}]}
    go = trio.Event()
    scripts = [[HEAD, EVENT, go, EVENT, Ending.OPEN], *[STREAM] * 4]
    async with (
        origin(*scripts) as served,
        proxy_on(scenario, served.url) as proxied,
        contextlib.AsyncExitStack() as clients,
    ):
        opened = []
        for _ in range(4):
            client = await clients.enter_async_context(await RawClient.connect("127.0.0.1", proxied.port))
            opened.append(client)
            await client.send(GET)
            await client.read_until(b"data: 1\n\n")
        go.set()
        for client in opened:
            assert await client.read_all() is Ending.FIN
        ended = [client.ended_at for client in opened]
        assert max(ended) - min(ended) < 2
        records = await proxied.finished(4)
        assert {(record.end.by, record.end.how, record.end.cause) for record in records} == {("proxy", "fin", "cut")}
        details = sorted(fired.detail for record in records for fired in record.faults)
        assert details == [f"fin after byte {place}", *[f"fin after byte {place}, of another"] * 3]
        async with await RawClient.connect("127.0.0.1", proxied.port) as later:
            await later.send(GET)
            await later.read_until(b"data: 1\n\n")
            assert await later.read_all(within=0.2) is Ending.OPEN


async def test_a_share_of_the_streams_of_one_connection_is_reset_and_the_others_go_on():
    cut = {"cut": {"at": {"event": 2}, "then": {"stream": "CANCEL"}, "scope": 0.5}}
    go = trio.Event()
    scripts = [[HEAD, EVENT, go, EVENT, Ending.OPEN], *[STREAM] * 3]
    async with (
        origin(*scripts) as served,
        proxy_on({"version": 1, "faults": [cut]}, served.url) as proxied,
        h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client,
    ):
        ids = (1, 3, 5, 7)
        for number in ids:
            await client.request(number)
            await client.until(lambda number=number: client.streams[number].body)
        go.set()
        await client.until(lambda: sum(client.streams[number].reset is not None for number in ids) == 2)
        records = await proxied.finished(2)
        assert {record.end.how for record in records} == {"stream:CANCEL"}
        await client.ping()
        await client.until(lambda: client.pongs)
        assert sum(client.streams[number].reset is not None for number in ids) == 2
