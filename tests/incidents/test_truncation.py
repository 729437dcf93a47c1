"""Answers that end too early: what is on the wire, and who notices."""

import json

import pytest

from chaosproxy.testing.peers import Ending
from tests.incidents.readers import Made, careful, reason_of, strict, tool_calls, trusting
from tests.virtual.shipped import LAST, SSE, anthropic, chunk, event, stream, told

SIZED = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n"
TOOL = [
    {"type": "message_start", "message": {"content": []}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "name": "rm", "input": {}}},
    *[
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": part}}
        for part in ('{"path": ', '"/tmp/', "old", '-files"', "}")
    ],
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
    {"type": "message_stop"},
]


@pytest.mark.parametrize("script", [[SIZED % 48 + b"x" * 48], [SSE, chunk(b"x" * 48), LAST]], ids=["length", "chunked"])
async def test_a_body_shorter_than_it_said(autojump_clock, script):
    seen = await told("short-of-its-length", script, within=60)
    assert b"\r\ncontent-length: 48\r\n" in seen.raw.lower()
    assert (seen.body, seen.ending) == (b"x" * 31, Ending.FIN)
    assert trusting(seen).outcome == "whole"
    assert strict(seen).outcome == "broken"


async def test_a_fin_without_the_last_chunk(autojump_clock):
    seen = await told("missing-last-chunk", stream(8, 1))
    assert (seen.events, seen.ending, seen.ended) == ([(0, 1), (1, 1), (2, 1)], Ending.FIN, 2)
    assert seen.body == chunk(event(1)) + chunk(event(2)) + chunk(event(3))
    assert trusting(seen) == Made("whole", "123")
    assert strict(seen) == careful(seen) == Made("broken", "123")


async def test_a_fin_inside_a_chunk(autojump_clock):
    seen = await told("killed-mid-chunk", stream(20, 4))
    assert (seen.count, seen.ending, seen.ended) == (8, Ending.FIN, 30)
    assert seen.body.endswith(chunk(event(8)) + b"10\r\n"), "16 bytes announced, none sent"
    assert strict(seen) == Made("broken", "12345678")


async def test_a_cut_body_becomes_a_clean_200(autojump_clock):
    seen = await told("hidden-failure", stream(8, 1))
    assert (seen.status, seen.events) == (200, [(0, 1), (1, 1), (2, 1)])
    assert seen.body == chunk(event(1)) + chunk(event(2)) + chunk(event(3)) + LAST
    assert strict(seen) == Made("whole", "123")
    assert careful(seen) == Made("broken", "123")
    assert seen.hung_up[1] == 2


async def test_no_last_word(autojump_clock):
    seen = await told("missing-done", stream(8, 0.02))
    assert (seen.count, seen.whole, b"[DONE]" in seen.body) == (8, True, False)
    assert strict(seen) == Made("whole", "12345678")
    assert careful(seen) == Made("broken", "12345678")


async def test_half_the_arguments_of_a_tool(autojump_clock, monkeypatch):
    monkeypatch.setenv("CHAOS_EVENT", "5")
    seen = await told("hidden-failure", [SSE, *anthropic(TOOL), LAST])
    assert seen.whole
    assert tool_calls(seen, mends=True) == [{"path": "/tmp/old"}], "another directory than the one that was meant"
    assert tool_calls(seen, mends=False) == []
    whole = await told("tokens", [SSE, *anthropic(TOOL), LAST])
    assert tool_calls(whole, mends=False) == [{"path": "/tmp/old-files"}]


async def test_no_reason_why_it_ended(autojump_clock):
    seen = await told("no-message-stop", [SSE, *anthropic(TOOL), LAST])
    assert json.loads(seen.payload.splitlines()[-2].removeprefix(b"data: "))["type"] == "content_block_stop"
    assert (strict(seen).outcome, careful(seen).outcome) == ("whole", "broken")


async def test_a_head_and_nothing_behind_it(autojump_clock):
    seen = await told("empty-reply", [SIZED % 999 + b"x" * 999], within=60)
    assert (seen.status, seen.body, seen.ending) == (200, b"", Ending.FIN)
    assert b"\r\ncontent-length: 999" in seen.raw.lower()
    assert strict(seen).outcome == "broken"


async def test_not_even_a_head(autojump_clock, monkeypatch):
    monkeypatch.setenv("CHAOS_AT", "request_end")
    seen = await told("empty-reply", [SIZED % 999 + b"x" * 999], within=60)
    assert (seen.raw, seen.ending) == (b"", Ending.FIN)
    assert trusting(seen) == Made("whole", "")
    assert strict(seen).outcome == "broken"


async def test_the_end_overtakes_what_was_queued(autojump_clock):
    seen = await told("lost-tail", [SSE, *[chunk(b"data: %s\n\n" % (b"x" * 120))] * 100, LAST])
    assert len(seen.payload) == 512
    assert seen.whole
    assert (strict(seen).outcome, careful(seen).outcome) == ("whole", "broken")


async def test_a_last_word_without_a_reason(autojump_clock):
    deltas = [b'{"choices":[{"delta":{"content":"%d"},"finish_reason":null}]}' % number for number in range(3)]
    script = [*deltas, b'{"choices":[{"delta":{},"finish_reason":"stop"}]}', b"[DONE]"]
    answer = [SSE, *[chunk(b"data: %s\n\n" % one) for one in script], LAST]
    seen = await told("no-finish-reason", answer)
    assert (careful(seen), seen.count) == (Made("whole", "012"), 4)
    assert (reason_of(seen), reason_of(await told("tokens", answer))) == (None, "stop")


async def test_no_line_says_done(autojump_clock):
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
    lines = [chunk(b'{"message":{"content":"%d"},"done":false}\n' % number) for number in range(8)]
    seen = await told("missing-done", [head, *lines, chunk(b'{"message":{"content":""},"done":true}\n'), LAST])
    found = [json.loads(line) for line in seen.payload.splitlines()]
    assert (len(found), seen.whole) == (8, True)
    assert {line["done"] for line in found} == {False}


async def test_a_last_line_without_its_flag(autojump_clock):
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
    lines = [b'{"message":{"content":"1"},"done":false}\n', b'{"done":true,"done_reason":"stop","eval_count":1}\n']
    seen = await told("done-flag-missing", [head, *map(chunk, lines), LAST])
    *_, last = [json.loads(line) for line in seen.payload.splitlines()]
    assert (last, seen.whole) == ({"done_reason": "stop", "eval_count": 1}, True)
    assert last.get("done") is not True, "who insists on the flag throws a whole answer away"
