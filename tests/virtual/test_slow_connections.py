"""Faults of time under `connections:`: all bytes of a connection, both its ends, in virtual time."""

import contextlib

import pytest
import trio

from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, Origin, Pause, RawClient
from chaosproxy.testing.proxied import linked

GET = b"GET /s HTTP/1.1\r\nHost: x\r\n\r\n"
LAST_GET = b"GET /s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"
CLOSED = b"HTTP/1.1 200 OK\r\n\r\n"


def under(*faults, side="client", **match):
    return {"version": 1, "connections": [{"match": {"side": side, **match}, "faults": list(faults)}]}


@contextlib.asynccontextmanager
async def talking(script, scenario, request=GET, room=65536):
    served = Origin(script)
    async with linked(scenario, served.serve, room=room) as proxied, RawClient(proxied.connect()) as client:
        await client.send(request)
        yield client, proxied, served


async def test_latency_makes_both_ends_of_the_answer_late_and_no_slower(autojump_clock):
    script = [HEAD % 30, *[Pause(0.5), b"0123456789"] * 3, Ending.OPEN]
    async with talking(script, under({"latency": "2s"})) as (client, _, _):
        await client.read_until(b"0123456789" * 3)
        assert [time for time, _ in client.pieces] == pytest.approx([2.0, 2.5, 3.0, 3.5])


async def test_latency_of_the_request_too(autojump_clock):
    scenario = under({"latency": "2s"}, {"latency": {"delay": "1s", "way": "request"}})
    async with talking([HEAD % 1, b"x", Ending.OPEN], scenario) as (client, _, _):
        await client.read_until(b"x")
        assert client.pieces[0][0] == pytest.approx(3.0)


@pytest.mark.parametrize("ending", [Ending.FIN, Ending.RST])
async def test_what_an_upstream_says_last_does_not_overtake_what_it_said_before(autojump_clock, ending):
    script = [CLOSED, b"0123456789", Pause(0.1), ending]
    async with talking(script, under({"latency": "2s"}, side="upstream")) as (client, proxied, _):
        assert await client.read_all() == ending
        assert client.body == b"0123456789"
        assert client.ended_at == pytest.approx(2.1)
        record = await proxied.last()
    assert record.response.bytes_in == 10


@pytest.mark.parametrize("ending", [Ending.FIN, Ending.RST])
async def test_the_clients_leaving_is_as_late_as_its_request(autojump_clock, ending):
    scenario = under({"latency": {"delay": "2s", "way": "request"}})
    async with talking([HEAD % 2, b"x", trio.Event()], scenario) as (client, proxied, served):
        await client.read_until(b"x")
        assert trio.current_time() == pytest.approx(2.0)
        await client.leave(ending)
        seen = await served.request(1)
        await seen.gone.wait()
        assert seen.left_at == pytest.approx(4.0)
        record = await proxied.last()
    assert (record.end.by, record.end.how) == ("client", ending.value)


@pytest.mark.parametrize("way", ["request", "response"])
async def test_a_silent_connection_with_a_stall_does_not_spin_and_ends_with_its_client(autojump_clock, way):
    """In virtual time a task that spins would never let the clock move."""
    scenario = under({"stall": {"for": "1h", "at": "body", "way": way}})
    async with talking([HEAD % 2, b"x", trio.Event()], scenario) as (client, proxied, _):
        await trio.sleep(1800.0)
        assert client.received == b""
        await client.leave(Ending.FIN)
        if way == "response":
            record = await proxied.last()
            assert (record.end.by, record.end.how, record.times.client_closed) == (
                "client",
                "fin",
                pytest.approx(1800.0),
            )
            assert record.upstream.end.cause == "client:fin"


async def test_a_stall_stops_all_bytes_and_afterwards_they_come_at_once(autojump_clock):
    place = len(HEAD % 30) + 10
    script = [HEAD % 30, *[Pause(1.0), b"0123456789"] * 3, Ending.OPEN]
    async with talking(script, under({"stall": {"for": "10s", "at": {"bytes": place}}})) as (client, _, _):
        await client.read_until(b"0123456789" * 3)
        assert [(round(time, 6), len(data)) for time, data in client.pieces] == [
            (0.0, place - 10),
            (1.0, 10),
            (11.0, 10),
            (11.0, 10),
        ]


