"""`error_event`, `headers` and `strip` on real sockets, over both versions of HTTP: bytes, frames, and the journal."""

import pytest
import trio

from chaosproxy.testing.h2_origin import h2_origin
from chaosproxy.testing.h2_peers import H2Peer
from chaosproxy.testing.peers import Ending, RawClient, origin
from chaosproxy.testing.proxied import proxy_on
from tests.loopback.speaking import faults, h2

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENTS = [b"data: %d\n\n" % number for number in range(1, 6)]
ERROR = b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
LAST = b"0\r\n\r\n"
OK = [(b":status", b"200"), (b"content-type", b"text/event-stream")]


def chunk(payload: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(payload), payload)


def get(path: str = "/", *fields: str) -> bytes:
    return "\r\n".join([f"GET {path} HTTP/1.1", "Host: x", *fields, "", ""]).encode()


# ---- error_event

AFTER_THREE = {"error_event": {"at": {"event": 3}, "format": "anthropic"}}


async def test_an_error_is_a_chunk_of_its_own_and_the_connection_goes_on():
    async with (
        origin([HEAD, *map(chunk, EVENTS[:3]), Ending.OPEN], [HEAD, chunk(EVENTS[0]), LAST]) as served,
        proxy_on(faults(AFTER_THREE), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(get())
        await client.read_until(LAST)
        assert client.body == b"".join(map(chunk, [*EVENTS[:3], ERROR])) + LAST
        asked = await served.request(1)
        with trio.fail_after(10):
            await asked.gone.wait()
        assert asked.left is Ending.FIN
        seen = len(client.received)
        await client.send(get())
        with trio.fail_after(10):
            while not client.received[seen:].endswith(LAST):
                assert await client.read()
        first, second = await proxied.finished(2)
    assert (first.end.by, first.end.how, first.end.cause) == ("proxy", "clean", "error_event")
    assert (first.response.events_in, first.response.events_out) == (3, 4)
    assert [(one.fault, one.detail) for one in first.faults] == [
        ("error_event", "clean with an error (anthropic) after event 3")
    ]
    assert first.upstream.end.cause == "error_event"
    assert (second.end.how, [(one.fault, one.reason) for one in second.not_fired]) == (
        "clean",
        [("error_event", "not reached")],
    )


async def test_the_length_of_an_answer_gives_way_to_chunks():
    body = b"".join(EVENTS)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n" % len(body)
    async with (
        origin([head, body]) as served,
        proxy_on(faults(AFTER_THREE), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(get())
        await client.read_until(LAST)
    assert b"ontent-Length" not in client.head
    assert client.body == chunk(b"".join(EVENTS[:3])) + chunk(ERROR) + LAST


async def test_an_error_is_a_frame_of_its_own_and_siblings_go_on():
    async def answer(peer: H2Peer, stream: int) -> None:
        await peer.headers(stream, OK)
        for event in EVENTS:
            await peer.data(stream, event)
        await peer.data(stream, b"", end=True)

    scenario = {"version": 1, "rules": [{"match": {"path": "/fails"}, "faults": [AFTER_THREE]}]}
    async with h2_origin(answer) as url, proxy_on(scenario, url) as proxied, h2(proxied) as client:
        await client.request(1, "/fails")
        await client.request(3, "/")
        await client.until(lambda: client.streams[1].over and client.streams[3].over)
        failed, whole = client.streams[1], client.streams[3]
    assert [payload for _, payload in failed.frames] == [*EVENTS[:3], ERROR]
    assert (failed.ended, failed.reset) == (True, None)
    assert (whole.body, whole.ended) == (b"".join(EVENTS), True)


async def test_an_upload_ends_cleanly_behind_an_error_and_is_answered():
    upload = [b'{"n":%d}\n' % number for number in range(1, 5)]
    fault = {"error_event": {"at": {"event": 2}, "way": "request", "message": "gone"}}
    async with (
        origin([b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"]) as served,
        proxy_on(faults(fault), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(
            b"POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\nContent-Length: 32\r\n\r\n"
        )
        for line in upload:
            await client.send(line)
        await client.read_until(b"\r\n\r\nok")
        asked = await served.request(1)
        record = await proxied.last()
    payloads = asked.body.split(b"\r\n")[1::2]
    assert b"".join(payloads) == b"".join(upload[:2]) + b'{"error":"gone"}\n'
    assert asked.body.endswith(LAST)
    assert b"content-length" not in asked.head.lower()
    assert (record.end.by, record.end.how, record.response.status) == ("upstream", "clean", 200)


# ---- headers


async def test_fields_of_an_answer_keep_order_and_case():
    head = b"HTTP/1.1 200 OK\r\nServer: a\r\nX-One: 1\r\nContent-Length: 2\r\nSet-Cookie: c=d\r\n\r\n"
    fault = {
        "headers": {"set": {"X-ONE": "2"}, "add": {"Via": "1.1 test"}, "remove": "serv*", "duplicate": "set-cookie"}
    }
    async with (
        origin([head, b"ok"]) as served,
        proxy_on(faults(fault), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(get())
        await client.read_until(b"\r\n\r\nok")
        record = await proxied.last()
    assert client.head.split(b"\r\n") == [
        b"HTTP/1.1 200 OK",
        b"X-ONE: 2",
        b"Content-Length: 2",
        b"Set-Cookie: c=d",
        b"Set-Cookie: c=d",
        b"Via: 1.1 test",
    ]
    assert [(one.fault, one.detail) for one in record.faults] == [
        ("headers", "removed server, set X-ONE, added Via, repeated set-cookie")
    ]


async def test_without_its_length_an_answer_is_chunked():
    async with (
        origin([b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"]) as served,
        proxy_on(faults({"headers": {"remove": "content-length"}}), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(get())
        await client.read_until(LAST)
    assert client.received == b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(b"ok") + LAST


async def test_fields_of_a_request_and_its_host():
    fault = {"headers": {"way": "request", "set": {"Host": "other:81", "X-One": "2"}, "remove": ["x-two", "te"]}}
    async with (
        origin([b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"]) as served,
        proxy_on(faults(fault), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
        h2(proxied) as other,
    ):
        await client.send(get("/", "TE: trailers", "Connection: TE", "x-one: 1", "X-Two: 2"))
        await client.read_until(b"\r\n\r\nok")
        asked = await served.request(1)
        await other.request(1)
        await other.until(lambda: other.streams[1].ended)
        again = await served.request(2)
    assert asked.head == b"GET / HTTP/1.1\r\nHost: other:81\r\nX-One: 2\r\n\r\n"
    assert again.head.splitlines()[:2] == [b"GET / HTTP/1.1", b"Host: other:81"]
    assert b"X-One: 2" in again.head.splitlines()


async def test_fields_over_h2_are_in_lower_case_and_the_authority_is_the_host():
    seen: list[list[tuple[bytes, bytes]]] = []

    async def answer(peer: H2Peer, stream: int) -> None:
        seen.extend(peer.streams[stream].heads)
        await peer.headers(stream, [(b":status", b"200"), (b"server", b"a"), (b"b", b"c")], end=True)

    both = [
        {"headers": {"way": "request", "set": {"Host": "other"}, "add": {"X-New": 1}}},
        {"headers": {"remove": "*", "add": {"X-New": "n"}}},
    ]
    async with h2_origin(answer) as url, proxy_on(faults(*both), url) as proxied, h2(proxied) as client:
        await client.request(1)
        await client.until(lambda: client.streams[1].ended)
        assert client.streams[1].heads == [[(b":status", b"200"), (b"x-new", b"n")]]
    (fields,) = seen
    assert dict(fields)[b":authority"] == b"other"
    assert fields[-1] == (b"x-new", b"1")
    assert b"host" not in dict(fields)


# ---- strip

CHAT = [
    b'data: {"choices":[{"delta":{"content":"x"}}],"usage":null}\n\n',
    b'data: {"choices":[],"usage":{"total_tokens":3}}\n\n',
    b"data: [DONE]\n\n",
]
LEFT = b'data: {"choices":[{"delta":{"content":"x"}}]}\n\n'


async def test_a_stream_without_usage_and_done_ends_as_cleanly_as_before():
    async with (
        origin([HEAD, *map(chunk, CHAT), LAST]) as served,
        proxy_on(faults({"strip": ["usage", "done"]}), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(get())
        await client.read_until(LAST)
        record = await proxied.last()
    assert client.body == chunk(LEFT) + LAST
    assert (record.end.by, record.end.how) == ("upstream", "clean")
    assert (record.response.events_in, record.response.events_out) == (3, 1)
    assert [one.detail for one in record.faults] == ["removed usage", "removed done"]


async def test_trailers_are_gone_behind_the_last_chunk():
    async with (
        origin([HEAD, chunk(EVENTS[0]), b"0\r\nX-Sum: 1\r\n\r\n"]) as served,
        proxy_on(faults({"strip": "trailers"}), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(get())
        await client.read_until(LAST)
    assert client.body == chunk(EVENTS[0]) + LAST


@pytest.mark.parametrize("part", ["trailers", "done"])
async def test_grpc_without_its_status_ends_with_end_stream_on_data(part):
    message = b"\0\0\0\0\1x"

    async def answer(peer: H2Peer, stream: int) -> None:
        await peer.headers(stream, [(b":status", b"200"), (b"content-type", b"application/grpc")])
        await peer.data(stream, message)
        await peer.headers(stream, [(b"grpc-status", b"0")], end=True)

    async with h2_origin(answer) as url, proxy_on(faults({"strip": part}), url) as proxied, h2(proxied) as client:
        await client.request(1)
        await client.until(lambda: client.streams[1].over)
        record = await proxied.last()
    stream = client.streams[1]
    assert (len(stream.heads), stream.body, stream.ended, stream.reset) == (1, message, True, None)
    assert [one.detail for one in record.faults] == ["removed trailers"]


async def test_everything_but_the_record_that_has_not_ended_passes_at_once():
    go = trio.Event()
    async with (
        origin([HEAD, chunk(EVENTS[0] + b"data: [DO"), go, chunk(b"NE]\n\n"), LAST]) as served,
        proxy_on(faults({"strip": "done"}), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(get())
        await client.read_until(chunk(EVENTS[0]))
        go.set()
        await client.read_until(LAST)
    assert client.body == chunk(EVENTS[0]) + LAST
