"""Resets: what is on the wire, and who notices."""

import trio

from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, Origin
from chaosproxy.testing.proxied import linked
from tests.incidents.readers import strict, trusting
from tests.virtual.shipped import stream, told

NO_ERROR, INTERNAL_ERROR = 0x0, 0x2


async def test_one_stream_is_reset_and_the_connection_lives(autojump_clock):
    served = Origin(stream(8, 1))
    async with linked("h2-reset", served.serve) as proxied, h2_client(proxied.connect()) as client:
        await client.request(1, "/sse")
        await client.request(3, "/sse")
        await client.until(lambda: client.streams[1].over, within=100)
        assert (client.streams[1].reset, len(client.streams[1].frames)) == (INTERNAL_ERROR, 3)
        await client.until(lambda: client.streams[3].over, within=100)
        assert (client.streams[3].ended, client.goaways) == (True, [])
        await client.request(5, "/sse")
        await client.until(lambda: client.streams[5].over, within=100)
        assert client.streams[5].ended
        assert client.streams[1].status == 200, "whoever counts statuses counts a success"


async def test_a_reset_without_an_error_is_no_end(autojump_clock):
    async with linked("route-timeout", Origin(stream(40, 1)).serve) as proxied, h2_client(proxied.connect()) as client:
        began = trio.current_time()
        await client.request(1, "/sse")
        await client.until(lambda: client.streams[1].over, within=100)
        seen = client.streams[1]
        assert (seen.reset, seen.ended, round(trio.current_time() - began, 3)) == (NO_ERROR, False, 15)
        assert 15 <= seen.body.count(b"data: ") <= 16


async def test_a_reset_one_byte_before_the_end(autojump_clock):
    sized = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 64\r\n\r\n"
    seen = await told("reset-at-the-end", [sized + b"x" * 64], within=60)
    assert (seen.body, seen.ending) == (b"x" * 63, Ending.RST)
    assert trusting(seen).outcome == "whole"
    assert strict(seen).outcome == "broken"
