"""Clients that leave: what is on the wire, and what the upstream hears of it."""

import trio

from chaosproxy.testing.h2_peers import CANCEL, h2_client
from chaosproxy.testing.peers import Ending, Origin, RawClient
from chaosproxy.testing.proxied import linked
from chaosproxy.testing.recorder import Recorder
from tests.incidents.asking import ask
from tests.virtual.shipped import GET, LAST, SSE, chunk, stream, told


async def leaving(scenario: str, script: list, after: float, how: Ending = Ending.FIN) -> tuple[float | None, bool]:
    """A client that leaves `after` its request: when the upstream heard of it, and whether its answer was over first."""
    served = Origin(script)
    async with linked(scenario, served.serve) as proxied:
        client = RawClient(proxied.connect())
        began = trio.current_time()
        await client.send(GET)
        with trio.move_on_after(after):
            while await client.read():
                pass
        await client.leave(how)
        await proxied.last(within=10_000)
        request = await served.request(1)
        await request.gone.wait()
        return None if request.left_at is None else round(request.left_at - began, 3), request.left is None


async def test_the_upstream_runs_on_for_nobody(autojump_clock):
    for how in (Ending.FIN, Ending.RST):
        assert await leaving("runs-on", stream(60, 1), 3, how) == (None, True)
        assert await leaving("tokens", stream(60, 1), 3, how) == (3, False), "without the fault: at once"


async def test_a_disconnect_is_noticed_with_the_first_byte(autojump_clock):
    assert await leaving("noticed-late", stream(90, 1), 3) == (60, False)
    assert await leaving("slow-first-token", stream(90, 1), 3) == (3, False), "who watches knows at once"


async def test_a_client_leaves_before_the_status_line(autojump_clock):
    assert await leaving("slow-head", stream(90, 1), 0.5) == (0.5, False)
    seen = await told("slow-head", stream(3, 1))
    assert (seen.head, seen.whole) == (2, True)


async def test_a_pool_has_its_places_back(autojump_clock):
    async def pool(leaks: bool) -> tuple[bool, float]:
        """A pool of four places, twenty requests that are given up after 100 ms, and then one more: whether it has an
        answer, and how long that took."""
        places = trio.Semaphore(4)

        async def request(patience: float) -> bool:
            with trio.move_on_after(patience):
                await places.acquire()
                try:
                    return (await ask(proxied, idle=60)).whole
                finally:
                    if not leaks or trio.current_effective_deadline() > trio.current_time():
                        places.release()
            return False

        async with linked("slow-heads-then-well", Origin(stream(1, 0)).serve) as proxied:
            for _ in range(20):
                assert not await request(0.1)
            began = trio.current_time()
            return await request(60), round(trio.current_time() - began, 3)

    assert await pool(leaks=False) == (True, 0)
    assert await pool(leaks=True) == (False, 60)


async def test_an_error_whose_body_is_late(autojump_clock):
    seen = await told("late-error-body", stream(3, 1), within=60)
    assert (seen.status, seen.head, seen.pieces[1][0]) == (503, 0, 1)
    assert seen.origin.requests == []

    async def attempts(watches: bool) -> int:
        """A gateway whose client leaves after 200 ms: how often it asks."""
        async with linked("late-error-body", Origin().serve) as proxied:
            with trio.move_on_after(0.2 if watches else 100):
                for _ in range(2):
                    await ask(proxied, idle=60)
            await proxied.last()
            return proxied.proxy.journal.total

    assert [await attempts(watches=True), await attempts(watches=False)] == [1, 2]


async def test_cancelled_streams_keep_their_places(autojump_clock):
    async def first_byte(scenario: str) -> float:
        served = Origin(*[stream(60, 1)] * 4, [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"])
        async with linked(scenario, served.serve) as proxied, h2_client(proxied.connect()) as client:
            for number in (1, 3, 5, 7):
                await client.request(number, "/sse")
                await client.until(lambda number=number: client.streams[number].frames, within=10)
                await client.reset(number, CANCEL)
            began = trio.current_time()
            await client.request(9, "/page")
            await client.until(lambda: client.streams[9].over, within=1000)
            return round(trio.current_time() - began)

    assert await first_byte("cancelled-streams-linger") == 60
    assert await first_byte("tokens") == 0


async def test_a_shutdown_that_cuts(autojump_clock):
    seen = await told("shut-down", stream(60, 0.9))
    assert (seen.count, seen.whole, seen.ending, seen.ended) == (12, False, Ending.FIN, 10)


async def test_a_shutdown_that_hangs(autojump_clock, monkeypatch):
    monkeypatch.setenv("CHAOS_THEN", "silence")
    seen = await told("shut-down", stream(60, 0.9), within=600)
    assert (seen.count, seen.ending, seen.pieces[-1][0]) == (12, Ending.OPEN, 9.9)


async def test_a_shutdown_in_good_order(autojump_clock, monkeypatch):
    monkeypatch.setenv("CHAOS_THEN", "clean")
    seen = await told("shut-down", stream(60, 0.9))
    assert (seen.count, seen.whole, seen.pieces[-1]) == (12, True, (10, LAST))


async def test_who_stops_reading_is_felt_by_the_server(autojump_clock):
    async def written(scenario: str) -> int:
        """How much a server can write within a minute that has a megabyte to say."""
        count = 0

        async def serve(transport) -> None:
            nonlocal count
            peer = Recorder(transport)
            await peer.read()
            with trio.move_on_after(60):
                for piece in [SSE, *[chunk(b"data: %s\n\n" % (b"x" * 1016))] * 1024, LAST]:
                    await peer.send(piece)
                    count += len(piece)
            transport.close()

        async with linked(scenario, serve, room=16 * 1024) as proxied, RawClient(proxied.connect()) as client:
            await client.send(GET)
            with trio.move_on_after(120):
                while await client.read():
                    pass
            return count

    assert await written("tokens") > 1_000_000
    assert await written("stopped-reader") < 100_000
