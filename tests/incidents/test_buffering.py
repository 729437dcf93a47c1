"""Machines that gather: what is on the wire, and who notices."""

import json

from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Origin, Pause
from chaosproxy.testing.proxied import linked
from tests.incidents.readers import events, one_event_a_read, text_of
from tests.virtual.shipped import LAST, SSE, chunk, event, stream, told, unchunked

POST = b"POST /sse HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
AT_ONCE = [(0, 1), (1, 1), (2, 1), (3, 1)]


async def test_one_method_streams_and_the_other_does_not(autojump_clock, monkeypatch):
    monkeypatch.setenv("CHAOS_METHOD", "GET")
    by_get = await told("whole-answer", stream(3, 1))
    assert (by_get.head, by_get.events, by_get.whole) == (0, [(3, 4)], True)
    assert (await told("whole-answer", stream(3, 1), request=POST)).events == AT_ONCE


async def test_a_charset_takes_the_path_that_gathers(autojump_clock, monkeypatch):
    seen = await told("whole-answer-by-type", stream(3, 1))
    assert b"\r\ncontent-type: text/event-stream; charset=utf-8" in seen.raw.lower()
    assert seen.events == [(3, 4)]
    monkeypatch.setenv("CHAOS_TYPE", "text/event-stream")
    assert (await told("whole-answer-by-type", stream(3, 1))).events == AT_ONCE


async def test_the_head_waits_for_the_first_event(autojump_clock):
    seen = await told("head-held", stream(3, 1))
    assert (seen.head, seen.events[0]) == (20, (20, 4))
    assert (await told("slow-first-token", stream(3, 1))).head == 0, "a timer of the head tells the two apart"


async def test_a_sparse_stream_arrives_by_the_clock(autojump_clock):
    sparse = await told("batches", stream(10, 10))
    assert sparse.events == [(30, 3), (60, 3), (90, 3), (100, 2)]
    busy = await told("batches", [SSE, *[chunk(b"data: %s\n\n" % (b"x" * 1016))] * 64, LAST])
    assert busy.events == [(0, 32), (0, 32)], "32 KiB at a time: a test with much traffic sees nothing"


async def test_the_route_with_the_hint_streams(autojump_clock):
    told_so = [SSE.replace(b"\r\n\r\n", b"\r\nX-Accel-Buffering: no\r\n\r\n"), *stream(3, 1)[1:]]
    assert (await told("whole-answer-unless-told", stream(3, 1))).events == [(3, 4)]
    seen = await told("whole-answer-unless-told", told_so)
    assert seen.events == AT_ONCE
    assert b"accel" not in seen.raw.lower()


async def test_the_chunks_of_a_proxy_are_not_those_of_the_server(autojump_clock):
    tokens = [chunk(b"data: %s\n\n" % json.dumps({"n": number, "pad": "x" * 50}).encode()) for number in range(10, 70)]
    seen = await told("growing-chunks", [SSE, *[step for one in tokens for step in (one, Pause(1))], LAST])
    sizes = [int(data.partition(b"\r\n")[0], 16) for _, data in seen.pieces[1:] if data != LAST]
    assert sizes == [512, 2048, 2048, sum(map(len, tokens)) - 60 * len(b"4b\r\n\r\n") - 512 - 2 * 2048]
    assert len(events(seen.payload)) == 60
    assert one_event_a_read(seen).outcome == "broken"


async def test_all_events_come_in_one_read(autojump_clock):
    seen = await told("whole-answer", stream(8, 1))
    assert seen.body == chunk(b"".join(event(number) for number in range(1, 9)) + b"data: [DONE]\n\n") + LAST
    assert text_of(seen) == "12345678"
    assert one_event_a_read(seen).text == "1"


async def test_no_status_line_for_five_minutes(autojump_clock):
    seen = await told("no-status-line", stream(3, 0.02))
    assert (seen.head, seen.whole, seen.count) == (300, True, 4)
    (request,) = seen.origin.requests
    assert request.left is None
    assert (await told("no-status-line", stream(3, 0.02), within=60)).pieces == []


async def test_http_2_gathers_where_http_1_did_not(autojump_clock):
    assert (await told("whole-over-h2", stream(3, 1))).events == AT_ONCE
    async with linked("whole-over-h2", Origin(stream(3, 1)).serve) as proxied, h2_client(proxied.connect()) as client:
        await client.request(1, "/sse")
        await client.until(lambda: client.streams[1].over, within=100)
        assert [payload.count(b"data: ") for _, payload in client.streams[1].frames if payload] == [4]


async def test_the_tail_is_pushed_out_by_keep_alives(autojump_clock):
    answer = b"data: %s\n\n" % (b"x" * 192)
    seen = await told("stuck-tail", [SSE, chunk(answer), Pause(120), LAST])
    (first, data), *_ = [(time, data) for time, data in seen.pieces if b"data: " in data]
    assert (first, len(unchunked(data.partition(b"\r\n\r\n")[2] if data.startswith(b"HTTP") else data))) == (40, 256)
    assert len(events(seen.payload)) == 1, "the order is right, and the total"
    assert first - 0 > 30, "its age is not"
