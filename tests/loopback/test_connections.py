"""Faults of whole connections: on raw bytes, before and under HTTP and TLS."""

import pytest
import trio

from chaosproxy.errors import UpstreamFault
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, RawClient, origin
from chaosproxy.testing.proxied import proxy_on
from chaosproxy.wire import dial

GET = b"GET /s HTTP/1.1\r\nHost: x\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\n\r\n"
BODY = b"x" * 100


def connections(*entries: dict[str, object]) -> dict[str, object]:
    return {"version": 1, "connections": list(entries)}


def cut(at: object, then: object, **match: object) -> dict[str, object]:
    return {"match": match, "faults": [{"cut": {"at": at, "then": then}}]}


@pytest.mark.parametrize(("then", "ending"), [("rst", Ending.RST), ("fin", Ending.FIN), ("abort", Ending.FIN)])
async def test_a_connection_is_cut_at_the_exact_byte_heads_included(then, ending):
    place = len(HEAD) + 42
    scenario = connections(cut({"bytes": place}, then, side="client", number=1))
    async with origin([HEAD, BODY, Ending.OPEN]) as served, proxy_on(scenario, served.url) as proxied:
        async with await RawClient.connect("127.0.0.1", proxied.port) as client:
            await client.send(GET)
            assert await client.read_all() == ending
            assert client.received == (HEAD + BODY)[:place]
        record = await proxied.last()
        seen = await served.request(1)
        await seen.gone.wait()
        assert seen.left is not None
    assert (record.end.by, record.end.how, record.end.cause) == ("proxy", ending.value, "cut")
    assert [(fired.fault, fired.hop_name) for fired in record.faults] == [("cut", "connection")]
    assert record.upstream.end.cause == "cut"


async def test_only_the_connection_that_is_meant():
    scenario = connections(cut({"bytes": 10}, "rst", side="client", number=2))
    async with origin([HEAD, BODY * 10]) as served, proxy_on(scenario, served.url) as proxied:
        endings = []
        for number in (1, 2, 3):
            async with await RawClient.connect("127.0.0.1", proxied.port) as client:
                await client.send(GET)
                endings.append(await (client.read_all() if number == 2 else client.read_last(BODY * 10)))
        assert endings == [Ending.OPEN, Ending.RST, Ending.OPEN]


async def test_at_a_time_since_the_connection_began():
    scenario = connections(cut({"time": "200ms"}, "fin", side="client"))
    async with origin([HEAD, BODY, Ending.OPEN]) as served, proxy_on(scenario, served.url) as proxied:
        began = trio.current_time()
        async with await RawClient.connect("127.0.0.1", proxied.port) as client:
            await client.send(GET)
            assert await client.read_all() == Ending.FIN
            assert client.received == HEAD + BODY
            assert client.ended_at - began >= 0.2


@pytest.mark.parametrize("then", [Ending.RST, Ending.FIN])
async def test_before_the_client_has_said_anything(then):
    scenario = connections(cut({"time": "50ms"}, then.value, side="client"))
    async with proxy_on(scenario, "http://127.0.0.1:1") as proxied:
        async with await RawClient.connect("127.0.0.1", proxied.port) as client:
            assert await client.read_all() == then
        assert not proxied.exchanges


async def test_every_stream_of_an_http2_connection_goes_with_it():
    scenario = connections(cut({"time": "1500ms"}, "rst", side="client", protocol="h2"))
    async with (
        origin([HEAD, BODY, Ending.OPEN]) as served,
        proxy_on(scenario, served.url) as proxied,
        h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client,
    ):
        await client.request(1)
        await client.request(3)
        assert await client.until_ended() == Ending.RST
        assert client.streams[1].body == client.streams[3].body == BODY
        records = await proxied.finished(2)
    assert {(record.end.by, record.end.how, record.end.cause) for record in records} == {("proxy", "rst", "cut")}


async def test_another_protocol_is_left_alone():
    scenario = connections(cut({"bytes": 10}, "rst", side="client", protocol="h2"))
    async with (
        origin([HEAD, BODY * 10]) as served,
        proxy_on(scenario, served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(GET)
        await client.read_until(BODY * 10)


async def test_silence_keeps_the_socket_open_and_the_leaving_is_noticed():
    scenario = connections(cut({"bytes": len(HEAD) + 1}, "silence", side="client"))
    async with origin([HEAD, BODY, Ending.OPEN]) as served, proxy_on(scenario, served.url) as proxied:
        async with await RawClient.connect("127.0.0.1", proxied.port) as client:
            await client.send(GET)
            assert await client.read_last(HEAD + b"x") == Ending.OPEN
            assert client.received == HEAD + b"x"
            seen = await served.request(1)
            await seen.gone.wait()
            assert not proxied.exchanges
        record = await proxied.last()
    assert (record.end.by, record.end.how, record.end.cause) == ("client", "fin", "cut")


async def test_inside_a_tls_handshake(certificates):
    scenario = connections(cut({"bytes": 700}, "rst", side="client", number=1))
    async with (
        origin([HEAD, BODY * 10]) as served,
        proxy_on(scenario, served.url, server_tls=certificates.server) as proxied,
    ):
        with pytest.raises(UpstreamFault, match="reset"):
            await RawClient.connect("127.0.0.1", proxied.port, certificates.client())
        async with await RawClient.connect("127.0.0.1", proxied.port, certificates.client()) as second:
            await second.send(GET)
            await second.read_until(BODY * 10)


async def test_towards_the_upstream_it_is_the_upstream_that_is_lost():
    scenario = connections(cut({"bytes": len(HEAD) + 5}, "rst", side="upstream", number=1))
    async with origin([HEAD, BODY, Ending.OPEN]) as served, proxy_on(scenario, served.url) as proxied:
        async with await RawClient.connect("127.0.0.1", proxied.port) as client:
            await client.send(GET)
            assert await client.read_all() == Ending.RST
            assert client.received == (HEAD + BODY)[: len(HEAD) + 5]
        seen = await served.request(1)
        await seen.gone.wait()
        assert seen.left == Ending.RST
        record = await proxied.last()
    assert record.end.cause == "upstream:rst"
