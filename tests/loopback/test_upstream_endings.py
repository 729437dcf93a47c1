"""An answer that the upstream did not finish looks unfinished to every client; one that it did not begin is explained."""

import pytest
import trio

from chaosproxy.testing.h2_origin import h2_origin
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, RawClient, origin
from chaosproxy.testing.proxied import proxy_on
from chaosproxy.wire import dial, tls

GET = b"GET /s HTTP/1.1\r\nHost: x\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
LENGTH = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"
PLAIN = b"HTTP/1.1 200 OK\r\nX: y\r\n\r\n"
CHUNK = b"a\r\n0123456789\r\n"
TEN = b"0123456789"
OK = [(b":status", b"200"), (b"x", b"y")]
LAST = b"0\r\n\r\n"

TRUNCATED = {
    "chunked fin": ([HEAD, CHUNK, Ending.FIN], "fin"),
    "chunked fin in a chunk": ([HEAD, CHUNK, b"a\r\n0123", Ending.FIN], "fin"),
    "chunked fin in a size": ([HEAD, CHUNK, b"a", Ending.FIN], "fin"),
    "chunked fin before the last line": ([HEAD, CHUNK, b"0\r\n", Ending.FIN], "fin"),
    "chunked rst": ([HEAD, CHUNK, Ending.RST], "rst"),
    "length fin": ([LENGTH, TEN, Ending.FIN], "fin"),
    "length rst": ([LENGTH, TEN, Ending.RST], "rst"),
    "close rst": ([PLAIN, TEN, Ending.RST], "rst"),
}


