"""After a thousand aborted exchanges the process holds what it held before: sockets, tasks, pool."""

import contextlib
from pathlib import Path

import pytest
import trio

from chaosproxy.testing.h2_origin import h2_origin
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, RawClient, origin
from chaosproxy.testing.proxied import Proxied, proxy_on
from chaosproxy.wire import dial

GET = b"GET /s HTTP/1.1\r\nHost: x\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNK = b"a\r\n0123456789\r\n"
OK = [(b":status", b"200")]


def sockets() -> int:
    count = 0
    for descriptor in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # the listing's own
            count += str(descriptor.readlink()).startswith("socket:")
    return count


def tasks() -> int:
    return trio.lowlevel.current_statistics().tasks_living


async def settled(expected: tuple[int, int]) -> None:
    """Closing takes a few turns of the loop."""
    with trio.move_on_after(20):
        while (sockets(), tasks()) != expected:
            await trio.sleep(0.01)
    assert (sockets(), tasks()) == expected


def pooled(proxied: Proxied) -> list[int]:
    return [len(upstream.connections) for upstream in proxied.proxy._pool.upstreams]


@pytest.mark.parametrize("ending", [Ending.FIN, Ending.RST])
async def test_h1_aborts(ending):
    async with origin([HEAD, CHUNK, Ending.OPEN]) as served, proxy_on(None, served.url) as proxied:
        before = sockets(), tasks()

        async def abort_one() -> None:
            client = await RawClient.connect("127.0.0.1", proxied.port)
            await client.send(GET)
            await client.read_until(CHUNK)
            if ending is Ending.RST:
                client.transport.rst()
            else:
                client.transport.close()

        for _ in range(50):
            async with trio.open_nursery() as nursery:
                for _ in range(20):
                    nursery.start_soon(abort_one)
        await proxied.finished(1000, within=20)
        await settled(before)
        assert pooled(proxied) == [0]
        assert not proxied.proxy._exchanges
        assert not proxied.proxy._clients
        assert {record.end.by for record in proxied.exchanges} == {"client"}


async def test_h2_streams_aborted_on_one_connection():
    cancelled = 0

    async def answer(peer, stream):
        await peer.headers(stream, OK)
        await peer.data(stream, b"0123456789")

    total = 1000
    async with (
        h2_origin(answer) as url,
        proxy_on(None, url) as proxied,
        h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client,
    ):
        await client.request(1)
        await client.until(lambda: client.streams[1].body)
        await client.reset(1)
        await proxied.finished(1)
        before = sockets(), tasks()
        for start in range(3, 2 * total, 100):
            numbers = range(start, start + 100, 2)
            for number in numbers:
                await client.request(number)
            await client.until(lambda numbers=numbers: all(client.streams[number].body for number in numbers))
            for number in numbers:
                await client.reset(number)
                cancelled += 1
        await proxied.finished(1 + cancelled)
        assert sockets() == before[0]
        assert pooled(proxied) == [1]
        assert not proxied.proxy._exchanges
        record = proxied.exchanges[-1]
        assert (record.end.how, record.upstream.connection) == ("stream:CANCEL", 1)


async def test_a_client_in_its_handshake_is_closed_with_the_proxy(certificates):
    async with origin([Ending.OPEN]) as served:
        before = sockets()
        async with proxy_on(None, served.url, server_tls=certificates.server) as proxied:
            client = await RawClient.connect("127.0.0.1", proxied.port)
            with trio.fail_after(20):
                while not proxied.proxy._client_count:
                    await trio.sleep(0.01)
        assert await client.read_all() is Ending.FIN
        client.transport.close()
        assert sockets() == before
