"""What HTTP asks of a proxy, message by message: raw bytes in, raw bytes out, in virtual time."""

import pytest
import trio

from chaosproxy.testing.h2_origin import serve_h2
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, Origin, Pause, RawClient
from chaosproxy.testing.proxied import linked

GET = b"GET /s HTTP/1.1\r\nHost: x\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
LAST = b"0\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


async def exchange(client: RawClient, request: bytes, within: float = 1.0) -> bytes:
    """What comes back for `request`, until nothing more comes."""
    before = len(client.received)
    await client.send(request)
    await client.read_all(within)
    return client.received[before:]


@pytest.mark.parametrize(
    ("request_bytes", "answer"),
    [
        (b"HEAD /s HTTP/1.1\r\nHost: x\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"),
        (b"HEAD /s HTTP/1.1\r\nHost: x\r\n\r\n", HEAD),
        (GET, b"HTTP/1.1 204 No Content\r\n\r\n"),
        (GET, b"HTTP/1.1 304 Not Modified\r\nETag: x\r\nContent-Length: 1000\r\n\r\n"),
        (GET, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
    ],
)
async def test_answers_without_a_body_end_with_their_head(request_bytes, answer, autojump_clock):
    served = Origin([answer], [OK])
    async with linked(None, served.serve) as proxied, RawClient(proxied.connect()) as client:
        assert await exchange(client, request_bytes) == answer
        assert await exchange(client, GET) == OK
        assert [record.end.how for record in await proxied.finished(2)] == ["clean", "clean"]
    assert served.connections == 1


@pytest.mark.parametrize("request_head", [b"HEAD", b"GET"])
async def test_answers_without_a_body_over_h2(request_head, autojump_clock):
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n" if request_head == b"HEAD" else b"HTTP/1.1 204 N\r\n\r\n"
    served = Origin([answer])
    async with linked(None, served.serve) as proxied, h2_client(proxied.connect()) as client:
        await client.request(1, method=request_head.decode())
        await client.until(lambda: client.streams[1].over)
        assert (client.streams[1].ended, client.streams[1].body) == (True, b"")


async def test_an_http_1_0_client_gets_what_it_can_read(autojump_clock):
    served = Origin([HEAD, b"3\r\nabc\r\n", Pause(1), b"3\r\ndef\r\n", LAST])
    async with linked(None, served.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(b"GET / HTTP/1.0\r\n\r\n")
        assert await client.read_all() is Ending.FIN
        assert b"chunked" not in client.head.lower()
        assert client.body == b"abcdef"
        assert [time for time, data in client.pieces if data.endswith((b"abc", b"def"))] == [0, 1]
    asked = served.requests[0].head
    assert asked.startswith(b"GET / HTTP/1.1\r\n")
    assert asked.lower().count(b"host:") == 1


async def test_an_http_1_0_client_does_not_keep_its_connection(autojump_clock):
    """A proxy must not: RFC 9112 section 9.3."""
    served = Origin([OK])
    async with linked(None, served.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(b"GET / HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\n\r\n")
        assert await client.read_all() is Ending.FIN
        assert client.received == OK


async def test_requests_in_one_write_are_answered_in_order(autojump_clock):
    served = Origin(*[[Pause(1), b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n%d" % number] for number in range(3)])
    async with linked(None, served.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(b"".join([b"GET /%d HTTP/1.1\r\nHost: x\r\n\r\n" % number for number in range(3)]))
        await client.read_all(within=10)
        assert [(time, data[-1:]) for time, data in client.pieces if data[-1:].isdigit()] == [
            (1, b"0"),
            (2, b"1"),
            (3, b"2"),
        ]
        records = await proxied.finished(3)
    assert [record.request.path for record in records] == ["/0", "/1", "/2"]
    assert {record.upstream.connection for record in records} == {1}


async def test_two_thousand_pipelined_requests(autojump_clock):
    served = Origin([OK])
    async with linked(None, served.serve) as proxied, RawClient(proxied.connect()) as client:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.send, GET * 2000)
            await client.read_until(OK * 2000, within=60)
        records = await proxied.finished(2000)
    assert {record.end.how for record in records} == {"clean"}
    assert served.connections == 1


async def test_interim_answers_pass_as_they_come(autojump_clock):
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    served = Origin([hints, Pause(1), b"HTTP/1.1 102 Processing\r\n\r\n", Pause(1), OK])
    async with linked(None, served.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(GET)
        await client.read_all(within=10)
        assert client.received == hints + b"HTTP/1.1 102 Processing\r\n\r\n" + OK
        assert [time for time, _ in client.pieces][:3] == [0, 1, 2]
        assert (await proxied.last()).times.upstream_head == 2
    served = Origin([hints, Pause(1), OK])
    async with linked(None, served.serve) as proxied, h2_client(proxied.connect()) as client:
        await client.request(1)
        await client.until(lambda: client.streams[1].over)
        assert [block[0][1] for block in client.streams[1].heads] == [b"103", b"200"]


async def test_an_http_1_0_client_gets_no_interim_answers(autojump_clock):
    served = Origin([b"HTTP/1.1 103 Early Hints\r\n\r\n", OK])
    async with linked(None, served.serve) as proxied, RawClient(proxied.connect()) as client:
        assert b"103" not in await exchange(client, b"GET / HTTP/1.0\r\nHost: x\r\n\r\n")
        assert client.body == b"ok"


async def test_expect_is_forwarded_and_answered_by_the_upstream(autojump_clock):
    go_on = b"HTTP/1.1 100 Continue\r\n\r\n"
    served = Origin([Pause(1), go_on, Pause(1), OK], at_head=True)
    async with linked(None, served.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
        await client.read_until(go_on)
        assert client.pieces == [(1, go_on)]
        await client.send(b"abc")
        await client.read_until(b"ok")
    assert b"Expect: 100-continue" in served.requests[0].head
    assert served.peers[0].received.endswith(b"abc")


@pytest.mark.parametrize("preset", ["nginx-1.22", "nginx-1.31"])
async def test_who_holds_a_request_answers_its_expect(autojump_clock, preset):
    served = Origin([OK])
    async with linked(preset, served.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n")
        await client.read_until(b"HTTP/1.1 100 Continue\r\n\r\n")
        assert served.connections == 0
        await client.send(b"3\r\nabc\r\n")
        await trio.sleep(1)
        assert served.connections == 0
        await client.send(b"3\r\ndef\r\n0\r\n\r\n")
        await client.read_until(b"ok")
    (asked,) = served.requests
    assert (b"Content-Length: 6\r\n" in asked.head, asked.body) == (True, b"abcdef")
    assert not any(field in asked.head.lower() for field in (b"expect", b"chunked"))


async def test_an_early_answer_ends_the_upload(autojump_clock):
    refused = b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno"
    served = Origin([refused, Ending.OPEN], at_head=True)
    async with linked(None, served.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nsome of it")
        assert await client.read_all(within=30) in (Ending.FIN, Ending.OPEN)
        assert client.head.startswith(b"HTTP/1.1 413 ")
        assert client.body == b"no"
        record = await proxied.last()
    assert (record.end.by, record.end.how, record.response.status) == ("upstream", "clean", 413)


async def test_a_connection_with_half_a_request_on_it_carries_no_other(autojump_clock):
    served = Origin([OK, Ending.OPEN], [OK], at_head=True)
    async with linked(None, served.serve) as proxied:
        async with RawClient(proxied.connect()) as client:
            await client.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nsome of it")
            await client.read_until(b"ok")
            async with RawClient(proxied.connect()) as other:
                assert await exchange(other, GET) == OK
        records = await proxied.finished(2)
    assert [record.upstream.connection for record in records] == [1, 2]
    assert served.requests[0].left is Ending.FIN


async def test_an_early_answer_over_h2_is_whole_and_then_stops_the_upload(autojump_clock):
    served = Origin([b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno", Ending.OPEN], at_head=True)
    async with linked(None, served.serve) as proxied, h2_client(proxied.connect()) as client:
        await client.request(1, method="POST", end=False)
        await client.data(1, b"some of it")
        stream = client.streams[1]
        await client.until(lambda: stream.ended and stream.reset is not None)
        assert (stream.status, stream.body, stream.reset) == (413, b"no", 0)
        assert (await proxied.last()).end.how == "clean"


@pytest.mark.parametrize("client_protocol", ["h1", "h2"])
async def test_an_h2_upstream_that_answers_early_is_asked_no_further(client_protocol, autojump_clock):
    peers = []

    async def answer(peer, stream) -> None:
        peers.append(peer)
        await peer.headers(stream, [(b":status", b"413")])
        await peer.data(stream, b"no", end=True)

    async with linked(None, lambda transport: serve_h2(transport, answer), upstream="h2c://origin") as proxied:
        if client_protocol == "h1":
            async with RawClient(proxied.connect()) as old:
                await old.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nsome of it")
                await old.read_until(b"no")
        else:
            async with h2_client(proxied.connect()) as client:
                await client.request(1, method="POST", end=False)
                await client.until(lambda: client.streams[1].ended)
                assert client.streams[1].body == b"no"
        await peers[0].until(lambda: peers[0].streams[1].reset == 0)
        assert not peers[0].streams[1].ended
        assert (await proxied.last()).end.how == "clean"


TRAILERS = [(b"x-sum", b"1"), (b"x-more", b"2")]


async def h2_with_trailers(peer, stream) -> None:
    await peer.headers(stream, [(b":status", b"200")])
    await peer.data(stream, b"abc")
    await peer.headers(stream, TRAILERS, end=True)


H1_TRAILERS = [HEAD, b"3\r\nabc\r\n", b"0\r\nx-sum: 1\r\nx-more: 2\r\n\r\n"]


@pytest.mark.parametrize("upstream", ["h1", "h2"])
async def test_trailers_in_every_pair(upstream, autojump_clock):
    if upstream == "h1":
        served, url = Origin(H1_TRAILERS).serve, "http://origin"
    else:
        served, url = (lambda transport: serve_h2(transport, h2_with_trailers)), "h2c://origin"
    async with linked(None, served, upstream=url) as proxied:
        async with RawClient(proxied.connect()) as old:
            await exchange(old, b"GET / HTTP/1.1\r\nHost: x\r\nTE: trailers\r\nConnection: TE\r\n\r\n")
            assert old.body == b"3\r\nabc\r\n0\r\nx-sum: 1\r\nx-more: 2\r\n\r\n"
        async with h2_client(proxied.connect()) as client:
            await client.request(1)
            await client.until(lambda: client.streams[1].over)
            assert client.streams[1].heads[-1] == TRAILERS
            assert client.streams[1].body == b"abc"


async def test_request_trailers_pass_too(autojump_clock):
    served = Origin([OK], at_head=True)
    async with linked(None, served.serve) as proxied, RawClient(proxied.connect()) as client:
        body = b"3\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n"
        await exchange(client, b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + body)
        assert served.peers[0].received.endswith(body)


async def test_hop_by_hop_fields_stay_on_their_hop(autojump_clock):
    served = Origin(
        [
            b"HTTP/1.1 200 OK\r\nConnection: X-Mine\r\nX-Mine: 1\r\nKeep-Alive: 5\r\nX-Other: 2\r\nContent-Length: 0\r\n\r\n"
        ]
    )
    async with linked(None, served.serve) as proxied, RawClient(proxied.connect()) as client:
        answer = await exchange(
            client, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, X-Yours\r\nX-Yours: 1\r\nX-Kept: 2\r\n\r\n"
        )
    assert b"X-Mine" not in answer
    assert b"Keep-Alive" not in answer
    assert b"X-Other: 2" in answer
    assert b"X-Yours" not in served.requests[0].head
    assert b"X-Kept: 2" in served.requests[0].head


@pytest.mark.parametrize("target", [b"http://elsewhere.example/a?b", b"*"])
async def test_other_forms_of_a_target_pass_as_they_are(target, autojump_clock):
    served = Origin([OK])
    method = b"OPTIONS" if target == b"*" else b"GET"
    async with linked(None, served.serve) as proxied, RawClient(proxied.connect()) as client:
        assert await exchange(client, method + b" " + target + b" HTTP/1.1\r\nHost: x\r\n\r\n") == OK
    assert served.requests[0].head.startswith(method + b" " + target + b" HTTP/1.1\r\n")


async def test_the_upstreams_path_is_a_prefix(autojump_clock):
    served = Origin([OK])
    async with (
        linked(None, served.serve, upstream="http://origin/base/") as proxied,
        RawClient(proxied.connect()) as client,
    ):
        await exchange(client, b"GET /s?q HTTP/1.1\r\nHost: x\r\n\r\n")
        assert (await proxied.last()).request.path == "/s"
    assert served.requests[0].head.startswith(b"GET /base/s?q HTTP/1.1\r\n")


@pytest.mark.parametrize(
    "broken",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"GET /\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : x\r\n\r\n",
    ],
)
async def test_a_broken_request_is_refused_by_us_and_never_forwarded(broken, autojump_clock):
    served = Origin([OK])
    async with linked(None, served.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(broken)
        assert await client.read_all() is Ending.FIN
        assert client.head.startswith(b"HTTP/1.1 400 ")
        record = await proxied.last()
    assert (record.end.by, record.end.how, record.end.cause) == ("proxy", "clean", "malformed")
    assert not served.requests
