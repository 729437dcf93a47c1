"""Every ending, read byte by byte by a raw client on each kind of connection, and what the journal says of it."""

import contextlib
from collections.abc import AsyncIterator

import pytest
import trio

from chaosproxy.testing.h2_peers import H2Peer, h2_client
from chaosproxy.testing.peers import Ending, RawClient, origin
from chaosproxy.testing.proxied import Proxied, proxy_on
from chaosproxy.wire import dial

GET = b"GET /s HTTP/1.1\r\nHost: x\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENTS = [b"data: %d\n\n" % number for number in range(1, 6)]
LAST = b"0\r\n\r\n"
STREAMED = [HEAD, *(b"%x\r\n%s\r\n" % (len(event), event) for event in EVENTS)]
THREE = b"".join(STREAMED[1:4])
AFTER_THREE = {"event": 3}


def cut(then: object, at: object = AFTER_THREE) -> dict[str, object]:
    return {"version": 1, "faults": [{"cut": {"at": at, "then": then}}]}


@contextlib.asynccontextmanager
async def proxied_stream(scenario: dict[str, object], *, server_tls=None) -> AsyncIterator[Proxied]:
    """In front of an origin that sends five events and then nothing."""
    async with (
        origin([*STREAMED, Ending.OPEN]) as served,
        proxy_on(scenario, served.url, server_tls=server_tls) as proxied,
    ):
        yield proxied
        seen = await served.request(1)
        await seen.gone.wait()
        assert seen.left is not None, "the upstream was not told"


async def h1(proxied: Proxied, context=None, last: bytes = b"") -> RawClient:
    """`last`: what a connection that stays open is read up to."""
    async with await RawClient.connect("127.0.0.1", proxied.port, context) as client:
        await client.send(GET)
        await (client.read_last(last) if last else client.read_all())
    return client


@contextlib.asynccontextmanager
async def h2(proxied: Proxied, context=None) -> AsyncIterator[H2Peer]:
    async with h2_client(await dial.connect("127.0.0.1", proxied.port, context)) as client:
        await client.request(1)
        yield client


TABLE_H1 = [
    ("abort", Ending.FIN, THREE, "fin"),
    ("clean", Ending.OPEN, THREE + LAST, "clean"),
    ("fin", Ending.FIN, THREE, "fin"),
    ("rst", Ending.RST, THREE, "rst"),
    ({"stream": "CANCEL"}, Ending.FIN, THREE, "fin"),
    ({"goaway": "NO_ERROR"}, Ending.FIN, THREE, "fin"),
    ({"status": 504}, Ending.FIN, THREE, "fin"),
    ("no_close_notify", Ending.FIN, THREE, "fin"),
    ("fin_mid_chunk", Ending.FIN, THREE + b"10\r\n", "fin_mid_chunk"),
]


@pytest.mark.parametrize(("then", "ending", "body", "how"), TABLE_H1, ids=lambda value: str(value)[:24])
async def test_h1(then, ending, body, how):
    async with proxied_stream(cut(then)) as proxied:
        client = await h1(proxied, last=body if ending is Ending.OPEN else b"")
        assert (client.head + b"\r\n\r\n", client.body, client.ending or Ending.OPEN) == (HEAD, body, ending)
        record = await proxied.last()
    assert (record.end.by, record.end.how, record.end.cause) == ("proxy", how, "cut")
    assert (record.upstream.end.by, record.upstream.end.how, record.upstream.end.cause) == ("proxy", "fin", "cut")
    assert (record.response.events_out, record.response.bytes_out) == (3, 27)
    assert [(fired.fault, fired.hop) for fired in record.faults] == [("cut", 0)]


TABLE_TLS = [
    *((then, ending, body, how) for then, ending, body, how in TABLE_H1 if then not in ("no_close_notify", "clean")),
    ("no_close_notify", Ending.NO_CLOSE_NOTIFY, THREE, "no_close_notify"),
    (["no_close_notify", "rst"], Ending.NO_CLOSE_NOTIFY, THREE, "no_close_notify"),
]


@pytest.mark.parametrize(("then", "ending", "body", "how"), TABLE_TLS, ids=lambda value: str(value)[:24])
async def test_h1_under_tls(then, ending, body, how, certificates):
    async with proxied_stream(cut(then), server_tls=certificates.server) as proxied:
        client = await h1(proxied, certificates.client("http/1.1"))
        assert (client.body, client.ending) == (body, ending)
        record = await proxied.last()
    assert (record.end.by, record.end.how, record.end.cause) == ("proxy", how, "cut")


TABLE_H2 = [
    ("abort", 0x2, "stream:INTERNAL_ERROR"),
    ("fin_mid_chunk", 0x2, "stream:INTERNAL_ERROR"),
    ({"stream": "CANCEL"}, 0x8, "stream:CANCEL"),
    ({"stream": "REFUSED_STREAM"}, 0x7, "stream:REFUSED_STREAM"),
    ({"stream": "NO_ERROR"}, 0x0, "stream:NO_ERROR"),
    ("clean", None, "clean"),
]


