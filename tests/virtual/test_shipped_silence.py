"""Shipped scenarios in which little or nothing comes, to the millisecond; and the errors inside a 200. Virtual time."""

import json
import zlib
from collections import Counter

import pytest

from chaosproxy.testing.peers import Ending, Pause
from tests.virtual.shipped import DONE, LAST, SSE, chunk, event, no_knobs, stream, told, unchunked

__all__ = ["no_knobs"]


async def test_slow_first_token_keeps_the_head_out_of_it(autojump_clock):
    seen = await told("slow-first-token", stream(8, 3))
    assert seen.head == 0
    assert seen.events == [(20, 7), (21, 1), (24, 1)]
    assert seen.whole


async def test_head_held_shows_not_even_a_status_line(autojump_clock):
    seen = await told("head-held", stream(8, 3))
    assert seen.head == 20
    assert (seen.status, seen.events[0], seen.count, seen.whole) == (200, (20, 7), 9, True)


async def test_stall_comments_is_alive_by_every_byte_and_dead_by_every_token(autojump_clock):
    seen = await told("stall-comments", stream(8, 1), within=100)
    assert (seen.events, seen.ending) == ([(0, 1), (1, 1), (2, 1)], Ending.OPEN)
    assert seen.body.count(b"\r\n:") == 6
    assert seen.pieces[-1][0] == 92


async def test_stall_comments_ends_when_it_is_told_to(autojump_clock, monkeypatch):
    monkeypatch.setenv("CHAOS_FOR", "40s")
    seen = await told("stall-comments", stream(8, 1))
    assert (seen.events[-1], seen.count, seen.whole) == ((42, 6), 9, True)


async def test_black_hole_never_says_anything_again(autojump_clock):
    seen = await told("black-hole", stream(8, 1), within=1000)
    assert (seen.events, seen.ending, seen.whole) == ([(0, 1), (1, 1), (2, 1)], Ending.OPEN, False)
    assert seen.pieces[-1][0] == 2


async def test_slow_drip_lets_each_read_succeed_and_the_first_event_take_long(autojump_clock):
    seen = await told("slow-drip", [SSE, chunk(event(1)), Ending.OPEN], within=60)
    assert [time for time, _ in seen.pieces[1:]] == [number * 4 for number in range(len(event(1)))]
    assert seen.body.count(b"\r\n1\r\n") + 1 == len(event(1)), "a byte at a time, each a chunk of its own"


async def decodable(scenario) -> dict[float, int]:
    """How many events could be decoded at each moment that could not be before."""
    seen = await told(scenario, stream(4, 1))
    assert b"content-encoding: gzip" in seen.raw.lower()
    decoder = zlib.decompressobj(zlib.MAX_WBITS + 16)
    arrivals: Counter[float] = Counter()
    for time, data in seen.pieces:
        body = data.partition(b"\r\n\r\n")[2] if data.startswith(b"HTTP/") else data
        arrivals[time] += decoder.decompress(unchunked(body)).count(b"data: ")
    assert decoder.eof
    return dict(+arrivals)


async def test_gzip_until_end_decodes_at_the_end(autojump_clock):
    assert await decodable("gzip-until-end") == {4: 5}


async def test_gzip_sync_decodes_as_it_comes(autojump_clock):
    assert await decodable("gzip-sync") == {0: 1, 1: 1, 2: 1, 3: 1, 4: 1}


async def test_gzip_one_behind_is_late_by_one(autojump_clock):
    assert await decodable("gzip-one-behind") == {1: 1, 2: 1, 3: 1, 4: 2}


@pytest.mark.parametrize("name", ["gzip-until-end", "gzip-sync", "gzip-one-behind"])
async def test_a_client_that_takes_no_gzip_gets_none(name, autojump_clock):
    plain = b"GET /sse HTTP/1.1\r\nHost: x\r\n\r\n"
    seen = await told(name, stream(4, 1), request=plain)
    assert seen.events == [(number, 1) for number in range(5)]


async def test_error_openai_is_an_event_and_a_clean_end(autojump_clock):
    seen = await told("error-openai", stream(8, 1))
    assert (seen.status, seen.whole, seen.ending) == (200, True, Ending.OPEN)
    assert (seen.count, seen.events[-1]) == (6, (4, 2)) or (seen.count, seen.events[-2:]) == (6, [(4, 1), (4, 1)])
    said = json.loads(seen.payload.rpartition(b"data: ")[2])
    assert said["error"]["message"] == "The server had an error while processing your request"
    assert said["error"]["code"] == "server_error"
    assert DONE not in seen.body


async def test_error_anthropic_has_its_type(autojump_clock):
    seen = await told("error-anthropic", stream(8, 1))
    last = seen.payload.rpartition(b"event: error\ndata: ")[2]
    said = json.loads(last)
    assert said["type"] == "error"
    assert (said["error"]["type"], said["error"]["message"]) == ("overloaded_error", "Overloaded")
    assert (seen.count, seen.whole) == (6, True)


async def test_error_ollama_is_a_line(autojump_clock):
    head = SSE.replace(b"text/event-stream", b"application/x-ndjson")
    script = [head]
    for number in range(8):
        script += [Pause(1), chunk(b'{"message": {"content": "%d"}, "done": false}\n' % number)]
    seen = await told("error-ollama", [*script, chunk(b'{"done": true}\n'), LAST])
    lines = [json.loads(line) for line in seen.payload.splitlines()]
    assert [line.get("done") for line in lines[:5]] == [False] * 5
    assert lines[5:] == [{"error": "an error was encountered while running the model"}]
    assert seen.whole
