"""`cache` and `route` on real sockets, over both versions of HTTP: what one exchange leaves behind for another."""

from chaosproxy.testing.h2_origin import h2_origin
from chaosproxy.testing.h2_peers import H2Peer
from chaosproxy.testing.peers import Ending, origin
from chaosproxy.testing.proxied import proxy_on
from tests.loopback.speaking import connected, faults, h2

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
ONE = b"9\r\ndata: 1\n\n\r\n"
LAST = b"0\r\n\r\n"
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
OK = [(b":status", b"200"), (b"content-type", b"text/event-stream")]
INTERNAL = 0x2


# ---- cache


async def test_what_broke_off_for_the_first_is_whole_for_the_second():
    async with (
        origin([HEAD, ONE, Ending.FIN]) as served,
        proxy_on(faults({"cache": {}}), served.url) as proxied,
        await connected(proxied) as first,
        await connected(proxied) as second,
    ):
        await first.send(GET)
        assert await first.read_all() is Ending.FIN
        assert first.body == ONE
        await second.send(GET)
        await second.read_until(LAST)
        broken, kept = await proxied.finished(2)
    assert second.body == ONE + LAST
    assert b"\r\nage: 0\r\n" in second.head + b"\r\n"
    assert len(served.requests) == 1
    assert (broken.end.by, broken.end.how, broken.end.cause) == ("upstream", "fin", "upstream:fin")
    assert (kept.end.by, kept.end.how, kept.end.cause) == ("proxy", "clean", "cache")
    assert (kept.upstream.url, kept.response.bytes_out) == (None, 9)
    assert [one.detail for one in broken.faults] == ["stored, broken off: 9 bytes"]


async def test_over_http2_a_stream_that_was_reset_ends_well_for_the_next():
    asked: list[int] = []

    async def answer(peer: H2Peer, stream: int) -> None:
        asked.append(stream)
        await peer.headers(stream, OK)
        await peer.data(stream, b"data: 1\n\n")
        await peer.reset(stream, INTERNAL)

    async with h2_origin(answer) as url, proxy_on(faults({"cache": {}}), url) as proxied, h2(proxied) as client:
        await client.request(1)
        await client.until(lambda: client.streams[1].over)
        await client.request(3)
        await client.until(lambda: client.streams[3].over)
    assert (client.streams[1].reset, client.streams[1].body) == (INTERNAL, b"data: 1\n\n")
    assert (client.streams[3].reset, client.streams[3].ended, client.streams[3].body) == (None, True, b"data: 1\n\n")
    assert asked == [1]


# ---- route


async def test_the_second_request_of_a_session_lands_where_nobody_knows_it():
    named = b"HTTP/1.1 200 OK\r\nMcp-Session-Id: s1\r\nContent-Length: 2\r\n\r\nok"
    of_session = b"POST /mcp HTTP/1.1\r\nHost: x\r\nMcp-Session-Id: s1\r\nContent-Length: 2\r\n\r\n{}"
    async with (
        origin([named]) as served,
        proxy_on(faults({"route": {"replicas": 2}}), served.url) as proxied,
        await connected(proxied) as client,
    ):
        await client.send(GET)
        await client.read_until(b"\r\n\r\nok")
        await client.send(of_session)
        await client.read_until(b'"Session not found"')
        await client.send(of_session)
        records = await proxied.finished(3)
    assert [record.response.status for record in records] == [200, 404, 200]
    assert [one.detail for record in records for one in record.faults] == [
        "replica 1 of 2", "replica 2 of 2 does not know the session: answered 404", "replica 1 of 2",
    ]  # fmt: skip
    assert len(served.requests) == 2


async def test_all_streams_of_a_connection_are_with_one_replica():
    async def answer(peer: H2Peer, stream: int) -> None:
        await peer.headers(stream, OK, end=True)

    pinned = faults({"route": {"replicas": 2, "sticky": "connection"}})
    async with (
        h2_origin(answer) as url,
        proxy_on(pinned, url) as proxied,
        h2(proxied) as one,
        h2(proxied) as two,
    ):
        for client in (one, two):
            for stream in (1, 3, 5):
                await client.request(stream)
                await client.until(lambda client=client, stream=stream: client.streams[stream].over)
        records = await proxied.finished(6)
    assert [record.faults[0].detail for record in records] == ["replica 1 of 2"] * 3 + ["replica 2 of 2"] * 3
