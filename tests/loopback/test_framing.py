"""`framing`, `chunk_syntax` and `linger` on real sockets: bytes, ends, and clients that believe them. Every variant is in
`tests/virtual/test_framing.py`."""

import http.client
import time

import pytest
import trio

from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, RawClient, origin
from chaosproxy.testing.proxied import proxy_on
from chaosproxy.wire import dial
from tests.loopback.speaking import faults

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
BODY = b"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"


def fetched(port: int) -> bytes | str:
    """The body, as the standard library's client reads it; or the name of what it raises."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request("GET", "/")
        return connection.getresponse().read()
    except http.client.HTTPException as error:
        return type(error).__name__
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("fault", "body", "seen"),
    [
        ({"framing": {"content_length": 100}}, b"hello world", "IncompleteRead"),
        ({"framing": {"content_length": 5}}, b"hello world", b"hello"),
        ({"framing": {"content_length": 11}}, b"hello world", b"hello world"),
        ({"framing": "close_delimited"}, b"hello world", b"hello world"),
        ({"framing": {"http": 1.0, "as": "chunked"}}, BODY, b"hello world"),
        ({"chunk_syntax": {"zeros": 3, "extension": "a=b"}}, b"0005;a=b\r\nhello\r\n0006;a=b\r\n world\r\n0000;a=b\r\n\r\n", b"hello world"),
        ({"chunk_syntax": {"empty_size": 2}}, b"5\r\nhello\r\n\r\n world\r\n0\r\n\r\n", "IncompleteRead"),
    ],
)  # fmt: skip
async def test_what_is_on_the_wire_and_what_a_client_makes_of_it(fault, body, seen):
    async with origin([HEAD, BODY]) as served, proxy_on(faults(fault), served.url) as proxied:
        async with await RawClient.connect("127.0.0.1", proxied.port) as client:
            await client.send(GET)
            await client.read_until(body)
            assert client.body == body
        assert await trio.to_thread.run_sync(fetched, proxied.port) == seen


async def test_a_length_that_lies_over_http2():
    async with (
        origin([HEAD, BODY]) as served,
        proxy_on(faults({"framing": {"content_length": 100}}), served.url) as proxied,
        h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client,
    ):
        await client.request(1, "/")
        await client.until(lambda: client.streams[1].over)
        stream = client.streams[1]
    assert (b"content-length", b"100") in stream.heads[-1]
    assert (stream.body, stream.ended) == (b"hello world", True)


@pytest.mark.parametrize(
    "script",
    [
        [HEAD, BODY],
        [b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n", b"hello world"],
        [b"HTTP/1.1 200 OK\r\n\r\n", b"hello world", Ending.FIN],
    ],
    ids=["chunked", "length", "close"],
)
async def test_the_fin_waits_behind_a_whole_answer(script):
    async with (
        origin(script) as served,
        proxy_on(faults({"linger": "300ms"}), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        began = time.monotonic()
        await client.send(GET)
        await client.read_until(b"world" if script[-1] != BODY else b"0\r\n\r\n")
        record = await proxied.last()  # for the journal it is over
        assert client.ending is None
        assert await client.read_all() is Ending.FIN
        assert time.monotonic() - began >= 0.3
    assert (record.end.by, record.end.how) == ("upstream", "clean")
    assert [fired.detail for fired in record.faults] == ["open for 300ms behind the end"]


async def test_under_tls_the_end_waits_too(certificates):
    async with (
        origin([b"HTTP/1.1 200 OK\r\n\r\n", b"hello world", Ending.FIN]) as served,
        proxy_on(faults({"linger": "300ms"}), served.url, server_tls=certificates.server) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port, certificates.client(), "127.0.0.1") as client,
    ):
        began = time.monotonic()
        await client.send(GET)
        await client.read_until(b"hello world")
        assert await client.read_all() is Ending.FIN
        assert time.monotonic() - began >= 0.3
