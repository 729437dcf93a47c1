"""`compress` on real sockets: what a client can decode of what has come, over both versions of HTTP."""

import zlib

import pytest
import trio

from chaosproxy.testing.h2_origin import h2_origin
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, Pause, RawClient, origin
from chaosproxy.testing.proxied import proxy_on
from chaosproxy.wire import dial
from tests.faults.decoding import CODINGS, Decoder

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENTS = [b"data: token %d\n\n" % number for number in range(3)]
LAST = b"0\r\n\r\n"
REQUEST = [(b":method", b"GET"), (b":scheme", b"http"), (b":path", b"/"), (b":authority", b"x")]


def chunk(event: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(event), event)


def asking(coding: str = "gzip", method: str = "GET") -> bytes:
    return f"{method} /s HTTP/1.1\r\nHost: x\r\nAccept-Encoding: {coding}\r\n\r\n".encode()


def compress(**parameters: object) -> dict[str, object]:
    return {"version": 1, "faults": [{"compress": parameters}]}


def unchunked(body: bytes) -> list[bytes]:
    """The chunks that are whole."""
    chunks = []
    while b"\r\n" in body:
        size, _, rest = body.partition(b"\r\n")
        length = int(size, 16)
        if len(rest) < length + 2 or not length:
            break
        chunks.append(rest[:length])
        body = rest[length + 2 :]
    return chunks


def readable(client: RawClient, coding: str) -> bytes:
    decoder = Decoder(coding)
    return b"".join(decoder.feed(one) for one in unchunked(client.body))


async def until_readable(client: RawClient, coding: str, text: bytes) -> None:
    with trio.fail_after(10):
        while readable(client, coding) != text:
            assert await client.read(), (client.ending, client.received)