@pytest.mark.parametrize(("script", "how"), TRUNCATED.values(), ids=TRUNCATED)
async def test_h1_to_h1(script, how):
    async with (
        origin(script) as served,
        proxy_on(None, served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(GET)
        assert await client.read_all() == Ending(how)
        assert TEN in client.body, "data before the ending is delivered first"
        assert not client.body.endswith(LAST)
        record = await proxied.last()
    assert (record.end.by, record.end.how, record.end.cause) == ("upstream", how, f"upstream:{how}")
    assert (record.upstream.end.by, record.upstream.end.how) == ("upstream", how)


@pytest.mark.parametrize(("script", "how"), TRUNCATED.values(), ids=TRUNCATED)
async def test_h1_to_h2(script, how):
    async with (
        origin(script) as served,
        proxy_on(None, served.url) as proxied,
        h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client,
    ):
        await client.request(1)
        stream = client.streams[1]
        await client.until(lambda: stream.over)
        assert (stream.body[:10], stream.reset, stream.ended) == (TEN, 0x2, False)
        record = await proxied.last()
    assert (record.end.by, record.end.how, record.end.cause) == (
        "upstream",
        "stream:INTERNAL_ERROR",
        f"upstream:{how}",
    )


async def test_a_close_delimited_body_ends_cleanly_with_its_fin():
    async with (
        origin([PLAIN, TEN, Ending.FIN]) as served,
        proxy_on(None, served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as first,
        h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as second,
    ):
        await first.send(GET)
        assert await first.read_all() is Ending.FIN
        assert first.received == PLAIN + TEN
        await second.request(1)
        await second.until(lambda: second.streams[1].over)
        assert (second.streams[1].body, second.streams[1].ended) == (TEN, True)
        assert [record.end.how for record in await proxied.finished(2)] == ["clean", "clean"]


@pytest.mark.parametrize("head", [HEAD, LENGTH, PLAIN], ids=["chunked", "length", "close"])
async def test_tls_without_close_notify_counts_as_a_fin(head, certificates):
    async with (
        origin([head, CHUNK, Ending.NO_CLOSE_NOTIFY], tls=certificates.server) as served,
        proxy_on(None, served.url, upstream_ca=certificates.ca) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(GET)
        assert await client.read_all() is Ending.FIN
        assert client.body == CHUNK
        record = await proxied.last()
    if head is PLAIN:
        assert (record.end.by, record.end.how) == ("upstream", "clean")
    else:
        assert (record.end.how, record.end.cause) == ("fin", "upstream:fin")


# ---- an h2 upstream


async def reset(peer, stream):
    await peer.reset(stream, 0xB)


async def fin(peer, _):
    await peer.leave(Ending.FIN)


async def rst(peer, _):
    await peer.leave(Ending.RST)


async def goaway(peer, _):
    await peer.goaway(0, 0xB)


H2_ENDINGS = [
    (reset, "stream:ENHANCE_YOUR_CALM", 0xB),
    (fin, "fin", 0x2),
    (rst, "rst", 0x2),
    (goaway, "goaway:ENHANCE_YOUR_CALM", 0x2),
]


@pytest.mark.parametrize(("end", "how", "code"), H2_ENDINGS, ids=lambda value: getattr(value, "__name__", ""))
async def test_h2_after_the_head(end, how, code):
    async def answer(peer, stream):
        await peer.headers(stream, OK)
        await peer.data(stream, TEN)
        await end(peer, stream)

    async with (
        h2_origin(answer) as url,
        proxy_on(None, url) as proxied,
        h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client,
        await RawClient.connect("127.0.0.1", proxied.port) as old,
    ):
        await client.request(1)
        stream = client.streams[1]
        await client.until(lambda: stream.over)
        assert (stream.body, stream.reset, stream.ended) == (TEN, code, False)
        record = await proxied.last()
        assert (record.end.by, record.end.cause) == ("upstream", f"upstream:{how}")
        assert record.end.how == ("stream:ENHANCE_YOUR_CALM" if code == 0xB else "stream:INTERNAL_ERROR")
        assert record.upstream.end.how == how
        await old.send(GET)
        assert await old.read_all() is Ending.FIN
        assert old.body == CHUNK, "never a last chunk"
        record = await proxied.last(2)
        assert (record.end.by, record.end.how, record.end.cause) == ("upstream", "fin", f"upstream:{how}")


@pytest.mark.parametrize(("end", "how", "code"), H2_ENDINGS, ids=lambda value: getattr(value, "__name__", ""))
async def test_h2_before_the_head(end, how, code):
    async def answer(peer, stream):
        await end(peer, stream)

    async with (
        h2_origin(answer) as url,
        proxy_on(None, url) as proxied,
        h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client,
        await RawClient.connect("127.0.0.1", proxied.port) as old,
    ):
        await client.request(1)
        stream = client.streams[1]
        await client.until(lambda: stream.over)
        if end is reset:
            assert (stream.status, stream.reset) == (None, code)
        else:
            assert (stream.status, stream.ended, stream.body.count(b"\n")) == (502, True, 1)
        await old.send(GET)
        await old.read_until(b"\r\n\r\n")
        while not old.body.endswith(b"\n"):
            await old.read()
        assert old.head.startswith(b"HTTP/1.1 502 ")
        assert old.body.endswith(b"\n")
        assert old.ending is None
        record = (await proxied.finished(2))[-1]
        assert (record.end.by, record.end.how, record.end.cause) == ("proxy", "clean", f"upstream:{how}")


async def test_goaway_spares_the_streams_at_or_below_its_last():
    go_on = trio.Event()

    async def answer(peer, stream):
        await peer.headers(stream, OK)
        if stream == 3:
            await peer.goaway(1)
        await go_on.wait()
        await peer.data(stream, TEN, end=True)

    async with (
        h2_origin(answer) as url,
        proxy_on(None, url) as proxied,
        h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client,
    ):
        for number in (1, 3):
            await client.request(number)
            await client.until(lambda number=number: client.streams[number].heads)
        await client.until(lambda: client.streams[3].over)
        assert client.streams[3].reset == 0x2
        go_on.set()
        await client.until(lambda: client.streams[1].over)
        assert (client.streams[1].body, client.streams[1].ended) == (TEN, True)
        await client.request(5)
        await client.until(lambda: client.streams[5].over)
        assert client.streams[5].ended
        records = await proxied.finished(3)
    assert {record.upstream.connection for record in records} == {1, 2}


# ---- answers of our own


@pytest.mark.parametrize(
    ("script", "cause", "said"),
    [
        ([Ending.FIN], "upstream:fin", b"closed the connection"),
        ([Ending.RST], "upstream:rst", b"reset the connection"),
        ([b"HTTP/1.1 200", Ending.FIN], "upstream:fin", b"closed the connection"),
        ([b"what?\r\n\r\n", Ending.FIN], "malformed", b"broke HTTP"),
    ],
    ids=["fin", "rst", "half a head", "no HTTP"],
)
async def test_no_answer_is_a_502_that_says_why(script, cause, said):
    async with (
        origin(script) as served,
        proxy_on(None, served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(GET)
        await client.read_until(said)
        assert client.head.startswith(b"HTTP/1.1 502 ")
        assert client.body.count(b"\n") == 1
        record = await proxied.last()
    assert (record.end.by, record.end.how, record.end.cause) == ("proxy", "clean", cause)
    assert record.response.status == 502


async def test_nobody_there_is_a_502_and_the_next_request_is_served():
    listening = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listening[0].socket.getsockname()[1]
    await listening[0].aclose()
    async with (
        proxy_on(None, f"http://127.0.0.1:{port}") as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        for number in (1, 2):
            await client.send(GET)
            record = await proxied.last(number)
            assert (record.end.by, record.end.how, record.end.cause) == ("proxy", "clean", "upstream:unreachable")
        while client.received.count(b"refused") < 2:
            assert await client.read()
        assert client.received.count(b"HTTP/1.1 502 ") == 2
        assert b"refused" in client.body


async def test_an_unknown_certificate_is_a_502(certificates, tmp_path):
    _, other = tls.server_context("auto", [], tmp_path / "other.pem")
    async with (
        origin([HEAD, LAST], tls=certificates.server) as served,
        proxy_on(None, served.url, upstream_ca=other) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(GET)
        await client.read_until(b"certificate")
        assert client.head.startswith(b"HTTP/1.1 502 ")


async def test_a_connection_that_takes_no_request_from_its_beginning_is_not_dialled_for_ever():
    async def never(peer, stream):
        pytest.fail("a request has been sent")

    gone = {"version": 1, "connections": [{"match": {"side": "upstream"}, "faults": [{"goaway": {"way": "response"}}]}]}
    async with (
        h2_origin(never) as url,
        proxy_on(gone, url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        with trio.fail_after(20):
            await client.send(GET)
            await client.read_until(b"just begun")
        assert client.head.startswith(b"HTTP/1.1 502 ")
        record = await proxied.last()
    assert (record.end.by, record.end.cause) == ("proxy", "upstream:unreachable")
