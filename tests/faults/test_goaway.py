"""`goaway`: which streams live, what the client reads, what becomes of the connection, and of an upstream's."""

import pytest
import trio

from chaosproxy.testing.h2_origin import serve_h2
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, Origin
from chaosproxy.testing.proxied import linked
from tests.faults.sessions import LONG, client_of, on_session, since, whole
from tests.incidents.asking import ask
from tests.virtual.shipped import stream

LARGEST = 2**31 - 1
CALM = 0xB


@pytest.mark.parametrize(
    ("last", "named", "lives"),
    [("0", 0, []), ("first", 1, [1]), ("current", 5, [1, 3, 5]), ("max", LARGEST, [1, 3, 5, 7])],
)
async def test_streams_above_the_last_id_are_dead_and_the_others_whole(autojump_clock, last, named, lives):
    goaway = {"goaway": {"stream": 3, "last": last, "then": "keep", "debug": "rolling"}}
    async with client_of(goaway) as (proxied, client, _):
        for number in (1, 3, 5):
            await client.request(number, "/sse")
        await client.until(lambda: client.goaways, within=LONG)
        await client.request(7, "/sse")
        await client.until(lambda: all(client.streams[number].ended for number in lives), within=LONG)
        await trio.sleep(30)
        assert (client.goaways, client.debug) == ([(0, named)], [b"rolling"])
        assert [number for number in (1, 3, 5, 7) if client.streams[number].over] == lives
        assert client.ending is None
        taken = sorted({1, 3, *lives})  # the one that was opened above the last id is no exchange
        records = await proxied.finished(len(taken))
    dead, clean = ("proxy", "goaway:NO_ERROR", "goaway"), ("upstream", "clean", None)
    ended = {record.client.stream: (record.end.by, record.end.how, record.end.cause) for record in records}
    assert ended == {number: clean if number in lives else dead for number in taken}
    fired = [(one.fault, one.hop_name, one.detail) for one in records[0].faults]
    assert fired == [("goaway", "connection", f"GOAWAY NO_ERROR, last {last}")]


async def test_the_connection_closes_behind_its_last_stream(autojump_clock):
    async with client_of({"goaway": {"at": {"time": "2s"}}}) as (_, client, _):
        assert await whole(client, 1)
        assert await client.until_ended(LONG) is Ending.FIN


@pytest.mark.parametrize(("last", "lives"), [("current", True), ("0", False)])
async def test_the_stream_that_it_comes_with_may_be_that_one(autojump_clock, last, lives):
    async with client_of({"goaway": {"stream": 1, "last": last}}) as (_, client, _):
        await client.request(1, "/sse")
        assert await client.until_ended(LONG) is Ending.FIN
        assert client.streams[1].ended is lives


async def test_a_grace_ends_what_still_runs(autojump_clock):
    began = trio.current_time()
    async with client_of({"goaway": {"at": {"time": "2s"}, "grace": "1500ms"}}) as (proxied, client, served):
        await client.request(1, "/sse")
        assert await client.until_ended(LONG) is Ending.FIN
        assert since(began) == 3.5
        assert not client.streams[1].over
        record = await proxied.last()
        seen = await served.request(1)
        await seen.gone.wait()
    assert (record.end.by, record.end.how, record.end.cause) == ("proxy", "fin", "goaway")


@pytest.mark.parametrize(("then", "ending"), [("fin", Ending.FIN), ("rst", Ending.RST), ("hang", Ending.OPEN)])
async def test_then_the_end_or_silence(autojump_clock, then, ending):
    async with client_of({"goaway": {"code": CALM, "at": {"time": "1500ms"}, "then": then}}) as (_, client, _):
        await client.request(1, "/sse")
        assert await client.until_ended(LONG) is ending
        assert client.goaways == [(CALM, 1)]
        assert len(client.streams[1].frames) == 2


async def test_twice_with_a_ping_between_as_grpc_servers_do(autojump_clock):
    async with client_of({"goaway": {"double": True, "at": {"time": "1s"}}}) as (_, client, _):
        await client.request(1, "/sse")
        await client.until(lambda: len(client.goaways) == 2, within=LONG)
        assert client.goaways == [(0, LARGEST), (0, 1)]
        await client.until(lambda: client.streams[1].ended, within=LONG)
        assert await client.until_ended(LONG) is Ending.FIN


async def test_the_next_connection_is_as_any(autojump_clock):
    served = Origin(stream(3, 1))
    async with linked(on_session({"goaway": {"last": "0"}}, side="client", number=1), served.serve) as proxied:
        async with h2_client(proxied.connect()) as client:
            assert await client.until_ended(LONG) is Ending.FIN
            assert client.goaways == [(0, 0)]
        async with h2_client(proxied.connect()) as client:
            assert await whole(client, 1)
            assert client.goaways == []


async def test_an_upstream_is_told_and_asked_nothing_further_on_that_connection(autojump_clock):
    peers = []

    async def answer(peer, number):
        peers.append(peer)
        await peer.headers(number, [(b":status", b"200")])
        await trio.sleep(3)
        await peer.data(number, b"whole", end=True)

    async def upstream(transport):
        await serve_h2(transport, answer)

    goaway = {"goaway": {"at": {"time": "1s"}}}
    async with (
        linked(on_session(goaway, side="upstream", number=1), upstream, upstream="h2c://origin") as proxied,
        h2_client(proxied.connect()) as client,
    ):
        await client.request(1)
        await trio.sleep(2)
        await client.request(3)
        await client.until(lambda: client.streams[1].ended and client.streams[3].ended, within=LONG)
        assert client.streams[1].body == client.streams[3].body == b"whole"
        first, second = peers
        assert first is not second
        assert (first.goaways, second.goaways) == ([(0, 0)], [])
        assert [record.upstream.connection for record in await proxied.finished(2)] == [1, 2]


async def test_one_that_was_not_reached_is_named(autojump_clock):
    async with client_of({"goaway": {"at": {"time": "1h"}}}) as (proxied, client, _):
        assert await whole(client, 1)
        record = await proxied.last()
    assert [(one.fault, one.hop, one.reason) for one in record.not_fired] == [("goaway", -1, "not reached")]


async def test_http1_is_left_alone(autojump_clock):
    served = Origin(stream(2, 1))
    async with linked(on_session({"goaway": {}}), served.serve) as proxied:
        assert (await ask(proxied, LONG)).whole


async def test_at_an_event_of_an_exchange(autojump_clock):
    scenario = {"version": 1, "faults": [{"goaway": {"at": {"event": 2}, "code": CALM}}]}
    async with linked(scenario, Origin(stream(5, 1)).serve) as proxied, h2_client(proxied.connect()) as client:
        await client.request(1, "/sse")
        await client.until(lambda: client.goaways, within=LONG)
        assert (client.goaways, len(client.streams[1].frames)) == ([(CALM, 1)], 2)
        await client.until(lambda: client.streams[1].ended, within=LONG)
        record = await proxied.last()
    assert [one.fault for one in record.faults] == ["goaway"]


def test_what_makes_no_sense_is_refused(refused, refused_below):
    refused("goaway: {double: true}", 22, "stands under `connections:`")
    refused("goaway: {stream: 3}", 22, "stands under `connections:`")
    refused_below("goaway: {at: {event: 3}}", "a time since it began")
    refused_below("goaway: {at: {time: 1s}, stream: 2}", "leave one out")
    refused_below("goaway: {then: keep, grace: 1s}", "no end that a grace could put off")
    refused_below("goaway: NO_EROR", "NO_ERROR")
