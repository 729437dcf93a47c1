"""`broken_end` and `cork` on real sockets: a truncated answer that looks whole, a FIN that comes late, chunks in one write."""

import pytest
import trio

from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, RawClient, origin
from chaosproxy.testing.proxied import proxy_on
from chaosproxy.wire import dial
from tests.loopback.speaking import faults

GET = b"GET /s HTTP/1.1\r\nHost: x\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
LENGTH = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 100\r\n\r\n"
EVENT = b"data: 1\n\n"
CHUNK = b"9\r\n" + EVENT + b"\r\n"
LAST = b"0\r\n\r\n"


@pytest.mark.parametrize("ending", [Ending.FIN, Ending.RST])
async def test_over_http1_it_looks_whole_and_the_connection_goes_on(ending):
    async with (
        origin([HEAD, CHUNK, ending], [HEAD, CHUNK, LAST]) as served,
        proxy_on(faults({"broken_end": "clean"}), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        for number in (1, 2):
            await client.send(GET)
            with trio.fail_after(20):
                while client.received.count(LAST) < number:
                    assert await client.read()
        assert client.received == 2 * (HEAD + CHUNK + LAST)
        first, second = await proxied.finished(2)
    assert (first.end.by, first.end.how, first.end.cause) == ("proxy", "clean", f"upstream:{ending}")
    assert (first.upstream.end.by, first.upstream.end.how) == ("upstream", ending)
    assert (second.end.by, second.end.how) == ("upstream", "clean")


@pytest.mark.parametrize("script", [[HEAD, CHUNK], [LENGTH, EVENT]], ids=["chunked", "length"])
async def test_over_http2_end_stream_hides_it_and_over_http1_nothing_does(script):
    async with (
        origin([*script, Ending.RST]) as served,
        proxy_on(faults({"broken_end": ["end_stream", "abort"]}), served.url) as proxied,
        h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client,
        await RawClient.connect("127.0.0.1", proxied.port) as old,
    ):
        await client.request(1)
        stream = client.streams[1]
        await client.until(lambda: stream.over)
        assert (stream.body, stream.ended, stream.reset) == (EVENT, True, None)
        await old.send(GET)
        assert await old.read_all() is Ending.FIN
        assert old.body == (CHUNK if script[0] is HEAD else EVENT)
        assert [record.end.how for record in await proxied.finished(2)] == ["clean", "fin"]


async def test_a_fin_that_comes_later_than_the_upstreams():
    async with (
        origin([HEAD, CHUNK, Ending.FIN]) as served,
        proxy_on(faults({"broken_end": {"delay": "300ms"}}), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(GET)
        assert await client.read_all() is Ending.FIN
        assert client.body == CHUNK
        record = await proxied.last()
    assert record.times.end - record.times.upstream_closed >= 0.3
    assert (record.end.by, record.end.how, record.end.cause) == ("upstream", "fin", "upstream:fin")


async def test_what_was_gathered_leaves_in_one_write_chunk_by_chunk():
    async with (
        origin([HEAD, CHUNK, CHUNK, LAST]) as served,
        proxy_on(faults({"cork": "30s"}), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(GET)
        await client.read_until(LAST)
        assert [data for _, data in client.pieces] == [HEAD + CHUNK + CHUNK + LAST]
        record = await proxied.last()
    assert [one.fault for one in record.faults] == ["cork"]
