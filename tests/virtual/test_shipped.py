"""Shipped scenarios as a client meets them, to the millisecond: virtual time, the files as they are."""

from dataclasses import dataclass

import trio

from chaosproxy.scenario import library
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, Origin, Pause, RawClient
from chaosproxy.testing.proxied import linked
from tests.virtual.shipped import DONE, GET, LAST, chunk, event, no_knobs, stream, told

__all__ = ["no_knobs"]


async def test_tokens_pass_as_they_came_each_in_its_chunk(autojump_clock):
    script = stream(8, 0.02, first=0.05)
    seen = await told("tokens", script)
    assert seen.head == 0
    assert seen.events == [(round(0.05 + 0.02 * number, 3), 1) for number in range(9)]
    assert seen.body == b"".join(step for step in script[1:] if isinstance(step, bytes))
    assert seen.whole


async def test_buffer_4k_gives_nothing_before_the_end_of_a_small_stream(autojump_clock):
    seen = await told("buffer-4k", stream(40, 0.01))
    assert (seen.head, seen.events, seen.whole) == (0, [(0.4, 41)], True)


async def test_batches_come_by_the_clock(autojump_clock):
    seen = await told("batches", stream(20, 4))
    assert seen.events == [(30, 8), (62, 8), (80, 5)]
    assert seen.whole


async def test_whole_answer_comes_in_one_piece(autojump_clock):
    seen = await told("whole-answer", stream(500, 0.1))
    assert (seen.head, seen.events, seen.whole) == (0, [(50, 501)], True)


async def test_idle_drop_cuts_a_healthy_stream(autojump_clock):
    seen = await told("idle-drop", stream(40, 0.5))
    assert (seen.head, seen.count, seen.ending, seen.ended) == (0, 0, Ending.FIN, 5)
    assert seen.record.end.cause == "timeout:idle"


async def test_idle_drop_with_its_hops_swapped_cuts_nothing(autojump_clock, tmp_path):
    text = library.find("idle-drop").read_text()
    above, first, second = text.partition("hops:\n")[0], *text.partition("hops:\n")[2].split("  - name: balancer")
    swapped = tmp_path / "swapped.yaml"
    swapped.write_text(f"{above}hops:\n  - name: balancer{second}{first}")
    seen = await told(swapped, stream(40, 0.5))
    assert (seen.count, seen.whole) == (41, True)


async def test_missing_done_looks_whole_to_http(autojump_clock):
    seen = await told("missing-done", stream(8, 0.02))
    assert (seen.status, seen.count, seen.whole) == (200, 8, True)
    assert DONE not in seen.body
    assert (seen.record.end.by, seen.record.end.how, seen.record.end.cause) == ("proxy", "clean", "cut")


async def test_missing_last_chunk_is_a_fin_in_mid_answer(autojump_clock):
    seen = await told("missing-last-chunk", stream(8, 1))
    assert (seen.events, seen.whole, seen.ending, seen.ended) == ([(0, 1), (1, 1), (2, 1)], False, Ending.FIN, 2)
    assert seen.body == chunk(event(1)) + chunk(event(2)) + chunk(event(3))


async def test_reset_comes_right_behind_event_3(autojump_clock):
    seen = await told("reset", stream(8, 1))
    assert (seen.count, seen.ending, seen.ended) == (3, Ending.RST, 2)


async def test_killed_mid_chunk_leaves_a_chunk_that_is_not_all_there(autojump_clock):
    seen = await told("killed-mid-chunk", stream(20, 4))
    assert (seen.count, seen.ending, seen.ended) == (8, Ending.FIN, 30)
    assert seen.body.endswith(chunk(event(8)) + b"10\r\n")


