"""`window`: how far an upload comes, and what one stream's unread bytes do to the others."""

from random import Random

import pytest
import trio

from chaosproxy.chain.fault import Context
from chaosproxy.faults import Window
from chaosproxy.faults.window import MOST
from chaosproxy.model.conduct import Credit
from chaosproxy.testing.h2_origin import serve_h2
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.play import GET
from chaosproxy.testing.proxied import linked
from tests.faults.sessions import LONG, client_of, on_session, since

PLAIN = 65_535
DONE = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


async def upload(client, number, size, *, end=True):
    """As fast as the windows let it."""
    await client.request(number, method="POST", end=False)
    sent = 0
    while sent < size:
        piece = min(1000, size - sent)
        await client.data(number, b"x" * piece, end=end and sent + piece == size)
        sent += piece


@pytest.mark.parametrize("of", ["stream", "connection", "both"])
async def test_an_upload_stops_behind_64_kib(autojump_clock, of):
    async with client_of({"window": {"of": of}}, script=[DONE]) as (proxied, client, served):
        with trio.move_on_after(30) as waiting:
            await upload(client, 1, 100_000)
        assert waiting.cancelled_caught
        assert client.credited[1 if of != "connection" else 0] == 0
        await client.reset(1)
        record = await proxied.last()
        assert record.request.bytes == PLAIN // 1000 * 1000
        assert [fired.detail for fired in record.faults] == ["credit is withheld"]
        assert not served.requests


def test_of_a_flood_of_streams_the_earliest_is_not_given_its_credit():
    """What is owed has a bound; the connection's own credit is not among what goes."""
    fault = Window(mode="withhold", for_=5.0).conduct(Context(Random(0), GET))
    fault.begin(0.0)
    streams = range(1, 2 * MOST + 1, 2)
    for stream in (0, *streams):
        fault.does(Credit(stream, 100), 1.0)
    given = {act.stream: act.nbytes for act in fault.wake(5.0)}
    assert given == dict.fromkeys([0, *streams[1:]], 100)


async def test_other_streams_go_on_where_only_a_streams_credit_is_withheld(autojump_clock):
    fault = {"window": {"of": "stream"}}
    async with client_of(fault, script=[DONE]) as (_, client, _), trio.open_nursery() as nursery:
        nursery.start_soon(upload, client, 1, 100_000)
        await trio.sleep(1)
        await upload(client, 3, 50_000)
        await client.until(lambda: client.streams[3].over, within=LONG)
        assert client.streams[3].status == 200
        nursery.cancel_scope.cancel()


async def test_the_connections_credit_is_missing_for_all(autojump_clock):
    fault = {"window": {"of": "connection"}}
    async with client_of(fault, script=[DONE]) as (_, client, _), trio.open_nursery() as nursery:
        nursery.start_soon(upload, client, 1, 100_000)
        await trio.sleep(1)
        nursery.start_soon(upload, client, 3, 1000)
        await trio.sleep(30)
        assert not client.streams[3].over
        nursery.cancel_scope.cancel()


async def test_it_is_given_at_last(autojump_clock):
    began = trio.current_time()
    async with client_of({"window": {"for": "3s"}}, script=[DONE]) as (_, client, served):
        await upload(client, 1, 200_000)
        await client.until(lambda: client.streams[1].over, within=LONG)
        assert since(began) == 3
        assert (await served.request(1)).body.count(b"x") == 200_000


async def test_it_trickles_at_its_rate(autojump_clock):
    began = trio.current_time()
    async with client_of({"window": {"mode": "trickle", "rate": "10KiB/s"}}, script=[DONE]) as (_, client, _):
        await upload(client, 1, PLAIN + 50 * 1024)
        assert 5 <= since(began) <= 5.2


async def test_shared_one_unread_stream_freezes_the_rest(autojump_clock):
    """golang/go #16510, as its server's client sees it: what nobody reads of one stream is missing for all."""
    sent = dict.fromkeys(("/large", "/small"), 0)

    async def answer(peer, number):
        path = dict(peer.streams[number].heads[0])[b":path"].decode()
        await peer.headers(number, [(b":status", b"200")])
        for _ in range(70 if path == "/large" else 3):
            await peer.data(number, b"x" * 1000)
            sent[path] += 1000
            if path == "/small":
                await trio.sleep(1)
        await peer.data(number, b"", end=True)

    async def upstream(transport):
        await serve_h2(transport, answer)

    scenario = on_session(
        {"window": "shared"}, {"settings": {"initial_window_size": "1MiB"}}, side="upstream", protocol="h2"
    )
    scenario["rules"] = [{"match": {"path": "/large"}, "faults": [{"stall": {"for": "10s", "capacity": 0}}]}]
    async with (
        linked(scenario, upstream, upstream="h2c://origin") as proxied,
        h2_client(proxied.connect()) as client,
    ):
        await client.request(1, "/large")
        await trio.sleep(1)
        await client.request(3, "/small")
        await trio.sleep(8)
        assert sent["/large"] >= 65_000
        assert sent["/small"] == 0
        await client.until(lambda: client.streams[1].ended and client.streams[3].ended, within=LONG)
        assert (len(client.streams[1].body), len(client.streams[3].body)) == (70_000, 3000)


def test_what_makes_no_sense_is_refused(refused, refused_below):
    refused("window: withhold", 5, "stands under `connections:`")
    refused_below("window: trickle", "`trickle` has a rate")
    refused_below("window: {rate: 1KiB/s}", "`trickle` has a rate")
    refused_below("window: {mode: trickle, rate: 0B/s}", "nothing would ever be given")
    refused_below("window: {mode: shared, of: stream}", "it is the connection's credit")
