"""Where an ending falls: before the head, inside a chunk, behind the last byte; and which head the client has seen then."""

import pytest
import trio

from chaosproxy.testing.h2_origin import h2_origin
from chaosproxy.testing.h2_peers import H2Peer, h2_client
from chaosproxy.testing.peers import Ending, RawClient, origin
from chaosproxy.testing.proxied import proxy_on
from chaosproxy.wire import dial

GET = b"GET /s HTTP/1.1\r\nHost: x\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
LENGTH = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"
PLAIN = b"HTTP/1.1 200 OK\r\n\r\n"
CHUNK = b"a\r\n0123456789\r\n"
LAST = b"0\r\n\r\n"


def cut(then: object, at: object) -> dict[str, object]:
    return {"version": 1, "faults": [{"cut": {"at": at, "then": then}}]}


async def over_h1(script, scenario, last=b""):
    async with (
        origin(script) as served,
        proxy_on(scenario, served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(GET)
        await (client.read_last(last) if last else client.read_all())
        return client, await proxied.last(), served


async def over_h2(script, scenario):
    async with (
        origin(script) as served,
        proxy_on(scenario, served.url) as proxied,
        h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client,
    ):
        await client.request(1)
        await client.until(lambda: client.streams[1].over)
        return client.streams[1], await proxied.last()


@pytest.mark.parametrize(
    ("then", "ending", "how"),
    [("abort", Ending.FIN, "fin"), ("rst", Ending.RST, "rst"), ("fin_mid_chunk", Ending.FIN, "fin")],
)
async def test_at_the_request_nothing_is_dialled_and_nothing_answered(then, ending, how):
    client, record, served = await over_h1([HEAD, CHUNK, LAST], cut(then, "request"))
    assert (client.received, client.ending) == (b"", ending)
    assert served.connections == 0
    assert (record.end.by, record.end.how, record.end.cause) == ("proxy", how, "cut")
    assert record.upstream.connection is None


async def test_at_the_request_with_a_status_it_is_an_answer():
    client, record, served = await over_h1([HEAD, LAST], cut({"status": 503, "body": "no\n"}, "request"), b"no\n")
    assert client.head.startswith(b"HTTP/1.1 503 ")
    assert client.body == b"no\n"
    assert client.ending is None  # keep-alive
    assert (record.end.by, record.end.how, record.end.cause) == ("proxy", "clean", "cut")
    assert (record.response.status, served.connections) == (503, 0)


async def test_before_the_body_the_client_has_the_head_and_nothing_else():
    client, record, _ = await over_h1([HEAD, CHUNK, Ending.OPEN], cut("abort", "body"))
    assert (client.received, client.ending) == (HEAD, Ending.FIN)
    assert record.response.bytes_out == 0


@pytest.mark.parametrize(
    ("script", "seen"),
    [
        ([HEAD, CHUNK, Ending.OPEN], HEAD + b"4\r\n0123\r\n"),
        ([LENGTH, b"0123456789", Ending.OPEN], LENGTH + b"0123"),
        ([PLAIN, b"0123456789", Ending.OPEN], PLAIN + b"0123"),
    ],
    ids=["chunked", "length", "close"],
)
async def test_inside_a_chunk_the_bytes_before_the_place_go_out(script, seen):
    client, record, _ = await over_h1(script, cut("abort", {"bytes": 4}))
    assert (client.received, client.ending) == (seen, Ending.FIN)
    assert (record.response.bytes_out, record.faults[0].detail) == (4, "abort after byte 4")


async def test_fin_mid_chunk_keeps_the_size_that_the_upstream_announced():
    client, record, _ = await over_h1([HEAD, CHUNK, Ending.OPEN], cut("fin_mid_chunk", {"bytes": 4}))
    assert (client.received, client.ending) == (HEAD + b"a\r\n0123", Ending.FIN)
    assert record.end.how == "fin_mid_chunk"


@pytest.mark.parametrize(
    ("script", "then", "how"),
    [([LENGTH, b"0123456789"], "fin_mid_chunk", "fin"), ([PLAIN, b"0123456789", Ending.FIN], "fin_mid_chunk", "fin")],
)
async def test_fin_mid_chunk_without_chunks_is_a_fin(script, then, how):
    client, record, _ = await over_h1(script, cut(then, {"bytes": 4}))
    assert (client.body, client.ending, record.end.how) == (b"0123", Ending.FIN, how)


async def test_clean_before_the_length_is_reached_is_impossible():
    client, record, _ = await over_h1([LENGTH, b"0123456789"], cut(["clean", "rst"], {"bytes": 4}))
    assert (client.body, client.ending, record.end.how) == (b"0123", Ending.RST, "rst")


async def test_clean_of_a_close_delimited_body_is_a_fin():
    client, record, _ = await over_h1([PLAIN, b"0123456789", Ending.OPEN], cut("clean", {"bytes": 4}))
    assert (client.body, client.ending) == (b"0123", Ending.FIN)
    assert (record.end.by, record.end.how) == ("proxy", "clean")


@pytest.mark.parametrize(
    ("then", "tail", "ending"),
    [("abort", b"", Ending.FIN), ("rst", b"", Ending.RST), ("fin_mid_chunk", b"10\r\n", Ending.FIN)],
)
async def test_behind_the_last_byte_the_last_chunk_is_missing(then, tail, ending):
    client, record, _ = await over_h1([HEAD, CHUNK, LAST], cut(then, "end"))
    assert (client.received, client.ending) == (HEAD + CHUNK + tail, ending)
    assert (record.end.by, record.response.bytes_out) == ("proxy", 10)
    assert (record.upstream.end.by, record.upstream.end.how) == ("upstream", "clean")


async def test_an_ending_in_front_of_the_head_at_a_time():
    client, record, _ = await over_h1([Ending.OPEN], cut("rst", {"time": "50ms"}))
    assert (client.received, client.ending) == (b"", Ending.RST)
    assert record.response.status is None
    assert record.times.end >= 0.05


@pytest.mark.parametrize(("at", "body"), [("body", b""), ({"bytes": 4}, b"0123"), ("end", b"0123456789")])
async def test_the_same_places_over_h2(at, body):
    stream, record = await over_h2([HEAD, CHUNK, LAST], cut({"stream": "CANCEL"}, at))
    assert (stream.status, stream.body, stream.reset, stream.ended) == (200, body, 0x8, False)
    assert (record.end.by, record.end.how, record.end.cause) == ("proxy", "stream:CANCEL", "cut")


async def test_before_the_head_over_h2():
    stream, record = await over_h2([HEAD, CHUNK, LAST], cut("abort", "request"))
    assert (stream.status, stream.reset) == (None, 0x2)
    assert record.upstream.connection is None


async def test_side_client_lets_the_upstream_finish():
    go_on = trio.Event()
    async with (
        origin([HEAD, CHUNK, go_on, CHUNK, LAST]) as served,
        proxy_on(
            {"version": 1, "faults": [{"cut": {"at": {"chunk": 1}, "then": "rst", "side": "client"}}]}, served.url
        ) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(GET)
        assert await client.read_all() is Ending.RST
        assert client.body == CHUNK
        go_on.set()
        record = await proxied.last()
        assert (await served.request(1)).left is None
    assert (record.end.how, record.upstream.end.by, record.upstream.end.how) == ("rst", "upstream", "clean")
    assert (record.response.bytes_in, record.response.bytes_out) == (20, 10)


async def test_fin_mid_chunk_of_a_body_that_comes_over_h2():
    async def answer(peer: H2Peer, stream: int) -> None:
        await peer.headers(stream, [(":status", "200"), ("content-type", "text/plain")])
        await peer.data(stream, b"0123456789")

    async with (
        h2_origin(answer) as url,
        proxy_on(cut("fin_mid_chunk", {"bytes": 4}), url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(GET)
        await client.read_all()
        assert (client.body, client.ending) == (b"a\r\n0123", Ending.FIN)
        assert (await proxied.last()).end.how == "fin_mid_chunk"


async def test_fin_mid_chunk_to_a_client_of_http_1_0_is_a_fin():
    async with (
        origin([HEAD, CHUNK, Ending.OPEN]) as served,
        proxy_on(cut("fin_mid_chunk", {"bytes": 4}), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(b"GET /s HTTP/1.0\r\nHost: x\r\n\r\n")
        await client.read_all()
        assert (client.body, client.ending) == (b"0123", Ending.FIN)
        assert (await proxied.last()).end.how == "fin"