@pytest.mark.parametrize("coding", CODINGS)
async def test_sync_gives_each_event_before_the_next_is_sent(coding):
    go = [trio.Event() for _ in EVENTS]
    script = [HEAD, *(step for event, gate in zip(EVENTS, go, strict=True) for step in (chunk(event), gate)), LAST]
    async with (
        origin(script) as served,
        proxy_on(compress(coding=coding, flush="sync"), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(asking(coding))
        for number, gate in enumerate(go, 1):
            await until_readable(client, coding, b"".join(EVENTS[:number]))
            assert len(unchunked(client.body)) == number
            gate.set()
        await client.read_until(LAST)
        record = await proxied.last()
    assert b"Content-Encoding: " + coding.encode() in client.head
    assert b"Vary: Accept-Encoding" in client.head
    assert (record.response.events_in, record.response.events_out) == (3, None)
    assert (record.times.first_event_out, record.times.last_event_out) == (None, None)
    assert record.response.bytes_in == sum(map(len, EVENTS))
    assert record.response.bytes_out == sum(map(len, unchunked(client.body)))
    assert (record.end.how, record.faults[0].detail) == ("clean", f"{coding}, flush sync")


async def test_one_behind_gives_the_one_before():
    go = [trio.Event() for _ in EVENTS]
    script = [HEAD, *(step for event, gate in zip(EVENTS, go, strict=True) for step in (chunk(event), gate)), LAST]
    async with (
        origin(script) as served,
        proxy_on(compress(flush="one_behind"), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(asking())
        await client.read_until(b"\r\n\r\n")
        for number, gate in enumerate(go):
            await until_readable(client, "gzip", b"".join(EVENTS[:number]))
            gate.set()
        await until_readable(client, "gzip", b"".join(EVENTS))
        assert len(unchunked(client.body)) == len(EVENTS)
        assert b"Accept-Encoding" not in served.requests[0].head  # it has to read records
        record = await proxied.last()
    assert record.upstream.removed == ["accept-encoding"]


@pytest.mark.parametrize("coding", CODINGS)
async def test_end_gives_nothing_but_the_head_before_the_end(coding):
    paced = [step for event in EVENTS for step in (chunk(event), Pause(0.05))]
    async with (
        origin([HEAD, *paced, LAST]) as served,
        proxy_on(compress(coding=coding, flush="end"), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(asking(coding))
        await client.read_until(LAST)
        record = await proxied.last()
    assert len(unchunked(client.body)) == 1
    assert readable(client, coding) == b"".join(EVENTS)
    arrivals = [time for time, _ in record.arrivals]
    ((delivered, _),) = record.deliveries
    assert delivered - arrivals[0] >= 0.1
    assert delivered >= arrivals[-1]
    assert record.times.head_sent <= arrivals[0]


async def test_without_a_footer_the_message_ends_cleanly_and_the_trailer_is_missing():
    async with (
        origin([HEAD, *map(chunk, EVENTS), LAST]) as served,
        proxy_on(compress(footer=False), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(asking())
        await client.read_until(LAST)
        record = await proxied.last()
    decoder = zlib.decompressobj(31)
    assert decoder.decompress(b"".join(unchunked(client.body))) == b"".join(EVENTS)
    assert not decoder.eof
    assert (record.end.by, record.end.how) == ("upstream", "clean")


async def test_not_accepted_every_byte_is_as_without():
    async with (
        origin([HEAD, *map(chunk, EVENTS), LAST]) as served,
        proxy_on(compress(), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(asking("br"))
        await client.read_until(LAST)
        record = await proxied.last()
    assert client.received == HEAD + b"".join(map(chunk, EVENTS)) + LAST
    assert [(one.fault, one.reason) for one in record.not_fired] == [("compress", "not accepted")]
    assert (record.response.events_in, record.response.events_out) == (3, 3)


async def test_a_length_goes_whatever_the_versions():
    """From HTTP/2 too, where a length that is wrong makes the answer malformed (RFC 9113 section 8.1.1)."""

    async def answer(peer, stream) -> None:
        await peer.headers(stream, [(b":status", b"200"), (b"content-length", b"30"), (b"etag", b'"1"')])
        await peer.data(stream, b"x" * 30, end=True)

    async with h2_origin(answer) as url, proxy_on(compress(), url) as proxied:
        async with await RawClient.connect("127.0.0.1", proxied.port) as client:
            await client.send(asking())
            await client.read_until(LAST)
        async with h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as peer:
            await peer.headers(1, [*REQUEST, (b"accept-encoding", b"gzip")], end=True)
            await peer.until(lambda: peer.streams[1].over)
            stream = peer.streams[1]
    assert b"ength" not in client.head
    assert readable(client, "gzip") == b"x" * 30
    assert dict(stream.heads[0]) == {
        b":status": b"200",
        b"etag": b'W/"1"',
        b"content-encoding": b"gzip",
        b"vary": b"Accept-Encoding",
    }
    assert zlib.decompress(stream.body, 31) == b"x" * 30


@pytest.mark.parametrize("coding", CODINGS)
async def test_over_h2_each_flush_is_a_frame_and_siblings_are_on_their_own(coding):
    go = [trio.Event() for _ in EVENTS]

    async def answer(peer, stream) -> None:
        await peer.headers(stream, [(b":status", b"200"), (b"content-type", b"text/event-stream")])
        for event, gate in zip(EVENTS, go, strict=True):
            await peer.data(stream, event)
            await gate.wait()
        await peer.data(stream, b"", end=True)

    async with (
        h2_origin(answer) as url,
        proxy_on(compress(coding=coding, flush="sync"), url) as proxied,
        h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as peer,
    ):
        for stream in (1, 3):
            await peer.headers(stream, [*REQUEST, (b"accept-encoding", coding.encode())], end=True)
        for number, gate in enumerate(go, 1):
            for stream in (1, 3):
                await peer.until(lambda stream=stream, number=number: len(peer.streams[stream].frames) == number)
                assert Decoder(coding).feed(peer.streams[stream].body) == b"".join(EVENTS[:number])
            gate.set()
        await peer.until(lambda: peer.streams[1].over and peer.streams[3].over)
        assert peer.streams[1].ended
        assert peer.streams[1].body == peer.streams[3].body


async def test_head_has_the_head_of_get():
    get = b'HTTP/1.1 200 OK\r\nContent-Length: 30\r\nETag: "1"\r\n\r\n'
    async with origin([get], [get, b"x" * 30]) as served, proxy_on(compress(), served.url) as proxied:
        heads = []
        for method in ("HEAD", "GET"):
            async with await RawClient.connect("127.0.0.1", proxied.port) as client:
                await client.send(asking(method=method))
                await client.read_until(b"\r\n\r\n" if method == "HEAD" else LAST)
                heads.append([line for line in client.head.split(b"\r\n") if not line.startswith(b"Transfer-")])
                assert (client.body == b"") is (method == "HEAD")
    assert heads[0] == heads[1]
    assert b"Content-Encoding: gzip" in heads[0]


async def test_a_request_arrives_coded_without_its_length():
    async with (
        origin([b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"]) as served,
        proxy_on(compress(way="request"), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
        await client.read_until(b"ok")
        seen = await served.request(1)
        record = await proxied.last()
    assert b"Content-Length" not in seen.head
    assert b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked" in seen.head
    assert zlib.decompress(b"".join(unchunked(seen.body)), 31) == b"hello"
    assert (record.request.bytes, record.response.bytes_out) == (5, 2)


async def test_an_abort_of_the_upstream_leaves_a_coded_body_that_is_not_whole():
    async with (
        origin([HEAD, *map(chunk, EVENTS), Ending.FIN]) as served,
        proxy_on(compress(flush="sync"), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(asking())
        assert await client.read_all() is Ending.FIN
    assert not client.received.endswith(LAST)
    assert readable(client, "gzip") == b"".join(EVENTS)