@pytest.mark.parametrize("under_tls", [False, True], ids=["h2c", "tls"])
@pytest.mark.parametrize(("then", "code", "how"), TABLE_H2, ids=lambda value: str(value)[:24])
async def test_h2_stream(then, code, how, under_tls, certificates):
    context = certificates.client("h2") if under_tls else None
    async with (
        proxied_stream(cut(then), server_tls=certificates.server if under_tls else None) as proxied,
        h2(proxied, context) as client,
    ):
        stream = client.streams[1]
        await client.until(lambda: stream.over)
        assert [payload for _, payload in stream.frames] == EVENTS[:3]
        assert (stream.reset, stream.ended) == (code, then == "clean")
        record = await proxied.last()
        await client.ping()
        await client.until(lambda: client.pongs)  # the connection lives
    assert (record.end.by, record.end.how, record.end.cause) == ("proxy", how, "cut")


@pytest.mark.parametrize(
    ("then", "ending", "how"),
    [
        ("fin", Ending.FIN, "fin"),
        ("rst", Ending.RST, "rst"),
        ("no_close_notify", Ending.NO_CLOSE_NOTIFY, "no_close_notify"),
    ],
)
async def test_h2_connection(then, ending, how, certificates):
    scenario = {"version": 1, "rules": [{"match": {"path": "/"}, "faults": cut(then)["faults"]}]}
    async with (
        proxied_stream(scenario, server_tls=certificates.server) as proxied,
        h2(proxied, certificates.client("h2")) as client,
    ):
        await client.request(3, "/sibling")
        assert await client.until_ended() == ending
        assert [payload for _, payload in client.streams[1].frames] == EVENTS[:3]
        assert not client.streams[1].over
        assert not client.streams[3].ended
        first, second = sorted(await proxied.finished(2), key=lambda record: record.client.stream)
    assert (first.end.by, first.end.how, first.end.cause) == ("proxy", how, "cut")
    assert (second.end.by, second.end.how, second.end.cause) == ("proxy", how, "connection")


async def test_silence_on_h1_keeps_the_socket_and_the_clients_leaving_is_noticed():
    async with proxied_stream(cut("silence")) as proxied:
        async with await RawClient.connect("127.0.0.1", proxied.port) as client:
            await client.send(GET)
            assert await client.read_last(THREE) is Ending.OPEN
            assert client.body == THREE
            assert proxied.exchanges == []
        record = await proxied.last()
    assert (record.end.by, record.end.how, record.end.cause) == ("client", "fin", "cut")
    assert record.upstream.end.cause == "cut"
    assert record.times.client_closed is not None


async def test_silence_on_h2_is_of_that_stream_alone():
    scenario = {"version": 1, "rules": [{"nth": 1, "faults": cut("silence")["faults"]}]}
    async with (
        origin([*STREAMED, Ending.OPEN], [*STREAMED, LAST]) as served,
        proxy_on(scenario, served.url) as proxied,
        h2(proxied) as client,
    ):
        await client.until(lambda: len(client.streams[1].frames) == 3)
        await client.request(3)
        await client.until(lambda: client.streams[3].ended)
        assert (client.streams[1].body, client.streams[1].over) == (b"".join(EVENTS[:3]), False)
        await client.reset(1)
        record = await proxied.last(2)
    assert (record.end.by, record.end.how, record.end.cause) == ("client", "stream:CANCEL", "cut")


@pytest.mark.parametrize(
    ("last", "survives"),
    [(0, []), ("first", [1]), ("current", [1, 3]), ("max", [1, 3, 5])],
    ids=str,
)
async def test_goaway_kills_what_is_above_its_last_stream(last, survives):
    scenario = {
        "version": 1,
        "rules": [{"match": {"path": "/cut"}, "faults": cut({"goaway": "ENHANCE_YOUR_CALM", "last": last})["faults"]}],
    }
    rest = [*STREAMED[1:], LAST]
    go, go_on = trio.Event(), trio.Event()
    async with (
        origin([HEAD, go_on, *rest], [HEAD, go, *rest], [HEAD, go_on, *rest]) as served,
        proxy_on(scenario, served.url) as proxied,
        h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client,
    ):
        for number, path in ((1, "/"), (3, "/cut"), (5, "/")):
            await client.request(number, path)
            await client.until(lambda number=number: client.streams[number].heads)
        go.set()
        await client.until(lambda: client.goaways)
        go_on.set()
        await client.until_ended(0.5 if survives else 5)
        number = {0: 0, "first": 1, "current": 3, "max": 2**31 - 1}[last]
        assert client.goaways[0] == (0xB, number)
        assert [one for one in (1, 3, 5) if client.streams[one].ended] == survives
        for one in survives:
            assert client.streams[one].body == b"".join(EVENTS)
        records = {record.client.stream: record for record in await proxied.finished(3)}
    assert {one for one in (1, 3, 5) if records[one].end.how == "clean"} == set(survives)
    for dead in {1, 3, 5} - set(survives):
        assert records[dead].end.by == "proxy"
        assert records[dead].end.how == "goaway:ENHANCE_YOUR_CALM"
        assert records[dead].end.cause == ("cut" if dead == 3 else "connection")
