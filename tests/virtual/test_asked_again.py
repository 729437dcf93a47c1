"""`retry_upstream` with a whole proxy around it, in virtual time: what each upstream sees, and the client, and the journal."""

import math

import pytest
import trio

from chaosproxy.errors import UpstreamFault
from chaosproxy.testing.h2_origin import serve_h2
from chaosproxy.testing.h2_peers import H2Peer, h2_client
from chaosproxy.testing.peers import Ending, Origin, Pause, RawClient
from chaosproxy.testing.proxied import linked

BUSY = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
ONE, TWO = b"9\r\ndata: 1\n\n\r\n", b"9\r\ndata: 2\n\n\r\n"
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
BODY = b'{"stream": true}'
POST = b"POST /v1/chat HTTP/1.1\r\nHost: x\r\nContent-Length: 16\r\n\r\n" + BODY
OK = [(b":status", b"200"), (b"content-type", b"text/event-stream")]


def retry(**parameters):
    return {"version": 1, "faults": [{"retry_upstream": parameters}]}


async def test_a_busy_upstream_is_left_and_asked_on_another_connection(autojump_clock):
    origin = Origin([BUSY[:-1], Ending.OPEN], [HEAD, b"ok"])
    async with linked(retry(on="5xx"), origin.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(GET)
        await client.read_until(b"\r\n\r\nok")
        record = await proxied.last()
        await client.send(GET)
        await proxied.last(2)
    assert client.received == HEAD + b"ok"
    assert [one.connection for one in origin.requests] == [1, 2, 2]
    assert (record.response.status, record.response.bytes_in, record.upstream.retries) == (200, 2, 1)
    assert [(one.fault, one.detail) for one in record.faults] == [("retry_upstream", "retry 1: status 503")]
    assert (record.end.by, record.end.how, record.end.cause) == ("upstream", "clean", None)


async def test_a_long_silence_has_a_paid_request_made_three_times_and_the_client_sees_one(autojump_clock):
    """The incident: an ingress sends a long POST again by itself, minutes apart."""
    origin = Origin([Ending.OPEN], [Ending.OPEN], [Pause(30), HEAD, b"ok"])
    slow = retry(on="timeout", timeout="480s", times=2, methods=["POST"])
    async with linked(slow, origin.serve) as proxied, RawClient(proxied.connect()) as client:
        began = trio.current_time()
        await client.send(POST)
        await client.read_until(b"\r\n\r\nok", within=math.inf)
        assert trio.current_time() - began == pytest.approx(990)
        record = await proxied.last()
    assert [one.body for one in origin.requests] == [BODY] * 3
    assert [one.left for one in origin.requests] == [Ending.FIN, Ending.FIN, None]
    assert [round(one.t) for one in record.faults] == [480, 960]
    assert record.request.bytes == len(BODY)


async def test_the_next_upstream_of_the_pool_is_asked(autojump_clock):
    origin = Origin([BUSY], [HEAD, b"ok"])
    upstreams = ("http://one", "http://two")
    async with (
        linked(retry(on=[503]), origin.serve, upstream=upstreams) as proxied,
        RawClient(proxied.connect()) as client,
    ):
        await client.send(GET)
        await client.read_until(b"\r\n\r\nok")
        record = await proxied.last()
    assert (record.upstream.url, record.upstream.retries) == ("http://two:80", 1)


async def test_an_upstream_that_cannot_be_reached_at_first(autojump_clock):
    origin = Origin([HEAD, b"ok"])
    dials = []

    async def dialling():
        dials.append(trio.current_time())
        if len(dials) < 3:
            raise UpstreamFault("nobody is there")

    async with (
        linked(retry(on="error"), origin.serve, dialling=dialling) as proxied,
        RawClient(proxied.connect()) as client,
    ):
        await client.send(POST)
        await client.read_until(b"\r\n\r\nok")
        record = await proxied.last()
    assert (len(dials), record.upstream.retries) == (3, 2)
    assert [one.detail for one in record.faults] == [
        "retry 1: upstream:unreachable", "retry 2: upstream:unreachable",
    ]  # fmt: skip


async def test_the_first_connection_fails_by_a_fault_of_its_own(autojump_clock):
    scenario = retry(on="timeout", timeout="5s") | {
        "connections": [
            {
                "match": {"side": "upstream", "number": 1},
                "faults": [{"stall": {"at": {"bytes": 1}, "for": "forever"}}],
            }
        ]
    }
    origin = Origin([HEAD, b"ok"])
    async with linked(scenario, origin.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(GET)
        await client.read_until(b"\r\n\r\nok")
        record = await proxied.last()
    assert [one.detail for one in record.faults if one.fault == "retry_upstream"] == ["retry 1: no answer in 5s"]
    assert record.end.how == "clean"


async def test_over_http2_the_first_stream_is_reset_and_a_large_upload_sent_twice_within_the_windows(autojump_clock):
    upload = bytes(range(256)) * 3600
    bodies: dict[int, int] = {}
    peers: list[H2Peer] = []

    async def answer(peer: H2Peer, stream: int) -> None:
        peers.append(peer)
        await peer.until(lambda: peer.streams[stream].ended)
        bodies[stream] = len(peer.streams[stream].body)
        assert peer.streams[stream].body == upload
        if len(peers) == 1:
            await peer.headers(stream, [(b":status", b"503")])
        else:
            await peer.headers(stream, OK)
            await peer.data(stream, b"data: 1\n\n", end=True)

    async with (
        linked(retry(on="5xx"), lambda below: serve_h2(below, answer), upstream="h2c://origin") as proxied,
        h2_client(proxied.connect()) as client,
    ):
        await client.request(1, method="POST", end=False)
        for at in range(0, len(upload), 16384):
            await client.data(1, upload[at : at + 16384])
        await client.data(1, b"", end=True)
        await client.until(lambda: client.streams[1].ended)
        record = await proxied.last()
    assert (client.streams[1].status, client.streams[1].body) == (200, b"data: 1\n\n")
    assert bodies == {1: len(upload), 3: len(upload)}
    assert peers[0].streams[1].reset == 8
    assert (record.upstream.retries, record.request.bytes) == (1, len(upload))


async def test_a_part_and_behind_it_the_whole(autojump_clock):
    """The incident: a gateway asks again in the middle, and its client has a part of the answer twice."""
    origin = Origin([STREAM, ONE, TWO, Ending.RST], [STREAM, ONE, TWO, b"0\r\n\r\n"])
    async with (
        linked(retry(on="error", mid_stream=True), origin.serve) as proxied,
        RawClient(proxied.connect()) as client,
    ):
        await client.send(GET)
        await client.read_until(b"\r\n0\r\n\r\n")
        record = await proxied.last()
    assert client.body == ONE + TWO + ONE + TWO + b"0\r\n\r\n"
    assert (record.response.events_in, record.response.events_out) == (4, 4)
    assert len(origin.requests) == 2


async def test_a_client_that_leaves_between_two_tries_ends_the_second(autojump_clock):
    origin = Origin([BUSY], [Ending.OPEN])
    async with linked(retry(on="5xx"), origin.serve) as proxied:
        async with RawClient(proxied.connect()) as client:
            await client.send(GET)
            await origin.request(2)
        record = await proxied.last()
        await origin.requests[1].gone.wait()
    assert (record.end.by, record.upstream.end.by) == ("client", "proxy")
    assert origin.requests[1].left is not None
    assert len(origin.requests) == 2


async def test_the_first_ones_are_never_closed_and_answer_for_nobody(autojump_clock):
    """As it was seen: the same POST two or three times, and the first ones go on working."""
    late = [Pause(600), STREAM, ONE * 20_000, b"0\r\n\r\n"]
    origin = Origin(late, late, [HEAD, b"ok"], [HEAD, b"ok"])
    slow = retry(on="timeout", timeout="480s", leave="open")
    async with linked(slow, origin.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(POST)
        await client.read_until(b"\r\n\r\nok", within=math.inf)
        assert [one.left for one in origin.requests] == [None] * 3
        await trio.sleep(1000)
        assert [one.left for one in origin.requests] == [None] * 3
        assert all(one.gone.is_set() for one in origin.requests)  # to the end of their scripts
        record = await proxied.last()
        await client.send(GET)
        while client.received.count(b"ok") < 2:
            assert await client.read()
    assert client.received == (HEAD + b"ok") * 2
    assert origin.connections == 2  # the third try found the first one free again
    assert record.response.bytes_in == 2


async def test_over_http2_the_stream_that_was_left_runs_on_beside_the_next(autojump_clock):
    seen: dict[int, bool] = {}

    async def answer(peer: H2Peer, stream: int) -> None:
        await trio.sleep(50 if stream == 1 else 1)
        await peer.headers(stream, OK)
        for _ in range(200):
            await peer.data(stream, b"data: %d\n\n" % stream + b": %b\n\n" % (b"x" * 990))
        await peer.data(stream, b"data: [DONE]\n\n", end=True)
        seen[stream] = peer.streams[stream].reset is None

    slow = retry(on="timeout", timeout="10s", leave="open")
    async with (
        linked(slow, lambda below: serve_h2(below, answer), upstream="h2c://origin") as proxied,
        h2_client(proxied.connect()) as client,
    ):
        await client.request(1)
        await client.until(lambda: client.streams[1].ended, within=math.inf)
        await trio.sleep(100)
    assert seen == {1: True, 3: True}
    assert client.streams[1].body.count(b"data: 3\n\n") == 200
    assert b"data: 1\n\n" not in client.streams[1].body


async def test_from_an_upstream_of_one_version_to_one_of_the_other_in_the_middle(autojump_clock):
    async def answer(peer: H2Peer, stream: int) -> None:
        await peer.headers(stream, OK)
        for number in range(5):
            await peer.data(stream, b"data: %d\n\n" % number)
            await trio.sleep(1)
        await peer.reset(stream, 0x2)

    events = [b"9\r\ndata: %d\n\n\r\n" % number for number in range(5, 9)]
    origin = Origin([STREAM, *(step for event in events for step in (event, Pause(1))), b"0\r\n\r\n"])
    served = []

    async def serve(below):
        served.append(below)
        await (serve_h2(below, answer) if len(served) == 1 else origin.serve(below))

    async with (
        linked(retry(on="error", mid_stream=True), serve, upstream=("h2c://one", "http://two")) as proxied,
        RawClient(proxied.connect()) as client,
    ):
        await client.send(GET)
        await client.read_until(b"\r\n0\r\n\r\n")
        record = await proxied.last()
    assert client.body == b"".join(b"9\r\ndata: %d\n\n\r\n" % number for number in range(9)) + b"0\r\n\r\n"
    assert (record.upstream.protocol, record.response.events_out) == ("http/1.1", 9)


async def test_what_is_taken_out_of_the_request_is_taken_out_each_time_and_told_once(autojump_clock):
    scenario = {"version": 1, "faults": [{"retry_upstream": "5xx"}, {"cut": {"at": {"event": 2}, "then": "clean"}}]}
    origin = Origin([BUSY], [STREAM, ONE, TWO, TWO, b"0\r\n\r\n"])
    async with linked(scenario, origin.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(b"GET / HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n")
        await client.read_until(b"\r\n0\r\n\r\n")
        record = await proxied.last()
    assert [b"gzip" in one.head for one in origin.requests] == [False, False]
    assert (record.upstream.removed, record.response.events_out) == (["accept-encoding"], 2)
    assert client.body == ONE + TWO + b"0\r\n\r\n"


async def test_a_client_that_waits_to_be_told_sends_its_body_once(autojump_clock):
    """It is told by the first one, and by the second once more: both are legal (RFC 9110 section 15.2)."""
    told = b"HTTP/1.1 100 Continue\r\n\r\n"
    origin = Origin([told, Pause(1), BUSY], [told, HEAD, b"ok"], at_head=True)
    async with linked(retry(on="5xx"), origin.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
        await client.read_until(told)
        await client.send(b"body")
        await client.read_until(b"\r\n\r\nok")
        record = await proxied.last()
        assert client.received == told * 2 + HEAD + b"ok"
    assert (record.request.bytes, record.upstream.retries) == (4, 1)
    assert b"".join(peer.received for peer in origin.peers).count(b"\r\n\r\nbody") == 2
