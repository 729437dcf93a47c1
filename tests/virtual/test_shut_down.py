"""The proxy leaves: what runs has its time, and nothing new is begun meanwhile."""

import math

import pytest
import trio

from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, Origin, Pause, RawClient
from chaosproxy.testing.proxied import linked

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
LONG, SHORT = [HEAD, Pause(9), b"ok"], [HEAD, Pause(2), b"ok"]


async def test_a_client_that_asks_again_and_again_does_not_keep_it(autojump_clock, nursery):
    """Its connection ends behind the answer that runs, while another's goes on."""
    async with linked(None, Origin(LONG, SHORT).serve) as proxied:
        async with RawClient(proxied.connect()) as patient, RawClient(proxied.connect()) as busy:
            await patient.send(GET)
            await trio.sleep(1)
            await busy.send(GET)
            await trio.sleep(1)
            nursery.start_soon(proxied.proxy.shut_down, math.inf)
            await busy.read_until(b"ok")
            assert await busy.read_all() is Ending.FIN
            assert trio.current_time() == pytest.approx(3)
            await patient.read_until(b"ok")
            assert await patient.read_all() is Ending.FIN
        assert [record.end.how for record in proxied.exchanges] == ["clean", "clean"]


async def test_over_http2_the_client_is_told_that_no_further_stream_is_taken(autojump_clock, nursery):
    async with linked(None, Origin(SHORT).serve) as proxied, h2_client(proxied.connect()) as client:
        await client.request(1)
        await trio.sleep(1)
        nursery.start_soon(proxied.proxy.shut_down, math.inf)
        await client.until(lambda: client.goaways)
        await client.request(3)
        assert await client.until_ended() is Ending.FIN
    assert client.goaways == [(0, 1)]
    assert client.streams[1].ended
    assert not client.streams[3].heads


async def test_what_still_runs_is_ended_and_journalled_in_the_order_in_which_it_began(autojump_clock):
    async with linked(None, Origin([HEAD, Ending.OPEN]).serve) as proxied:
        for number in range(20):
            await RawClient(proxied.connect()).send(GET)
            await trio.sleep(1)
            assert proxied.proxy.running[-1].id == number + 1
        await proxied.proxy.shut_down(0)
        assert [record.id for record in proxied.exchanges] == list(range(1, 21))
