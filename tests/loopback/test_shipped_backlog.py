"""A server that accepts nobody, as shipped: what the kernel keeps for it is no link in virtual time, so on sockets."""

import sys

import pytest
import trio

from chaosproxy.testing.peers import RawClient, origin
from chaosproxy.testing.proxied import proxy_on
from tests.loopback.test_accept import ANSWER, GET, asked


@pytest.mark.skipif(sys.platform != "linux", reason="what a full backlog does is the kernel's: here that of Linux")
async def test_where_the_backlog_is_full_connecting_itself_hangs():
    async with (
        origin(*[[ANSWER]] * 3) as served,
        proxy_on("full-backlog", served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as first,
        trio.open_nursery() as nursery,
    ):
        await asked(first)
        kept = await RawClient.connect("127.0.0.1", proxied.port)
        await kept.send(GET)
        there = trio.Event()

        async def come() -> None:
            async with await RawClient.connect("127.0.0.1", proxied.port) as client:
                there.set()
                await asked(client)

        nursery.start_soon(come)
        with trio.move_on_after(0.5) as waited:
            await there.wait()
        assert waited.cancelled_caught
        assert (kept.received, proxied.proxy._client_count) == (b"", 1)
        first.transport.close()
        await kept.read_until(b"ok")
        kept.transport.close()
