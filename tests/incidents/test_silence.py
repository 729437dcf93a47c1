"""Streams that fall silent, or only sound alive: what is on the wire, and who notices when."""

import json

import trio

from chaosproxy.testing.peers import Ending, Origin, Pause, RawClient
from chaosproxy.testing.proxied import linked
from tests.incidents.readers import careful, gives_up_by_bytes, gives_up_by_content, gives_up_by_events, strict
from tests.virtual.shipped import GET, SSE, chunk, event, stream, told, unchunked

CHAT = [chunk(b'data: {"choices":[{"index":0,"delta":{"content":"%d"}}]}\n\n' % number) for number in range(1, 9)]


async def test_comments_keep_a_dead_stream_alive(autojump_clock):
    seen = await told("stall-comments", stream(8, 1), within=600)
    assert (seen.count, seen.ending) == (3, Ending.OPEN)
    assert [time for time, _ in seen.pieces if time > 2][:3] == [17, 32, 47]
    assert gives_up_by_bytes(seen, idle=60) is None
    assert gives_up_by_events(seen, idle=60) == gives_up_by_content(seen, idle=60) == 62


async def test_pings_keep_a_dead_stream_alive(autojump_clock):
    seen = await told("stall-pings", stream(8, 1), within=600)
    later = [(time, unchunked(data)) for time, data in seen.pieces if time > 2]
    assert [time for time, _ in later][:3] == [17, 32, 47]
    assert {data for _, data in later} == {later[0][1]}
    assert later[0][1].startswith(b"event: ping\n")
    assert gives_up_by_bytes(seen, idle=60) is gives_up_by_events(seen, idle=60) is None
    assert gives_up_by_content(seen, idle=60) == 62


async def test_empty_deltas_keep_a_dead_stream_alive(autojump_clock):
    seen = await told("stall-empty-deltas", [SSE, *[step for one in CHAT for step in (one, Pause(1))]], within=600)
    later = [(time, unchunked(data)) for time, data in seen.pieces if time > 2]
    assert [time for time, _ in later][:3] == [17, 32, 47]
    deltas = [json.loads(data.removeprefix(b"data: "))["choices"][0]["delta"] for _, data in later]
    assert {delta.get("content", "") for delta in deltas} == {""}
    assert gives_up_by_bytes(seen, idle=60) is gives_up_by_events(seen, idle=60) is None
    assert gives_up_by_content(seen, idle=60) == 62


async def test_a_hidden_limit_leaves_a_healthy_stream(autojump_clock):
    patient = await told("long-pause", stream(8, 1))
    assert (patient.events[4:], patient.whole) == ([(4, 1), (314, 4)], True)
    assert gives_up_by_bytes(patient, idle=300) == 304
    async with linked("long-pause", Origin(stream(8, 1)).serve) as proxied:
        async with RawClient(proxied.connect()) as client:
            await client.send(GET)
            with trio.move_on_after(304):
                await client.read_all(within=1000)
        record = await proxied.last()
    assert (record.end.by, record.response.events_out) == ("client", 5)


async def test_a_forgotten_flow_tells_nobody(autojump_clock):
    seen = await told("forgotten-flow", stream(8, 1), within=3600)
    assert (seen.count, seen.pieces[-1][0], seen.ending) == (3, 2, Ending.OPEN)
    assert gives_up_by_bytes(seen, idle=60) == 62
    (request,) = seen.origin.requests
    assert request.left is None, "the server was told nothing either"


async def test_a_byte_now_and_then_defeats_a_limit_for_reads(autojump_clock):
    seen = await told("slow-drip", stream(3, 0.02), within=200)
    assert [time for time, _ in seen.pieces][:4] == [0, 0, 4, 8]
    assert {len(unchunked(data)) for _, data in seen.pieces[2:]} == {1}
    assert gives_up_by_bytes(seen, idle=5) is None
    assert gives_up_by_content(seen, idle=5) == 5


async def test_a_head_may_drip_too(autojump_clock, monkeypatch):
    monkeypatch.setenv("CHAOS_REGION", "head")
    seen = await told("slow-drip", stream(3, 0.02))
    head = seen.raw.index(b"\r\n\r\n") + 4
    assert [(time, len(data)) for time, data in seen.pieces][:3] == [(0, 1), (4, 1), (8, 1)]
    assert seen.events[0][0] == 4 * (head - 1)
    assert gives_up_by_bytes(seen, idle=5) is None


async def test_a_chunk_s_size_may_drip_too(autojump_clock, monkeypatch):
    monkeypatch.setenv("CHAOS_REGION", "chunk_size")
    seen = await told("slow-drip", [SSE, chunk(event(1)), Ending.OPEN], within=60)
    assert [(time, data) for time, data in seen.pieces][1:4] == [(0, b"9"), (4, b"\r"), (8, b"\n")]
    assert (seen.events[0][0], seen.body) == (8, chunk(event(1)))
    assert gives_up_by_bytes(seen, idle=5) == 13


async def test_open_behind_the_last_word(autojump_clock):
    seen = await told("open-after-the-last-word", stream(3, 1), within=1000)
    assert (seen.count, seen.whole, seen.ending, seen.pieces[-1][0]) == (4, False, Ending.OPEN, 3)
    assert careful(seen).outcome == "whole"
    assert strict(seen).outcome == "waits"
    assert gives_up_by_bytes(seen, idle=600) == 603
