"""Incidents of connections: what is on the wire, and who copes, in virtual time."""

import contextlib
from collections import Counter
from itertools import pairwise

import pytest
import trio

from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, Origin, RawClient
from chaosproxy.testing.proxied import Linked, linked
from tests.virtual.shipped import GET, complete, no_knobs, stream

__all__ = ["no_knobs"]

LONG = 2000.0
CANCEL = 8
LARGEST = 2**31 - 1
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@contextlib.asynccontextmanager
async def clients(proxied: Linked, count: int):
    async with contextlib.AsyncExitStack() as stack:
        yield [await stack.enter_async_context(RawClient(proxied.connect())) for _ in range(count)]


async def test_a_reload_ends_all_together(autojump_clock):
    served = Origin(stream(100, 1))
    async with linked("reload", served.serve) as proxied, clients(proxied, 5) as streams:
        for client in streams:
            await client.send(GET)
            await trio.sleep(2)
        assert [await client.read_all(LONG) for client in streams] == [Ending.FIN] * 5
        assert [client.ended_at for client in streams] == pytest.approx([30] * 5)
        assert not any(complete(client.received) for client in streams)
        async with RawClient(proxied.connect()) as again:
            await again.send(GET)
            await again.read_all(within=60)
            assert again.ending is None


async def test_the_pool_keeps_it_for_longer(autojump_clock):
    served = Origin([ANSWER, ANSWER])
    async with linked("kept-then-closed", served.serve) as proxied:
        async with RawClient(proxied.connect()) as pooled:
            await pooled.send(GET)
            await pooled.read_until(b"ok")
            assert b"close" not in pooled.received.lower()
            assert await pooled.read_all(LONG) is Ending.FIN
            assert pooled.ended_at == pytest.approx(5)
        assert len(served.requests) == 1
        async with RawClient(proxied.connect()) as fresh:
            await fresh.send(GET)
            await fresh.read_until(b"ok")


async def test_closed_right_behind_the_answer(autojump_clock, monkeypatch):
    monkeypatch.setenv("CHAOS_CLOSE_AFTER", "0s")
    served = Origin([ANSWER])
    async with linked("kept-then-closed", served.serve) as proxied, RawClient(proxied.connect()) as pooled:
        await pooled.send(GET)
        assert await pooled.read_all(LONG) is Ending.FIN
        assert complete(pooled.received)
        assert b"close" not in pooled.received.lower()
        assert pooled.ended_at == pytest.approx(0)


async def test_the_seventh_waits(autojump_clock):
    served = Origin(stream(100, 1))
    async with linked("six-connections", served.serve) as proxied, clients(proxied, 7) as streams:
        for client in streams:
            await client.send(GET)
            if client is not streams[-1]:
                await client.read_until(b"data: 1")
        assert await streams[-1].read_all(within=30) is Ending.OPEN
        assert (streams[-1].received, len(served.requests)) == (b"", 6)
        streams[0].transport.close()
        await streams[-1].read_until(b"data: 1")


async def test_an_age_moves_connections(autojump_clock):
    served = Origin(*[stream(100, 1)] * 2, [ANSWER], [ANSWER])
    async with linked("moved-by-age", served.serve) as proxied:
        async with h2_client(proxied.connect()) as client:
            await client.request(1, "/sse")
            assert await client.until_ended(LONG) is Ending.FIN
            ended = trio.current_time()
            assert client.goaways == [(0, LARGEST), (0, 1)]
            assert 64 <= ended <= 76
            assert not client.streams[1].ended
        async with RawClient(proxied.connect()) as client:
            await client.send(GET)
            assert await client.read_all(LONG) is Ending.FIN
            assert not complete(client.received)
            assert 64 <= trio.current_time() - ended <= 76


