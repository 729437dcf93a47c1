"""The proxy behind real reverse proxies, as it stands in a real chain: nginx and HAProxy in front of it, and behind it."""

import pytest
import trio

from chaosproxy.testing.peers import Ending, RawClient, origin

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
GET = b"GET /sse HTTP/1.1\r\nHost: localhost\r\n\r\n"
LAST = b"0\r\n\r\n"


def chunk(number: int) -> bytes:
    return b"9\r\ndata: %d\n\n\r\n" % number


def nginx_server(port: int) -> str:
    return (
        f"location / {{ proxy_pass http://127.0.0.1:{port}; proxy_buffering off; proxy_http_version 1.1;"
        ' proxy_set_header Connection ""; }'
    )


@pytest.fixture(params=["nginx", "haproxy"])
def front(request):
    """`front(port)`: a reverse proxy in front of `port`; its own port."""
    start = request.getfixturevalue(request.param)
    return start if request.param == "haproxy" else lambda port: start(nginx_server(port))


async def test_each_event_passes_through_the_chain_at_once(front, proxy):
    """The next event is sent only when the one before has arrived: whoever gathered would stop the stream for good."""
    go = [trio.Event() for _ in range(3)]
    script = [HEAD, chunk(0), go[0], chunk(1), go[1], chunk(2), go[2], LAST]
    async with origin(script) as served:
        between = proxy(served.url)
        async with await RawClient.connect("127.0.0.1", front(between.port)) as client:
            await client.send(GET)
            for number in range(3):
                await client.read_until(b"data: %d\n\n" % number)
                go[number].set()
            await client.read_until(LAST)
    (record,) = between.journal(1)
    assert record["end"] == {"by": "upstream", "how": "clean", "cause": None}
    assert record["response"]["events_out"] in (3, None)


async def test_the_client_s_leaving_reaches_the_origin_through_the_whole_chain(front, proxy):
    async with origin([HEAD, chunk(0), Ending.OPEN]) as served:
        between = proxy(served.url)
        async with await RawClient.connect("127.0.0.1", front(between.port)) as client:
            await client.send(GET)
            await client.read_until(b"data: 0\n\n")
            await client.leave(Ending.FIN)
            seen = await served.request(1)
            with trio.fail_after(20):
                await seen.gone.wait()
    (record,) = between.journal(1)
    assert record["end"]["by"] == "client"
    assert record["upstream"]["end"]["by"] in ("client", "proxy")


@pytest.mark.parametrize("then", ["rst", "fin", "abort", "fin_mid_chunk"])
async def test_a_stream_cut_by_the_proxy_does_not_look_whole_in_front(front, then, proxy):
    scenario = {"faults": [{"cut": {"at": {"event": 2}, "then": then}}]}
    async with origin([HEAD, chunk(0), chunk(1), chunk(2), LAST]) as served:
        between = proxy(served.url, scenario)
        async with await RawClient.connect("127.0.0.1", front(between.port)) as client:
            await client.send(GET)
            assert await client.read_all() in (Ending.FIN, Ending.RST)
    assert b"data: 2" not in client.received
    assert not client.received.endswith(LAST)
    (record,) = between.journal(1)
    assert record["end"] == {"by": "proxy", "how": "fin" if then == "abort" else then, "cause": "cut"}
    assert record["response"]["events_out"] == 2


@pytest.mark.parametrize("behind", ["nginx", "haproxy"])
async def test_behind_the_proxy_too(behind, nginx, haproxy, proxy):
    go = trio.Event()
    async with origin([HEAD, chunk(0), go, chunk(1), LAST]) as served:
        port = nginx(nginx_server(served.port)) if behind == "nginx" else haproxy(served.port)
        between = proxy(f"http://127.0.0.1:{port}")
        async with await RawClient.connect("127.0.0.1", between.port) as client:
            await client.send(GET)
            await client.read_until(b"data: 0\n\n")
            go.set()
            await client.read_until(LAST)


async def test_h2c_to_haproxy_and_from_it(haproxy, proxy):
    """HTTP/2 with prior knowledge on both sides of the proxy, with HAProxy's stack as the peer on each."""
    async with origin([b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"]) as served:
        between = proxy(f"h2c://127.0.0.1:{haproxy(served.port)}")
        async with await RawClient.connect("127.0.0.1", haproxy(between.port, "proto h2")) as client:
            await client.send(GET)
            await client.read_until(b"hello")
    (record,) = between.journal(1)
    assert (record["client"]["protocol"], record["upstream"]["protocol"]) == ("h2", "h2")