@pytest.mark.parametrize("size", [10, 100_000])
@pytest.mark.parametrize("script", ["close", "length"])
async def test_a_connection_that_is_closed_behind_a_stall_loses_nothing(autojump_clock, size, script):
    body = b"x" * size
    answer = [CLOSED, body, Ending.FIN] if script == "close" else [HEAD % size, body, Ending.OPEN]
    async with talking(answer, under({"stall": "1m"}), LAST_GET) as (client, _, _):
        assert await client.read_all(within=600.0) == Ending.FIN
        assert client.body == body
        assert client.ended_at == pytest.approx(60.0)


@pytest.mark.parametrize("room", [65536, 1000])
async def test_bandwidth_counts_every_byte_and_the_sender_is_held_back(autojump_clock, room):
    size = 300_000
    scenario = under({"bandwidth": "10000/s"})
    async with talking([HEAD % size, b"x" * size, Ending.OPEN], scenario, room=room) as (client, _, _):
        await client.read_until(b"x" * size, within=100.0)
        assert trio.current_time() == pytest.approx((size + len(HEAD % size)) / 10_000)
        assert max(len(data) for _, data in client.pieces) <= 1460
        early = sum(len(data) for time, data in client.pieces if time <= 10.0)
        assert early == pytest.approx(100_000, abs=1460)


async def test_bandwidth_of_the_upload(autojump_clock):
    upload = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n" + b"x" * 200_000
    scenario = under({"bandwidth": {"rate": "10000/s", "way": "request"}})
    async with talking([HEAD % 1, b"x", Ending.OPEN], scenario, b"") as (client, _, served):
        await client.send(upload)
        await client.read_until(b"\r\n\r\nx", within=100.0)
        assert trio.current_time() == pytest.approx(len(upload) / 10_000)
        assert len(served.requests[0].body) == 200_000


async def test_several_layers_pass_on_no_more_than_each_has_room_for(autojump_clock):
    """Two entries of which one waits for the protocol: two chains, one behind the other."""
    scenario = {
        "version": 1,
        "connections": [
            {"match": {"side": "client"}, "faults": [{"bandwidth": "10000/s"}]},
            {
                "match": {"side": "client", "protocol": "http/1.1"},
                "faults": [{"latency": "1s"}, {"stall": {"for": "2s", "at": "body"}}],
            },
        ],
    }
    size = 2_000_000
    async with talking([HEAD % size, b"x" * size, Ending.OPEN], scenario) as (client, _, _):
        await client.read_until(b"x" * size, within=1000.0)
        assert trio.current_time() == pytest.approx(3.0 + (size + len(HEAD % size)) / 10_000, abs=0.01)


async def test_a_client_that_leaves_under_a_thin_line_frees_its_upstream(autojump_clock):
    async with talking([HEAD % 10**6, b"x" * 10**6, trio.Event()], under({"bandwidth": "1000/s"})) as (
        client,
        proxied,
        served,
    ):
        await client.read_until(b"x")
        await client.leave(Ending.RST)
        seen = await served.request(1)
        with trio.fail_after(5.0):
            await seen.gone.wait()
        record = await proxied.last()
    assert record.end.by == "client"


async def test_every_stream_of_an_http2_connection_waits(autojump_clock):
    served = Origin([HEAD % 10, b"0123456789"])
    async with (
        linked(under({"stall": {"for": "30s", "at": {"time": "1s"}}}), served.serve) as proxied,
        h2_client(proxied.connect()) as client,
    ):
        await client.request(1)
        await client.until(lambda: client.streams[1].ended)
        await trio.sleep(5.0)
        await client.request(3)
        await client.request(5)
        await client.ping()
        await client.until(lambda: client.streams[3].ended and client.streams[5].ended and client.pongs, within=60.0)
        assert trio.current_time() == pytest.approx(31.0)


@pytest.mark.parametrize("scenario", [None, under({"cut": {"at": {"bytes": 1 << 30}}})], ids=["none", "at rest"])
async def test_a_client_that_is_silent_is_left_as_soon_as_its_answer_has_ended(autojump_clock, scenario):
    """Its reader waits for the client, and for nobody's clock."""
    async with talking([Pause(1), HEAD % 2, b"xx", Ending.OPEN], scenario, LAST_GET) as (client, _, _):
        assert await client.read_all() is Ending.FIN
        assert client.ended_at == pytest.approx(1.0)
