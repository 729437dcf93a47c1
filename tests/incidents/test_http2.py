"""Incidents of the HTTP/2 session: what is on the wire, and who copes."""

import trio

from chaosproxy.testing.h2_peers import PREFACE, h2_client
from chaosproxy.testing.peers import Ending, Origin
from chaosproxy.testing.proxied import linked
from chaosproxy.testing.recorder import Recorder
from tests.faults.sessions import LONG, whole
from tests.incidents.asking import ask
from tests.virtual.shipped import no_knobs, stream

__all__ = ["no_knobs"]

NO_ERROR, REFUSED, CANCEL, CALM, HTTP_1_1_REQUIRED = 0x0, 0x7, 0x8, 0xB, 0xD
LARGEST = 2**31 - 1
DONE = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


async def test_a_goaway_races_with_new_streams(autojump_clock):
    served = Origin(stream(3, 1))
    async with linked("goaway-race", served.serve) as proxied:
        async with h2_client(proxied.connect()) as client:
            for number in (1, 3, 5):
                await client.request(number, "/sse", method="POST")
            await client.until(lambda: client.streams[1].over, within=LONG)
            assert client.goaways == [(NO_ERROR, 1)]
            again = [number for number in (1, 3, 5) if number > client.goaways[0][1]]
            assert await client.until_ended(LONG) is Ending.FIN
            assert [client.streams[number].ended for number in (1, 3, 5)] == [True, False, False]
        async with h2_client(proxied.connect()) as client:
            assert [await whole(client, 2 * turn + 1) for turn in range(len(again))] == [True, True]


async def test_a_burst_before_the_settings(autojump_clock):
    served = Origin(stream(3, 1))
    async with linked("late-settings", served.serve) as proxied, h2_client(proxied.connect()) as client:
        wanted = [1, 3, 5, 7]
        for number in wanted:
            await client.request(number, "/sse")
        await client.until(lambda: all(client.streams[number].over for number in wanted), within=LONG)
        assert [client.streams[number].reset for number in wanted] == [None, None, REFUSED, REFUSED]
        assert client.settings[0][3] == 2
        assert await whole(client, 9)
        assert await whole(client, 11)
        assert len(served.requests) == 4


async def test_a_refusal_without_end(autojump_clock):
    served = Origin(stream(3, 1))
    async with linked("always-refused", served.serve) as proxied, h2_client(proxied.connect()) as client:
        for number in range(1, 41, 2):
            assert not await whole(client, number)
            assert client.streams[number].reset == REFUSED
        assert (served.requests, client.goaways, client.ending) == ([], [], None)


async def test_a_slot_comes_back_with_a_cancel(autojump_clock):
    served = Origin(stream(10, 1))
    async with linked("few-streams", served.serve) as proxied, h2_client(proxied.connect()) as client:
        for number in (1, 3, 5):
            await client.request(number, "/sse")
        assert not await whole(client, 7)
        assert client.streams[7].reset == REFUSED
        await client.reset(3, CANCEL)
        assert await whole(client, 9)
        await client.until(lambda: client.streams[1].ended and client.streams[5].ended, within=LONG)


async def test_one_unread_upload_freezes_the_rest(autojump_clock):
    served = Origin([DONE])
    async with linked("frozen-by-one", served.serve) as proxied, h2_client(proxied.connect()) as client:
        async with trio.open_nursery() as nursery:

            async def upload(number: int, path: str, kilobytes: int) -> None:
                await client.request(number, path, method="POST", end=False)
                for sent in range(kilobytes):
                    await client.data(number, b"x" * 1000, end=sent == kilobytes - 1)

            nursery.start_soon(upload, 1, "/unread", 70)
            await trio.sleep(1)
            nursery.start_soon(upload, 3, "/other", 3)
            await trio.sleep(50)
            assert not client.streams[3].over
            await client.until(lambda: client.streams[1].over and client.streams[3].over, within=LONG)
        assert [client.streams[number].status for number in (1, 3)] == [200, 200]


