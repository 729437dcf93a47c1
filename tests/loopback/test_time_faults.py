"""latency, bandwidth, hold_head and stall on real connections: order, bytes, and never sooner than asked."""

import contextlib

import pytest
import trio

from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, RawClient, origin
from chaosproxy.testing.proxied import proxy_on
from chaosproxy.wire import dial

GET = b"GET /s HTTP/1.1\r\nHost: x\r\n\r\n"
POST = b"POST /s HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
SSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
LENGTH = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"
LAST = b"0\r\n\r\n"
PING = b": keep-alive\n\n"


def event(number):
    return b"data: %d\n\n" % number


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


EVENTS = [chunk(event(number)) for number in range(1, 4)]
WHOLE = [SSE, *EVENTS, LAST]
TEXT = b"".join(event(number) for number in range(1, 4))


def scenario(*faults):
    return {"version": 1, "faults": list(faults)}


def under(*faults):
    return {"version": 1, "connections": [{"match": {"side": "client"}, "faults": list(faults)}]}


@contextlib.asynccontextmanager
async def over_h1(script, faults, certificates=None):
    async with (
        origin(script) as served,
        proxy_on(faults, served.url, server_tls=certificates and certificates.server) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port, certificates and certificates.client()) as client,
    ):
        yield client, served, proxied


@contextlib.asynccontextmanager
async def over_h2(script, faults):
    async with (
        origin(script) as served,
        proxy_on(faults, served.url) as proxied,
        h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client,
    ):
        yield client, served, proxied


# ---- each fault, over both protocols


@pytest.mark.parametrize(
    ("fault", "seconds"),
    [
        ({"latency": {"delay": "150ms", "jitter": "50ms"}}, 0.1),
        ({"bandwidth": "270/s"}, 0.1),
        ({"hold_head": "300ms"}, 0.3),
        ({"stall": {"for": "300ms", "at": "headers"}}, 0.3),
        ({"stall": {"for": "300ms", "at": {"event": 2}}}, 0.3),
        ({"stall": {"for": "300ms", "at": "end"}}, 0.3),
        ({"stall": {"for": "300ms", "at": "request"}}, 0.3),
    ],
    ids=["latency", "bandwidth", "hold_head", "headers", "event", "end", "request"],
)
async def test_late_whole_and_in_order(fault, seconds):
    began = trio.current_time()
    async with over_h1(WHOLE, scenario(fault)) as (client, _, proxied):
        await client.send(GET)
        await client.read_until(LAST)
        assert trio.current_time() - began >= seconds
        assert client.body.replace(b"1b\r\n", b"") == b"".join([*EVENTS, LAST])
        record = await proxied.last()
    assert (record.end.by, record.end.how) == ("upstream", "clean")
    assert [fired.fault for fired in record.faults] == list(fault)
    began = trio.current_time()
    async with over_h2(WHOLE, scenario(fault)) as (client, _, _):
        await client.request(1)
        await client.until(lambda: client.streams[1].over)
        assert trio.current_time() - began >= seconds
        assert (client.streams[1].body, client.streams[1].ended) == (TEXT, True)


async def test_a_thin_line_gives_pieces_one_after_the_other():
    size = 8 * 1460
    script = [LENGTH % size, b"x" * size]
    async with over_h1(script, scenario({"bandwidth": "29200/s"})) as (client, _, proxied):
        await client.send(GET)
        await client.read_until(b"x" * size)
        record = await proxied.last()
    times = [time for time, _ in record.deliveries]
    assert [nbytes for _, nbytes in record.deliveries] == [1460] * 8
    first = next(iter(record.arrivals))[0]
    assert all(later - first >= 0.049 * number for number, later in enumerate(times, 1))


# ---- hold_head


@pytest.mark.parametrize("until", ["first_byte", "end"])
async def test_the_head_comes_with_what_it_waits_for(until):
    go_on = trio.Event()
    faults = scenario({"hold_head": until})
    script = [SSE, go_on, EVENTS[0], LAST] if until == "first_byte" else [SSE, EVENTS[0], go_on, LAST]
    async with over_h1(script, faults) as (client, served, proxied):
        await client.send(GET)
        await served.request(1)
        with trio.move_on_after(0.2):
            await client.read()
        assert client.received == b""
        go_on.set()
        await client.read_until(LAST)
        assert client.received == SSE + EVENTS[0] + LAST
        record = await proxied.last()
    assert record.times.upstream_head < record.times.head_sent
    go_on = trio.Event()
    script[script.index(next(step for step in script if isinstance(step, trio.Event)))] = go_on
    async with over_h2(script, faults) as (client, served, _):
        await client.request(1)
        await served.request(1)
        assert client.streams[1].heads == []
        go_on.set()
        await client.until(lambda: client.streams[1].over)
        assert client.streams[1].body == event(1)


async def test_what_breaks_off_behind_a_held_head_is_a_502():
    async with over_h1([SSE, EVENTS[0], Ending.RST], scenario({"hold_head": "end"})) as (client, _, proxied):
        await client.send(GET)
        await client.read_until(b"502")
        record = await proxied.last()
    assert (record.response.status, record.end.by, record.end.how) == (502, "proxy", "clean")