async def test_a_part_of_the_streams(autojump_clock):
    served = Origin(stream(60, 1))
    async with linked("some-streams-cancelled", served.serve) as proxied, h2_client(proxied.connect()) as client:
        numbers = range(1, 21, 2)
        for number in numbers:
            await client.request(number, "/sse")
        await client.until(lambda: all(client.streams[number].over for number in numbers), within=LONG)
        reset = [number for number in numbers if client.streams[number].reset is not None]
        assert len(reset) == 3
        assert {client.streams[number].reset for number in reset} == {CANCEL}
        assert all(29 <= client.streams[number].frames[-1][0] <= 30 for number in reset)
        assert all(client.streams[number].ended for number in numbers if number not in reset)
        assert (client.ending, client.goaways) == (None, [])
        records = [record for record in proxied.exchanges if record.end.cause == "cut"]
        assert [record.upstream.end.cause for record in records] == ["cut"] * 3


async def test_a_dead_link_says_nothing(autojump_clock):
    served = Origin(stream(1000, 1))
    async with linked("half-open", served.serve) as proxied:
        async with h2_client(proxied.connect()) as dead:
            await dead.request(1, "/sse")
            await trio.sleep(9.5)
            await dead.ping()
            await dead.until(lambda: dead.pongs == 1)
            await trio.sleep(1)
            heard = len(dead.streams[1].frames)
            await dead.ping()
            await trio.sleep(600)
            assert (dead.pongs, dead.ending, len(dead.streams[1].frames)) == (1, None, heard)
        async with RawClient(proxied.connect()) as fresh:
            await fresh.send(GET)
            await fresh.read_until(b"data: 20")