async def test_a_dead_connection_in_the_pool(autojump_clock):
    served = Origin(stream(3, 1))
    async with linked("dead-connection", served.serve) as proxied, h2_client(proxied.connect()) as dead:
        assert await whole(dead, 1)
        await trio.sleep(5)
        await dead.request(3, "/sse")
        await dead.ping()
        await trio.sleep(60)
        assert (dead.streams[3].over, dead.pongs, dead.ending, len(served.requests)) == (False, 0, None, 1)
        async with h2_client(proxied.connect()) as fresh:
            assert await whole(fresh, 1)


async def test_an_early_answer_counts(autojump_clock):
    served = Origin([DONE])
    async with linked("answered-early", served.serve) as proxied, h2_client(proxied.connect()) as client:
        await client.request(1, method="POST", end=False)
        await client.data(1, b"x" * 1000)
        await client.until(lambda: client.streams[1].reset is not None, within=LONG)
        seen = client.streams[1]
        assert (seen.status, seen.body, seen.ended, seen.reset) == (429, b"slow down\n", True, NO_ERROR)
        await client.data(1, b"what was on its way")
        assert not await whole(client, 3) or client.streams[3].status == 429
        assert (served.requests, client.goaways) == ([], [])


async def test_a_banner_in_place_of_settings(autojump_clock):
    async with linked("no-http2-here", Origin(stream(3, 1)).serve) as proxied:
        peer = Recorder(proxied.connect())
        await peer.send(PREFACE + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00")
        read = b""
        with trio.move_on_after(600) as waited:
            while data := await peer.read():
                read += data
        assert waited.cancelled_caught, "it stands open"
        assert read == b"SSH-2.0-OpenSSH_9.6\r\n"


async def test_http1_is_required(autojump_clock):
    served = Origin(stream(3, 1))
    async with linked("http1-required", served.serve) as proxied:
        for _ in range(2):
            async with h2_client(proxied.connect()) as client:
                await client.request(1, "/sse")
                assert await client.until_ended(LONG) is Ending.FIN
                assert client.goaways == [(HTTP_1_1_REQUIRED, 0)]
        assert served.requests == []
        assert (await ask(proxied, LONG)).whole


async def test_too_many_pings(autojump_clock):
    served = Origin([b"HTTP/1.1 200 OK\r\n\r\n", Ending.OPEN])
    async with linked("too-many-pings", served.serve) as proxied, h2_client(proxied.connect()) as client:
        await client.request(1, "/sse")
        await client.until(lambda: client.streams[1].status, within=LONG)
        while client.ending is None:
            await trio.sleep(10)
            await client.ping()
        assert (client.goaways, client.debug, client.pongs) == ([(CALM, 1)], [b"too_many_pings"], 4)


async def test_the_age_limit_and_its_grace(autojump_clock):
    began = trio.current_time()
    async with (
        linked("age-limit", Origin(stream(1000, 1)).serve) as proxied,
        h2_client(proxied.connect()) as client,
    ):
        await client.request(1, "/sse")
        await client.until(lambda: len(client.goaways) == 2, within=LONG)
        assert client.goaways == [(NO_ERROR, LARGEST), (NO_ERROR, 1)]
        assert round(trio.current_time() - began, 3) == 30
        assert await client.until_ended(LONG) is Ending.FIN
        assert round(trio.current_time() - began, 3) == 40
        assert (len(client.streams[1].frames), client.streams[1].over) == (40, False)


async def test_an_endless_stream_keeps_a_drained_connection(autojump_clock, monkeypatch):
    monkeypatch.setenv("CHAOS_GRACE", "forever")
    async with (
        linked("age-limit", Origin(stream(1000, 10)).serve) as proxied,
        h2_client(proxied.connect()) as client,
    ):
        await client.request(1, "/sse")
        await trio.sleep(3600)
        assert (len(client.goaways), client.ending, client.streams[1].over) == (2, None, False)
        assert len(client.streams[1].frames) >= 359
