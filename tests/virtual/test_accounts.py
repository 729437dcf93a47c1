"""The upstream's own account of its work: when it is asked, how, and what waits for it. Virtual time."""

import contextlib
import json

import pytest
import trio

from chaosproxy.testing.peers import Ending, Origin, RawClient
from chaosproxy.testing.proxied import linked

SSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENT, LAST = b"9\r\ndata: a\n\n\r\n", b"0\r\n\r\n"
GET = b"GET /s HTTP/1.1\r\nHost: x\r\n\r\n"
FREE = json.dumps({"answering": 0, "generating": 0, "running": 0, "kv_blocks_used": 0}).encode()
ACCOUNT = [b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(FREE), FREE)]
FOREVER = [SSE, EVENT, Ending.OPEN]
ONE_SECOND = {"version": 1, "expect": [{"abort_chain": "1s"}]}


@contextlib.asynccontextmanager
async def reading(proxied):
    """A client that has the first event of its answer; it leaves at the end."""
    async with RawClient(proxied.connect()) as client:
        await client.send(GET)
        await client.read_until(EVENT)
        yield client


def verdict(proxied):
    (judged,) = proxied.proxy.planner.judge(proxied.exchanges).each
    return judged


async def test_it_is_asked_when_it_is_time_and_the_exchange_is_journalled_then(autojump_clock):
    served = Origin(FOREVER, ACCOUNT)
    async with linked(ONE_SECOND, served.serve, upstream="http://origin:81/prefix") as proxied:
        async with reading(proxied):
            await trio.sleep(2)
        left = trio.current_time()
        await trio.sleep(0.5)
        assert (len(served.requests), proxied.exchanges) == (1, [])
        assert [record.times.client_closed for record in proxied.proxy.running] == [2.0]
        await proxied.finished()
        assert trio.current_time() - left == pytest.approx(1.0)
        assert verdict(proxied).good, verdict(proxied)
    assert served.requests[1].head == (
        b"GET /stats HTTP/1.1\r\nHost: origin:81\r\nAccept: application/json\r\nConnection: close\r\n\r\n"
    )


async def test_who_stays_to_the_end_is_not_asked_about(autojump_clock):
    served = Origin([SSE, EVENT, LAST])
    async with linked(ONE_SECOND, served.serve) as proxied:
        async with reading(proxied) as client:
            await client.read_until(LAST)
        await proxied.finished()
        await trio.sleep(5)
    assert len(served.requests) == 1


async def test_where_others_are_served_the_numbers_are_theirs_too(autojump_clock):
    served = Origin(FOREVER, FOREVER, ACCOUNT)
    async with linked(ONE_SECOND, served.serve) as proxied, reading(proxied):
        async with reading(proxied):
            pass
        await proxied.finished()
        assert verdict(proxied).findings == ()
        assert not verdict(proxied).good


async def test_an_address_of_its_own_over_http_1_whatever_the_upstream_speaks(autojump_clock):
    served = Origin(FOREVER, ACCOUNT)
    check = {"within": "1s", "stats": "http://elsewhere:9/metrics?format=json"}
    async with linked({"version": 1, "expect": [{"abort_chain": check}]}, served.serve) as proxied:
        async with reading(proxied):
            pass
        await proxied.finished()
        assert verdict(proxied).good
    assert served.requests[1].head.startswith(b"GET /metrics?format=json HTTP/1.1\r\nHost: elsewhere:9\r\n")


async def test_a_proxy_that_leaves_in_order_waits_for_it(autojump_clock):
    async with linked(ONE_SECOND, Origin(FOREVER, ACCOUNT).serve) as proxied:
        async with reading(proxied):
            pass
        await trio.sleep(0.1)
        await proxied.proxy.shut_down(grace=2.0)
        assert verdict(proxied).good


async def test_one_that_ends_at_once_does_not(autojump_clock):
    served = Origin(FOREVER, ACCOUNT)
    async with linked(ONE_SECOND, served.serve) as proxied:
        async with reading(proxied):
            pass
        await trio.sleep(0.1)
        await proxied.proxy.shut_down(grace=0.5)
        assert [record.end.by for record in proxied.exchanges] == ["client"]
        assert verdict(proxied).findings == (), "nobody can say"
        await trio.sleep(5)
        assert len(proxied.exchanges) == 1
