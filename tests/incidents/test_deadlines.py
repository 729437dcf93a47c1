"""Limits of the machines in between: what is on the wire when one is over, and who notices."""

import trio

from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, Origin, Pause, RawClient
from chaosproxy.testing.proxied import linked
from tests.incidents.readers import careful, ids_of, strict, text_of, trusting
from tests.virtual.shipped import GET, LAST, SSE, chunk, event, stream, told

INTERNAL_ERROR = 0x2


async def test_a_healthy_request_dies_before_its_first_token(autojump_clock):
    seen = await told("idle-before-first-token", stream(3, 0.02))
    assert (seen.head, seen.body, seen.ending, seen.ended) == (0, b"", Ending.RST, 60)
    assert trusting(seen).outcome == "whole"
    assert careful(seen).outcome == "broken"
    assert text_of(seen) == "", "nothing was shown: asking again is right"


async def test_a_page_of_html_where_a_stream_was_asked_for(autojump_clock):
    seen = await told("gateway-timeout", stream(300, 1), within=170)
    assert (seen.head, seen.status, seen.count) == (100, 524, 0)
    assert b"\r\ncontent-type: text/html" in seen.raw.lower()
    assert seen.hung_up[1] == 100


async def test_the_limit_is_shorter_than_the_heartbeat(autojump_clock, monkeypatch):
    seen = await told("idle-cut", stream(8, 1))
    assert (seen.count, seen.ending, seen.ended) == (3, Ending.FIN, 12)
    assert strict(seen).outcome == "broken"
    assert trusting(seen).outcome == "whole"
    monkeypatch.setenv("CHAOS_FOR", "8s")
    assert (await told("idle-cut", stream(8, 1))).whole, "a heartbeat shorter than the limit is enough"


async def test_a_504_leaves_an_orphan_behind(autojump_clock, monkeypatch):
    seen = await told("orphaned-by-504", stream(60, 1))
    assert (seen.head, seen.status) == (25, 504)
    (request,) = seen.origin.requests
    assert request.left is None, "generated to its end, for nobody"
    monkeypatch.setenv("CHAOS_ABORT", "propagate")
    told_so = await told("orphaned-by-504", stream(60, 1))
    assert (told_so.status, told_so.hung_up[1]) == (504, 25)


async def test_one_router_has_two_limits_and_two_endings(autojump_clock):
    async with linked("router-window", Origin(stream(8, 1)).serve) as proxied:
        answers = []
        for _ in range(2):
            async with RawClient(proxied.connect()) as client:
                began = trio.current_time()
                await client.send(GET)
                await client.read_all(within=100)
                answers.append((client.received.split()[1], client.received.count(b"data: "), client.ending))
                answers.append(round((client.ended_at or client.pieces[-1][0]) - began))
    assert answers == [(b"503", 0, None), 30, (b"200", 3, Ending.FIN), 57]


async def test_a_limit_on_the_whole_leaves_in_full_flow(autojump_clock):
    seen = await told("long-and-steady", stream(400, 0.01))
    assert (seen.whole, seen.count) == (True, 401)
    assert max(after - before for (before, _), (after, _) in zip(seen.events, seen.events[1:], strict=False)) <= 1
    async with linked("long-and-steady", Origin(stream(400, 0.01)).serve) as proxied:
        async with RawClient(proxied.connect()) as client:
            await client.send(GET)
            with trio.move_on_after(300):
                await client.read_all(within=1000)
        record = await proxied.last()
    assert (record.end.by, record.response.events_out) == ("client", 301)


async def test_a_heartbeat_slower_than_the_limit(autojump_clock):
    seen = await told("ping-slower-than-limit", stream(3, 60, first=60))
    assert (seen.count, seen.ending, seen.ended) == (0, Ending.FIN, 45)
    assert strict(seen).outcome == "broken"


async def test_some_requests_take_the_wrong_way(autojump_clock):
    served = Origin(stream(2, 1))
    async with linked("misrouted", served.serve) as proxied:
        counts = []
        for _ in range(20):
            async with RawClient(proxied.connect()) as client:
                began = trio.current_time()
                await client.send(GET)
                with trio.move_on_after(60):
                    while not client.received.endswith(LAST) and await client.read():
                        pass
                counts.append((client.received.count(b"data: "), round(trio.current_time() - began)))
    assert set(counts) == {(1, 5), (3, 2)}
    assert 4 <= counts.count((1, 5)) <= 16


