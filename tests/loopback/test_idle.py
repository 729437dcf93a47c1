"""Whatever is waited for, nobody spins: a proxy in which nothing happens uses no processor."""

import contextlib
import time
from collections.abc import AsyncIterator

import pytest
import trio

from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, Origin, RawClient, origin
from chaosproxy.testing.proxied import proxy_on
from chaosproxy.wire import dial

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
SSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENT = b"9\r\ndata: 1\n\n\r\n"
SWITCHING = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"
UPGRADE = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"
BIG = b"HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n" + bytes(50_000_000)
LOOKED_AT = 0.4
BUSY = 0.1


async def is_idle() -> bool:
    """Whether this process, peers and proxy, does next to nothing for a while. Who spins does so every time one looks;
    who collects garbage does not."""
    for _ in range(4):
        await trio.sleep(0.1)
        before = time.process_time()
        await trio.sleep(LOOKED_AT)
        if time.process_time() - before < BUSY:
            return True
    return False


@contextlib.asynccontextmanager
async def talking(
    script, scenario=None, request=GET, *, at_head=False, certificates=None
) -> AsyncIterator[tuple[RawClient, Origin]]:
    async with (
        origin(script, at_head=at_head) as served,
        proxy_on(scenario, served.url, server_tls=certificates and certificates.server) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port, certificates and certificates.client()) as client,
    ):
        await client.send(request)
        await served.request(1)
        yield client, served


async def test_between_events():
    async with talking([SSE, EVENT, Ending.OPEN]) as (client, _):
        await client.read_until(EVENT)
        assert await is_idle()


async def test_a_client_that_does_not_read():
    async with talking([BIG, Ending.OPEN]):
        assert await is_idle()


async def test_a_client_that_does_not_read_what_an_ended_upstream_has_sent():
    async with talking([BIG[:3_000_000], Ending.RST]):
        assert await is_idle()


async def test_an_upstream_that_does_not_read():
    async with talking(
        [trio.Event()], request=b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n", at_head=True
    ):
        assert await is_idle()


async def test_a_client_that_has_left_and_is_ignored():
    scenario = {"version": 1, "faults": [{"client_abort": "ignore"}]}
    async with talking([SSE, EVENT, trio.Event()], scenario) as (client, _):
        await client.read_until(EVENT)
        client.transport.close()
        assert await is_idle()


async def test_a_client_that_has_half_closed_and_is_served():
    scenario = {"version": 1, "faults": [{"client_abort": {"half_close": "serve"}}]}
    async with talking([SSE, EVENT, trio.Event()], scenario) as (client, _):
        await client.read_until(EVENT)
        client.transport.fin()
        assert await is_idle()


@pytest.mark.parametrize("sends", [False, True])
async def test_after_silence(sends):
    scenario = {"version": 1, "faults": [{"cut": {"at": {"event": 1}, "then": "silence"}}]}
    async with talking([SSE, EVENT, Ending.OPEN], scenario) as (client, _):
        await client.read_until(EVENT)
        if sends:
            await client.send(GET * 10_000)
        assert await is_idle()


@pytest.mark.parametrize("who", ["client", "upstream"])
async def test_a_tunnel_of_which_one_way_has_ended(who):
    async with talking([SWITCHING, trio.Event()], request=UPGRADE) as (client, served):
        await client.read_until(b"\r\n\r\n")
        if who == "client":
            client.transport.fin()
        else:
            served.peers[0].transport.fin()
        assert await is_idle()


async def test_pipelined_requests_behind_a_running_stream():
    async with talking([SSE, EVENT, Ending.OPEN], request=GET * 5000) as (client, _):
        await client.read_until(EVENT)
        assert await is_idle()


async def test_a_stalled_h2_stream():
    async with (
        origin([BIG, Ending.OPEN]) as served,
        proxy_on(None, served.url) as proxied,
        h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client,
    ):
        client.stalled.add(1)
        await client.request(1)
        await client.until(lambda: client.streams[1].body)
        assert await is_idle()


async def test_a_client_that_does_not_read_under_tls(certificates):
    async with talking([BIG, Ending.OPEN], certificates=certificates):
        assert await is_idle()


async def test_after_silence_under_tls(certificates):
    scenario = {"version": 1, "faults": [{"cut": {"at": {"event": 1}, "then": "silence"}}]}
    async with talking([SSE, EVENT, Ending.OPEN], scenario, certificates=certificates) as (client, _):
        await client.read_until(EVENT)
        await client.send(GET * 10_000)
        assert await is_idle()


async def test_a_tls_client_that_has_half_closed_and_is_served(certificates):
    scenario = {"version": 1, "faults": [{"client_abort": {"half_close": "serve"}}]}
    async with talking([SSE, EVENT, trio.Event()], scenario, certificates=certificates) as (client, _):
        await client.read_until(EVENT)
        client.transport.fin()
        assert await is_idle()