async def test_the_next_replica_does_not_know(autojump_clock):
    begun = b"HTTP/1.1 200 OK\r\nMcp-Session-Id: one\r\nContent-Length: 2\r\n\r\nok"
    served = Origin([begun], [ANSWER], [ANSWER])
    post = b"POST /mcp HTTP/1.1\r\nHost: x\r\n%sContent-Length: 0\r\n\r\n"
    async with linked("lost-session", served.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(post % b"")
        await client.read_until(b"ok")
        await client.send(post % b"Mcp-Session-Id: one\r\n")
        await client.read_until(b"404 Not Found")
        await client.read_until(b"Session not found")
        assert len(served.requests) == 1
        await client.send(post % b"Mcp-Session-Id: one\r\n")
        while client.received.count(b" 200 OK") < 2:
            assert await client.read()


async def test_sizes_in_the_text(autojump_clock):
    async with (
        linked("chunks-for-http-1-0", Origin(stream(3, 1)).serve) as proxied,
        RawClient(proxied.connect()) as client,
    ):
        await client.send(GET)
        await client.read_until(b"[DONE]")
        assert client.head.startswith(b"HTTP/1.0 200")
        by_the_version = [line for line in client.body.split(b"\r\n") if line]
        assert by_the_version[0] == b"9"
        assert b"transfer-encoding: chunked" in client.head.lower()


async def test_a_cut_that_looks_whole(autojump_clock):
    async with (
        linked("cut-looks-whole", Origin(stream(10, 1)).serve) as proxied,
        RawClient(proxied.connect()) as client,
    ):
        await client.send(GET)
        assert await client.read_all(LONG) is Ending.FIN
        fields = client.head.lower()
        assert b"content-length" not in fields
        assert b"transfer-encoding" not in fields
        assert client.body == b"".join(b"data: %d\n\n" % number for number in (1, 2, 3))


async def test_the_connection_is_never_closed(autojump_clock):
    async with linked("never-closed", Origin(stream(3, 1)).serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(GET)
        assert await client.read_all(within=600) is Ending.OPEN
        assert client.body.endswith(b"data: [DONE]\n\n")
        assert client.pieces[-1][0] <= 4
        assert b"content-length" not in client.head.lower()


async def test_one_stream_stalls_and_then_all(autojump_clock):
    served = Origin(stream(40, 1))
    async with linked("stalled-together", served.serve) as proxied, h2_client(proxied.connect()) as client:
        await client.request(1, "/sse")
        await client.request(3, "/sse")
        await client.until(lambda: client.streams[1].ended and client.streams[3].ended, within=LONG)

        def longest(number: int, begin: float, end: float) -> float:
            times = [time for time, _ in client.streams[number].frames if begin <= time <= end]
            return max(later - earlier for earlier, later in pairwise(times))

        assert (longest(1, 0, 19), longest(3, 0, 19)) == (pytest.approx(5), pytest.approx(1))
        assert longest(1, 19, 30) == longest(3, 19, 30) >= 5


async def comes_at(proxied: Linked, time: float) -> bool:
    """Whether a client that comes then is let in."""
    await trio.sleep_until(time)
    async with RawClient(proxied.connect()) as client:
        with contextlib.suppress(ConnectionError):  # how it has ended is asked below
            await client.send(GET)
        return await client.read_all(within=0.5) is not Ending.RST


@contextlib.asynccontextmanager
async def three_streams(scenario: str):
    """Clients that have streams when the server goes away, begun two seconds after one another."""
    served = Origin(stream(100, 1))
    async with linked(scenario, served.serve) as proxied, clients(proxied, 3) as streams:
        for client in streams:
            await client.send(GET)
            await trio.sleep(2)
        yield proxied, streams


async def watched(streams: list[RawClient], within: float = 100) -> list[tuple[Ending, float]]:
    """What each sees of its end, and when its last byte has come; all of them look all the time."""
    async with trio.open_nursery() as nursery:
        for client in streams:
            nursery.start_soon(client.read_all, within)
    return [(client.ending or Ending.OPEN, max(time for time, data in client.pieces if data)) for client in streams]


async def test_a_restart_that_cuts(autojump_clock):
    async with three_streams("restart") as (proxied, streams):
        assert [ending for ending, _ in await watched(streams)] == [Ending.FIN] * 3
        assert [client.ended_at for client in streams] == pytest.approx([10] * 3)
        assert not any(complete(client.received) for client in streams)
        assert [await comes_at(proxied, time) for time in (10.1, 12, 14.9, 15.1)] == [False, False, False, True]


async def test_a_restart_that_hangs(autojump_clock, monkeypatch):
    monkeypatch.setenv("CHAOS_THEN", "silence")
    monkeypatch.setenv("CHAOS_DOWN", "forever")
    async with three_streams("restart") as (proxied, streams):
        seen = await watched(streams, within=600)
        assert [ending for ending, _ in seen] == [Ending.OPEN] * 3
        assert all(9 <= time <= 10 for _, time in seen)
        assert not await comes_at(proxied, trio.current_time() + 1)


async def test_a_restart_in_good_order(autojump_clock):
    async with three_streams("restart-graceful") as (proxied, streams):
        seen = await watched(streams)
        assert [ending for ending, _ in seen] == [Ending.FIN] * 3
        assert [time for _, time in seen] == pytest.approx([10] * 3)
        assert [client.ended_at for client in streams] == pytest.approx([11] * 3)
        for client in streams:
            assert complete(client.received)
            assert b"the server is restarting" in client.body
            assert b"[DONE]" not in client.body
        assert [await comes_at(proxied, time) for time in (11.5, 14.9, 15.1)] == [False, False, True]
        records = [record for record in proxied.exchanges if record.end.cause == "error_event"]
        assert [record.end.how for record in records] == ["clean"] * 3


async def balanced(scenario: str) -> dict[str, int]:
    """How many calls each of two upstreams has had, of twenty on one connection and two on another."""
    counts: Counter[str] = Counter()
    upstreams = ("http://one", "http://two")
    async with linked(scenario, Origin([ANSWER]).serve, upstream=upstreams) as proxied:
        async with h2_client(proxied.connect()) as busy, h2_client(proxied.connect()) as quiet:
            for client, calls in ((busy, 20), (quiet, 2)):
                for number in range(1, 2 * calls, 2):
                    await client.request(number)
                await client.until(lambda client=client, calls=calls: client.streams[2 * calls - 1].over, within=LONG)
        for record in await proxied.finished(22):
            assert record.client.connection in (1, 2)
            counts[record.upstream.url.removesuffix(":80")] += 1
    return dict(counts)


async def test_calls_stay_with_their_connection(autojump_clock):
    assert await balanced("pinned") == {"http://one": 20, "http://two": 2}


async def test_calls_are_spread_one_by_one(autojump_clock, monkeypatch):
    monkeypatch.setenv("CHAOS_BALANCE", "request")
    assert await balanced("pinned") == {"http://one": 11, "http://two": 11}
