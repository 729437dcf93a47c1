"""A client that does not read: `timeout: {blocked: ...}` ends it, the upstream at once, and what was not sent is lost."""

import pytest
import trio

from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, Origin, Pause, RawClient
from chaosproxy.testing.proxied import linked

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
SIZE = 10_000
CHUNK = b"%x\r\n%b\r\n" % (SIZE, bytes(SIZE))
FLOOD = [HEAD, *[CHUNK] * 100, b"0\r\n\r\n"]
LIMITED = {"version": 1, "faults": [{"timeout": {"blocked": "2s", "then": [{"stream": "PROTOCOL_ERROR"}]}}]}


async def test_over_http1_it_is_a_fin_behind_what_the_socket_had_taken(autojump_clock):
    served = Origin(FLOOD)
    async with linked(LIMITED, served.serve, room=4096) as proxied, RawClient(proxied.connect()) as client:
        began = trio.current_time()
        await client.send(GET)
        await (await served.request(1)).gone.wait()
        assert trio.current_time() - began == pytest.approx(2)
        record = await proxied.last(within=100)
        assert (record.end.by, record.end.how, record.end.cause) == ("proxy", "fin", "timeout:blocked")
        assert record.times.end == pytest.approx(2)
        assert await client.read_all(within=1000) is Ending.FIN
        assert len(client.received) <= 4096
        assert not client.received.endswith(b"0\r\n\r\n")


async def test_over_http2_its_stream_is_reset_and_its_siblings_go_on(autojump_clock):
    served = Origin(FLOOD, [HEAD, Pause(5), b"5\r\nhello\r\n0\r\n\r\n"])
    async with (
        linked(LIMITED, served.serve) as proxied,
        h2_client(proxied.connect()) as client,
    ):
        client.stalled.add(1)
        began = trio.current_time()
        await client.request(1, "/")
        await served.request(1)
        await client.request(3, "/")
        await client.until(lambda: client.streams[1].over, within=100)
        assert trio.current_time() - began == pytest.approx(2)
        assert (client.streams[1].reset, len(client.streams[1].body)) == (1, 65_535)
        await client.until(lambda: client.streams[3].over, within=100)
        assert (client.streams[3].body, client.streams[3].ended) == (b"hello", True)
        assert client.goaways == []


@pytest.mark.parametrize(("then", "ending"), [("rst", Ending.RST), ("fin", Ending.FIN)])
async def test_over_http2_the_connection_may_end_for_it_at_once(autojump_clock, then, ending):
    served = Origin(FLOOD)
    limited = {"version": 1, "faults": [{"timeout": {"blocked": "2s", "then": then}}]}
    async with linked(limited, served.serve) as proxied, h2_client(proxied.connect()) as client:
        client.stalled.add(1)
        began = trio.current_time()
        await client.request(1, "/")
        assert await client.until_ended(100) is ending
        assert trio.current_time() - began == pytest.approx(2)
        assert not client.streams[1].ended


async def test_who_reads_slowly_is_left_alone(autojump_clock):
    """100 KB a second: whatever waits, in two places of 64 KiB, is gone in time."""
    served = Origin(FLOOD)
    async with linked(LIMITED, served.serve, room=10_000) as proxied, RawClient(proxied.connect()) as client:
        await client.send(GET)
        while not client.received.endswith(b"0\r\n\r\n"):
            data = await client.read()
            assert data
            await trio.sleep(len(data) / 100_000)
        record = await proxied.last(within=100)
    assert record.end.how == "clean"
    assert record.times.end > 8