async def test_who_connects_again_with_an_old_cursor_reads_the_same_again(autojump_clock, monkeypatch):
    monkeypatch.setenv("CHAOS_IDLE", "60s")
    monkeypatch.setenv("CHAOS_FOR", "90s")

    def after(last: int) -> list:
        return [SSE, *[chunk(b"id: %d\n%s" % (one, event(one))) for one in range(last + 1, last + 4)], Ending.OPEN]

    async def two_connections(script_of_second: list, cursor: bytes) -> tuple[list[int], bytes]:
        served, ids = Origin(after(0), script_of_second), []
        async with linked("idle-cut", served.serve) as proxied:
            for extra in (b"", cursor):
                async with RawClient(proxied.connect()) as client:
                    await client.send(GET[:-2] + extra + b"\r\n")
                    assert await client.read_all(within=100) is Ending.FIN
                    assert not client.received.endswith(LAST)
                    ids += ids_of(client.body)
        return ids, served.requests[1].head

    ids, head = await two_connections(after(3), b"Last-Event-ID: 3\r\n")
    assert (ids, b"\r\nlast-event-id: 3\r\n" in head.lower()) == ([1, 2, 3, 4, 5, 6], True)
    assert (await two_connections(after(0), b""))[0] == [1, 2, 3, 1, 2, 3]


async def test_a_quiet_stream_is_reset_and_its_sibling_goes_on(autojump_clock, monkeypatch):
    monkeypatch.setenv("CHAOS_IDLE", "120s")
    monkeypatch.setenv("CHAOS_FOR", "200s")
    served = Origin(stream(8, 1), stream(2, 150))
    async with linked("idle-cut", served.serve) as proxied, h2_client(proxied.connect()) as client:
        began = trio.current_time()
        await client.request(1, "/sse")
        await client.until(lambda: client.streams[1].frames, within=10)
        await client.until(lambda: client.streams[1].over, within=1000)
        assert (client.streams[1].reset, round(trio.current_time() - began)) == (INTERNAL_ERROR, 122)
        await client.request(3, "/sse")
        await client.until(lambda: client.streams[3].frames, within=1000)
        assert (client.streams[3].over, client.goaways) == (False, [])


async def test_traffic_keeps_no_connection_alive(autojump_clock, monkeypatch):
    monkeypatch.setenv("CHAOS_TOTAL", "600s")
    seen = await told("total-timeout", stream(1000, 0.9))
    assert (seen.whole, seen.ending, seen.ended) == (False, Ending.FIN, 600)
    assert seen.ended - seen.events[-1][0] < 0.9


async def test_a_limit_that_cannot_be_raised(autojump_clock, monkeypatch):
    monkeypatch.setenv("CHAOS_TOTAL", "230s")
    seen = await told("total-timeout", stream(1000, 0.9))
    assert (seen.whole, seen.ending, seen.ended) == (False, Ending.FIN, 230)
    assert careful(seen).outcome == "broken"


async def test_a_worker_is_killed_in_full_flow(autojump_clock):
    seen = await told("killed-mid-chunk", stream(400, 0.1))
    assert (seen.ending, seen.ended) == (Ending.FIN, 30)
    size, _, rest = seen.body[seen.body.rindex(b"\n\n\r\n") + 4 :].partition(b"\r\n")
    assert int(size, 16) > len(rest)
    assert strict(seen).outcome == "broken"
    assert text_of(seen).endswith("300")


async def test_which_limit_fires_for_each_kind_of_trouble(autojump_clock):
    no_head = await told("recommended", [Pause(20), *stream(3, 0.02)])
    assert (no_head.head, no_head.status, no_head.record.end.cause) == (10, 504, "timeout:first_byte")
    no_token = await told("recommended", stream(3, 0.02, first=50))
    assert (no_token.head, no_token.ended, no_token.record.end.cause) == (0, 30, "timeout:idle")
    no_next = await told("recommended", [*stream(3, 1)[:-2], Pause(50), LAST])
    assert (no_next.count, no_next.ended, no_next.record.end.cause) == (3, 32, "timeout:idle")
    no_end = await told("recommended", stream(700, 1))
    assert (no_end.ended, no_end.record.end.cause) == (600, "timeout:total")
    healthy = await told("recommended", stream(20, 25, first=9))
    assert healthy.whole, "a long answer with nothing wrong is nobody's business"
