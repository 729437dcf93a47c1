"""A reset waits a moment for what was sent before it, and no longer, though its client reads nothing."""

import pytest
import trio

from chaosproxy.testing.peers import Ending, Origin, Pause, RawClient
from chaosproxy.testing.proxied import linked

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n"


@pytest.mark.parametrize("reads_at", [1.1, 5.0], ids=["in time", "too late"])
async def test_a_client_that_does_not_read_is_reset_all_the_same(reads_at, autojump_clock):
    """Its socket is full when the reset is due, and a rest of what is before it stands in the proxy."""
    cut = {"cut": {"at": {"time": "1s"}, "then": "rst"}}
    origin = Origin([HEAD, Pause(0.1), bytes(60_000), Pause(0.1), bytes(7_000), Pause(20)])
    async with (
        linked({"version": 1, "faults": [cut]}, origin.serve) as proxied,
        RawClient(proxied.connect()) as client,
    ):
        await client.send(GET)
        await trio.sleep_until(trio.current_time() + reads_at)
        assert await client.read_all() is Ending.RST
        record = await proxied.last()
    assert record.times.end == pytest.approx(1.0)
    assert (len(client.body) == 67_000) is (reads_at < 1.2)
