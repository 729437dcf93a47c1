"""A client that has shut down its own way, and is served all the same: it has everything, at its own pace."""

import pytest
import trio

from chaosproxy.testing.peers import Ending, Origin, RawClient
from chaosproxy.testing.proxied import linked

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
SERVE = {"client_abort": {"half_close": "serve"}}


@pytest.mark.parametrize("size", [140_000, 200_000])
async def test_a_slow_reader_has_the_whole_answer(size, autojump_clock):
    """A part of it stands in the proxy when the exchange is over."""
    origin = Origin([b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size, bytes(size)])
    async with linked({"version": 1, "faults": [SERVE]}, origin.serve) as proxied:
        async with RawClient(proxied.connect()) as client:
            await client.send(GET)
            client.transport.fin()
            await trio.sleep(1)
            assert await client.read_all() is Ending.FIN
            assert len(client.body) == size
        record = await proxied.last()
    assert (record.end.by, record.end.how) == ("upstream", "clean")


async def test_a_slow_reader_is_reset_where_a_fault_says_so(autojump_clock):
    """And not let go in order, as whoever has said all that there was to say."""
    cut = {"cut": {"at": {"bytes": 100_000}, "then": "rst"}}
    origin = Origin([b"HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n", bytes(200_000)])
    async with (
        linked({"version": 1, "faults": [cut, SERVE]}, origin.serve) as proxied,
        RawClient(proxied.connect()) as client,
    ):
        await client.send(GET)
        client.transport.fin()
        await trio.sleep(1)
        assert await client.read_all() is Ending.RST
        record = await proxied.last()
    assert (record.end.by, record.end.how, record.end.cause) == ("proxy", "rst", "cut")
