"""What an exchange consisted of is gone with it, and waits for no collector."""

import gc

import trio

from chaosproxy.chain.chain import Chain
from chaosproxy.proxy.exchange import Exchange
from chaosproxy.proxy.upstream_side import UpstreamSide
from chaosproxy.testing.peers import Origin, RawClient
from chaosproxy.testing.proxied import linked

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
POST = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
REQUESTS = 5


def parts() -> int:
    """How many parts of exchanges there are."""
    return sum(type(one) in (Exchange, UpstreamSide, Chain) for one in gc.get_objects())


async def test_exchanges_leave_no_circles_behind(autojump_clock):
    gc.collect()
    before = parts()
    gc.disable()
    try:
        async with linked(None, Origin([OK]).serve) as proxied:
            async with RawClient(proxied.connect()) as client:
                await client.send(POST * REQUESTS)
                with trio.fail_after(20):
                    while len(proxied.proxy.journal.exchanges) < REQUESTS:
                        await trio.sleep(0.01)
            assert parts() == before
    finally:
        gc.enable()
