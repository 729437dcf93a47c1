"""The upstream's own account of its work: when it is asked, how, and what waits for it. Virtual time."""

import contextlib
import json

import pytest
import trio

from chaosproxy.errors import ScenarioError, UpstreamFault
from chaosproxy.scenario.load import load
from chaosproxy.testing.h2_origin import serve_h2
from chaosproxy.testing.h2_peers import h2_client
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


async def test_an_address_of_its_own(autojump_clock):
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


async def test_over_http_1_whatever_the_upstream_speaks(autojump_clock):
    served, before = Origin(ACCOUNT), []

    async def answer(peer, number):
        await peer.headers(number, [(b":status", b"200"), (b"content-type", b"text/event-stream")])
        await peer.data(number, b"data: a\n\n")

    async def serve(transport):
        before.append(transport)
        await (serve_h2(transport, answer) if len(before) == 1 else served.serve(transport))

    async with linked(ONE_SECOND, serve, upstream="h2c://origin") as proxied:
        async with h2_client(proxied.connect()) as client:
            await client.request(1)
            await client.until(lambda: client.streams[1].body)
        await proxied.finished()
        assert verdict(proxied).good, verdict(proxied)


@pytest.mark.parametrize(
    ("stats", "said"),
    [
        ("/stats", "; nobody listens any more"),
        ("http://a:0", "; upstream 'http://a:0': write http://HOST:PORT"),
    ],
)
async def test_an_upstream_that_cannot_be_asked(stats, said, autojump_clock):
    dialled = 0

    async def dialling():
        nonlocal dialled
        dialled += 1
        if dialled > 1:
            raise UpstreamFault("nobody listens any more")

    scenario = {"version": 1, "expect": [{"abort_chain": {"within": "1s", "stats": stats}}]}
    async with linked(scenario, Origin(FOREVER).serve, dialling=dialling) as proxied:
        async with reading(proxied):
            pass
        await proxied.finished()
    assert not verdict(proxied).good
    assert said in str(verdict(proxied))


@pytest.mark.parametrize("script", [[SSE, b"1\r\n"], [SSE + b"zz\r\n"], [b"no HTTP at all\r\n\r\n"]])
async def test_an_answer_that_is_none(script, autojump_clock):
    async with linked(ONE_SECOND, Origin(FOREVER, [*script, Ending.RST]).serve) as proxied:
        async with reading(proxied):
            pass
        await proxied.finished()
        assert not verdict(proxied).good
        assert "; 1s later" not in str(verdict(proxied))


def test_wrong_links_are_mistakes():
    with pytest.raises(ScenarioError) as raised:
        load("version: 1\nexpect:\n- abort_chain: {within: 1s, links: {}}\n- abort_chain: {within: 1s, stats: here}\n")
    assert [(one.line, one.message) for one in raised.value.problems] == [
        (3, "`abort_chain` needs a link to look at"),
        (4, "expected a path such as /stats, or a URL"),
    ]