@pytest.mark.parametrize("until", ["first_byte", "end"])
async def test_a_request_is_not_even_dialled_before_its_head_is_let_go(until):
    async with over_h1([LENGTH % 2, b"ok"], scenario({"hold_head": {"until": until, "way": "request"}})) as (
        client,
        served,
        _,
    ):
        await client.send(POST)
        await trio.sleep(0.1)
        assert served.connections == 0
        await client.send(chunk(b"abc"))
        if until == "end":
            await trio.sleep(0.1)
            assert served.connections == 0
        await client.send(LAST)
        await client.read_until(b"ok")
        assert served.requests[0].body == chunk(b"abc") + LAST


# ---- stall


async def test_a_stalled_client_that_leaves_is_felt_upstream_at_once():
    stall = scenario({"stall": {"for": "forever", "at": {"event": 1}}})
    async with over_h1([SSE, *EVENTS, trio.Event()], stall) as (client, served, proxied):
        await client.send(GET)
        await client.read_until(EVENTS[0])
        await client.leave(Ending.RST)
        seen = await served.request(1)
        with trio.fail_after(10.0):
            await seen.gone.wait()
        record = await proxied.last()
    assert client.body == EVENTS[0]
    assert (record.end.by, record.end.how, record.upstream.end.cause) == ("client", "rst", "client:rst")
    async with over_h2([SSE, *EVENTS, trio.Event()], stall) as (client, served, _):
        await client.request(1)
        await client.until(lambda: client.streams[1].body)
        await client.reset(1)
        seen = await served.request(1)
        with trio.fail_after(10.0):
            await seen.gone.wait()
        assert client.streams[1].body == event(1)


async def test_a_stalled_stream_stalls_neither_its_sibling_nor_a_ping():
    """The stalled one has far more to say than a connection's window."""
    size = 3_000_000
    faults = {"version": 1, "rules": [{"nth": 1, "faults": [{"stall": {"for": "forever", "at": {"bytes": 10}}}]}]}
    async with over_h2([LENGTH % size, b"x" * size], faults) as (client, _, _):
        await client.request(1)
        await client.until(lambda: client.streams[1].body)
        await client.request(3)
        await client.ping()
        await client.until(lambda: client.streams[3].ended and client.pongs)
        assert len(client.streams[3].body) == size
        assert client.streams[1].body == b"x" * 10


async def test_keep_alives_flow_while_it_stalls():
    faults = scenario({"stall": {"for": "forever", "at": {"event": 1}, "meanwhile": {"comments": "20ms"}}})
    async with over_h1([SSE, *EVENTS, LAST], faults) as (client, _, proxied):
        began = trio.current_time()
        await client.send(GET)
        await client.read_until(chunk(PING) * 3)
        assert trio.current_time() - began >= 0.06
        assert client.body.replace(chunk(PING), b"") == EVENTS[0]
        await client.leave(Ending.FIN)
        record = await proxied.last()
    assert record.response.events_out == 1
    async with over_h2([SSE, *EVENTS, LAST], faults) as (client, _, _):
        await client.request(1)
        await client.until(lambda: client.streams[1].body.endswith(PING * 3))
        assert client.streams[1].body.replace(PING, b"") == event(1)


async def test_beyond_its_room_the_upstream_has_to_wait():
    size = 50_000_000
    faults = scenario({"stall": {"for": "forever", "at": {"bytes": 1000}, "capacity": "64KiB"}})
    async with over_h1([LENGTH % size + b"x" * size], faults) as (client, served, proxied):
        await client.send(GET)
        await client.read_until(b"x" * 1000)
        await served.request(1)
        (running,) = proxied.proxy.running
        await trio.sleep(0.3)
        assert running.response.bytes_in < 2_000_000
        await client.leave(Ending.RST)
        assert (await proxied.last()).end.by == "client"


# ---- whole connections


@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.parametrize(
    ("fault", "seconds"),
    [
        ({"latency": "100ms"}, 0.1),
        ({"bandwidth": "200KiB/s"}, 0.45),
        ({"stall": {"for": "200ms", "at": {"bytes": 2000}}}, 0.2),
    ],
)
async def test_under_a_connection_too_and_under_tls_its_handshake(fault, seconds, tls, certificates):
    size = 100_000
    began = trio.current_time()
    async with over_h1([LENGTH % size, b"x" * size], under(fault), certificates if tls else None) as (
        client,
        _,
        proxied,
    ):
        await client.send(GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        assert await client.read_all() is Ending.FIN
        assert client.body == b"x" * size
        assert trio.current_time() - began >= seconds
        record = await proxied.last()
    assert record.faults[0].fault == next(iter(fault))


async def test_under_a_connection_a_stall_stalls_every_stream():
    faults = under({"stall": {"for": "600ms", "at": {"time": "200ms"}}})
    began = trio.current_time()
    async with over_h2([LENGTH % 3, b"abc"], faults) as (client, _, _):
        await client.ping()
        await client.until(lambda: client.pongs)  # by now the connection's time runs
        await trio.sleep(0.25)
        await client.request(1)
        await client.request(3)
        await client.until(lambda: client.streams[1].ended and client.streams[3].ended)
        first = min(client.streams[number].frames[0][0] for number in (1, 3))
        assert first - began >= 0.8
