"""`concurrency` and its kin on real sockets, over both versions of HTTP: who is let in, when, and what the journal says."""

import trio

from chaosproxy.testing.h2_origin import h2_origin
from chaosproxy.testing.h2_peers import H2Peer
from chaosproxy.testing.peers import origin
from chaosproxy.testing.proxied import proxy_on
from tests.loopback.speaking import connected, faults, h2

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
OK = [(b":status", b"200"), (b"content-type", b"text/event-stream")]


# ---- concurrency


async def test_the_third_is_refused_and_the_second_served_when_the_first_has_left():
    held = trio.Event()
    async with (
        origin([HEAD, held, b"ok"], [HEAD, b"ok"]) as served,
        proxy_on(faults({"concurrency": {"limit": 1, "queue": 1, "retry_after": 7}}), served.url) as proxied,
        await connected(proxied) as first,
        await connected(proxied) as second,
        await connected(proxied) as third,
    ):
        await first.send(GET)
        await first.read_until(b"\r\n\r\n")
        await second.send(GET)
        with trio.fail_after(20):
            while proxied.proxy.begun < 2:
                await trio.sleep(0.001)
        await third.send(GET)
        await third.read_until(b"rate_limit_exceeded")
        assert third.head.split(b"\r\n")[0] == b"HTTP/1.1 429 Too Many Requests"
        assert b"\r\nretry-after: 7" in third.head
        assert len(served.requests) == 1
        first.transport.close()
        await second.read_until(b"\r\n\r\nok")
        refused, left, waited = await proxied.finished(3)
    assert (refused.end.by, refused.end.how, refused.end.cause) == ("proxy", "clean", "concurrency")
    assert [(one.fault, one.detail) for one in refused.faults] == [("concurrency", "answered 429")]
    assert [(one.fault, one.reason) for one in left.not_fired] == [("concurrency", "within the limit")]
    assert waited.faults[0].detail.startswith("waited ")
    assert waited.end.by == "upstream"
    assert len(served.requests) == 2


async def test_streams_of_one_connection_wait_for_each_other_in_order():
    held = trio.Event()
    asked: list[int] = []

    async def answer(peer: H2Peer, stream: int) -> None:
        asked.append(stream)
        await peer.headers(stream, OK)
        await held.wait()
        await peer.data(stream, b"data: 1\n\n", end=True)

    limit = faults({"concurrency": {"limit": 1, "queue": 2, "status": 503, "body": "busy"}})
    async with h2_origin(answer) as url, proxy_on(limit, url) as proxied, h2(proxied) as client:
        for stream in (1, 3, 5, 7):
            await client.request(stream)
        await client.until(lambda: client.streams[7].over and client.streams[1].heads)
        assert (client.streams[7].status, client.streams[7].body) == (503, b"busy")
        assert len(asked) == 1
        await client.reset(3)
        held.set()
        await client.until(lambda: client.streams[1].over and client.streams[5].over)
        records = await proxied.finished(4)
    assert len(asked) == 2
    details = sorted(one.detail.partition(" ")[0] for record in records for one in record.faults)
    assert details == ["answered", "the", "waited"]


# ---- rate_limit


async def test_the_second_within_the_time_is_refused_on_a_connection_that_goes_on():
    async with (
        origin([HEAD, b"ok"]) as served,
        proxy_on(faults({"rate_limit": "1/24h"}), served.url) as proxied,
        await connected(proxied) as client,
    ):
        await client.send(GET)
        await client.read_until(b"\r\n\r\nok")
        await client.send(GET)
        await client.read_until(b"rate_limit_exceeded")
        await client.send(GET)
        with trio.fail_after(20):
            while client.received.count(b"HTTP/1.1 429") < 2:
                await client.read()
        records = await proxied.finished(3)
    assert b"\r\nretry-after: 86400\r\n" in client.received
    assert len(served.requests) == 1
    assert [record.end.cause for record in records] == [None, "rate_limit", "rate_limit"]
    assert [record.client.connection for record in records] == [1, 1, 1]


async def test_a_stream_that_waits_for_its_token_lets_its_siblings_pass():
    async def answer(peer: H2Peer, stream: int) -> None:
        await peer.headers(stream, OK)
        await peer.data(stream, b"data: 1\n\n", end=True)

    limited = {"rate_limit": {"limit": "1/24h", "queue": 1}}
    scenario = {"version": 1, "rules": [{"match": {"path": "/limited"}, "faults": [limited]}]}
    async with h2_origin(answer) as url, proxy_on(scenario, url) as proxied, h2(proxied) as client:
        for stream, path in [(1, "/limited"), (3, "/limited"), (5, "/limited"), (7, "/")]:
            await client.request(stream, path)
        await client.until(lambda: all(client.streams[stream].over for stream in (1, 5, 7)))
        assert [client.streams[stream].status for stream in (1, 3, 5, 7)] == [200, None, 429, 200]
        await client.reset(3)
        left = (await proxied.finished(4))[-1]
    assert [one.detail for one in left.faults] == ["the client left the queue"]
    assert left.upstream.url is None


# ---- auth


async def test_the_wrong_key_is_refused_before_anything_is_dialled():
    async with (
        origin([HEAD, b"ok"]) as served,
        proxy_on(faults({"auth": "sk-right"}), served.url) as proxied,
        await connected(proxied) as client,
    ):
        await client.send(b"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sk-wrong\r\n\r\n")
        await client.read_until(b"invalid_api_key")
        assert client.head.startswith(b"HTTP/1.1 401 Unauthorized\r\n")
        assert served.connections == 0
        await client.send(b"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sk-right\r\n\r\n")
        await client.read_until(b"\r\n\r\nok")
        refused, let_in = await proxied.finished(2)
    assert (refused.end.cause, refused.response.status) == ("auth", 401)
    assert [(one.fault, one.reason) for one in let_in.not_fired] == [("auth", "let in")]


async def test_an_upload_over_http2_is_answered_at_its_head():
    async def answer(peer: H2Peer, stream: int) -> None:
        raise AssertionError("it was asked")

    async with h2_origin(answer) as url, proxy_on(faults({"auth": {}}), url) as proxied, h2(proxied) as client:
        await client.request(1, "/v1/messages", method="POST", end=False)
        await client.until(lambda: client.streams[1].ended)
        assert client.streams[1].status == 401
        assert b"authentication_error" in client.streams[1].body