async def test_rate_limited_refuses_the_first_and_lets_the_next_pass(autojump_clock):
    served = Origin(stream(3, 0.02))
    async with linked("rate-limited", served.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(GET)
        await client.read_until(b"rate_limit_exceeded")
        assert client.head.startswith(b"HTTP/1.1 429 ")
        assert b"\r\nretry-after: 1" in client.head.lower()
        assert served.connections == 0
        await trio.sleep(1)
        await client.send(GET)
        await client.read_until(LAST)
        assert client.received.count(b"HTTP/1.1 200 ") == 1


async def test_total_timeout_cuts_in_full_flow(autojump_clock):
    seen = await told("total-timeout", stream(40, 0.9))
    assert (seen.count, seen.whole, seen.ending, seen.ended) == (17, False, Ending.FIN, 15)
    assert seen.record.end.cause == "timeout:total"


@dataclass
class Streams:
    """Three streams of one HTTP/2 connection, and the connection itself."""

    counts: list[int]
    resets: list[int | None]
    ended: list[bool]
    goaways: list[tuple[int, int]]


async def streams(scenario) -> Streams:
    served = Origin(stream(8, 1))
    async with linked(scenario, served.serve) as proxied, h2_client(proxied.connect()) as client:
        for number in (1, 3, 5):
            await client.request(number, "/sse")
        await client.until(lambda: all(client.streams[number].over for number in (1, 3, 5)), within=100)
        seen = [client.streams[number] for number in (1, 3, 5)]
        return Streams(
            [one.body.count(b"data: ") for one in seen],
            [one.reset for one in seen],
            [one.ended for one in seen],
            client.goaways,
        )


async def test_h2_reset_takes_one_stream_after_exactly_3_events_and_leaves_its_siblings(autojump_clock):
    seen = await streams("h2-reset")
    assert seen.counts == [3, 9, 9]
    assert seen.resets == [0x2, None, None]
    assert seen.ended == [False, True, True]
    assert seen.goaways == []


async def test_h2_reset_is_none_of_http_1_s_business(autojump_clock):
    assert (await told("h2-reset", stream(8, 1))).whole


async def test_missing_last_chunk_over_http_2_is_a_reset_of_each_stream(autojump_clock):
    seen = await streams("missing-last-chunk")
    assert (seen.counts, seen.resets) == ([3, 3, 3], [0x2, 0x2, 0x2])


async def test_goaway_lets_the_stream_run_on_to_its_end(autojump_clock):
    served = Origin(stream(8, 1))
    async with linked("goaway", served.serve) as proxied, h2_client(proxied.connect()) as client:
        await client.request(1, "/sse")
        await client.until(lambda: client.goaways, within=100)
        assert client.streams[1].body.count(b"data: ") == 3
        await client.until(lambda: client.streams[1].over, within=100)
        assert (client.goaways, client.streams[1].ended, client.streams[1].reset) == ([(0, 1)], True, None)
        assert client.streams[1].body.count(b"data: ") == 9


async def short_ones(scenario, *, long: float = 0.5, short: float = 0.02) -> list[int]:
    """A long request and five short ones just behind it, each on a connection of its own: how long each took, in ms."""
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    served = Origin([Pause(long), answer], [Pause(short), answer])
    took = dict.fromkeys(range(6), 0)

    async def one(number: int) -> None:
        began = trio.current_time()
        async with RawClient(proxied.connect()) as client:
            await client.send(GET)
            await client.read_until(b"ok", within=60)
        took[number] = round((trio.current_time() - began) * 1000)

    async with linked(scenario, served.serve) as proxied, trio.open_nursery() as nursery:
        for number in range(6):
            nursery.start_soon(one, number)
            await trio.sleep(0.000_01)
    return list(took.values())


async def test_one_connection_makes_five_short_requests_wait_for_the_long_one(autojump_clock):
    assert await short_ones("one-connection") == [500, 520, 540, 560, 580, 600]
    assert await short_ones("tokens") == [500, 20, 20, 20, 20, 20]


async def test_one_connection_with_six_of_them_makes_nobody_wait(autojump_clock, monkeypatch):
    monkeypatch.setenv("CHAOS_CONNECTIONS", "6")
    assert await short_ones("one-connection") == [500, 20, 20, 20, 20, 20]


async def test_gateway_timeout_is_a_page_where_a_stream_should_be(autojump_clock):
    seen = await told("gateway-timeout", [Pause(1), *stream(8, 0.02)], within=170)
    assert (seen.head, seen.status, seen.count) == (100, 524, 0)
    assert b"text/html" in seen.raw
    assert b"<!DOCTYPE html>" in seen.body
    assert seen.record.end.cause == "timeout:first_byte"


ASKED_IN_1_0 = [
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n",
    Pause(0.5),
    *(step for number in range(1, 101) for step in (Pause(1), event(number) + b": ".ljust(40, b".") + b"\n\n")),
    Ending.FIN,
]
"""What a server without chunks answers: a token a second."""


async def test_nginx_balancer_edge_is_a_504_for_a_stream_that_is_alive(autojump_clock):
    seen = await told("nginx-balancer-edge", ASKED_IN_1_0)
    assert (seen.head, seen.status, seen.count, seen.record.end.cause) == (30, 504, 0, "timeout:first_byte")
    assert [one.hop_name for one in seen.record.faults if one.fault == "timeout"] == ["aws-cloudfront"]
    assert seen.hung_up == (Ending.FIN, 30)


async def test_nginx_balancer_edge_told_otherwise_passes_each_token(autojump_clock, monkeypatch):
    monkeypatch.setenv("CHAOS_BUFFERING", "off")
    seen = await told("nginx-balancer-edge", ASKED_IN_1_0)
    assert seen.events == [(number + 0.5, 1) for number in range(1, 101)]
    monkeypatch.delenv("CHAOS_BUFFERING")
    monkeypatch.setenv("CHAOS_HTTP", "1.1")
    chunks = [ASKED_IN_1_0[0][:-2] + b"Transfer-Encoding: chunked\r\n\r\n"]
    chunks += [chunk(step) if isinstance(step, bytes) else step for step in ASKED_IN_1_0[1:-1]]
    seen = await told("nginx-balancer-edge", [*chunks, LAST])
    assert (seen.count, seen.events[0], seen.whole) == (100, (1.5, 1), True)
