"""Faults that leave a side without a word leave nothing behind once the exchange is over: no socket, no task, no exchange."""

import contextlib
from pathlib import Path

import pytest
import trio

from chaosproxy.testing.h2_origin import h2_origin
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, RawClient, origin
from chaosproxy.testing.proxied import proxy_on
from chaosproxy.wire import dial

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENT = b"data: 1\n\n"
FAULTS = {
    "gone and back": {"blackhole": {"at": {"event": 1}, "for": "200ms"}},
    "one way lost": {"blackhole": {"at": {"event": 1}, "way": "response"}},
    "the upstream left": {"abort_upstream": {"at": {"event": 1}}},
    "the upstream reset": {"abort_upstream": {"at": {"event": 1}, "then": "rst"}},
    "a slow head": {"pace": {"bytes": 50, "every": "10ms", "region": "head"}},
    "a slow size": {"pace": {"bytes": 1, "every": "10ms", "region": "chunk_size"}},
}
AT_ONCE = 20


def sockets() -> int:
    count = 0
    for descriptor in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # the listing's own
            count += str(descriptor.readlink()).startswith("socket:")
    return count


async def settled(before: int, proxied) -> None:
    with trio.move_on_after(15):
        while sockets() > before or proxied.proxy._exchanges or proxied.proxy._clients:
            await trio.sleep(0.02)
    assert (sockets(), len(proxied.proxy._exchanges), len(proxied.proxy._clients)) == (before, 0, 0)


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
async def test_http1(fault):
    script = [HEAD, b"9\r\n" + EVENT + b"\r\n", Ending.OPEN]
    async with origin(script) as served, proxy_on({"version": 1, "faults": [fault]}, served.url) as proxied:
        before = sockets()

        async def come_and_go() -> None:
            async with await RawClient.connect("127.0.0.1", proxied.port) as client:
                await client.send(GET)
                await client.read_until(EVENT, within=20)

        async with trio.open_nursery() as nursery:
            for _ in range(AT_ONCE):
                nursery.start_soon(come_and_go)
        await proxied.finished(AT_ONCE, within=20)
        await settled(before, proxied)
        assert {record.end.by for record in proxied.exchanges} == {"client"}


@pytest.mark.parametrize("fault", list(FAULTS.values())[:4], ids=list(FAULTS)[:4])
async def test_http2(fault):
    async def answer(peer, stream: int) -> None:
        await peer.headers(stream, [(b":status", b"200"), (b"content-type", b"text/event-stream")])
        await peer.data(stream, EVENT)

    async with h2_origin(answer) as url, proxy_on({"version": 1, "faults": [fault]}, url) as proxied:
        before = sockets()
        async with h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client:
            for number in range(1, 2 * AT_ONCE, 2):
                await client.request(number)
                await client.until(lambda number=number: client.streams[number].body, within=20)
                await client.reset(number)
            await proxied.finished(AT_ONCE, within=20)
            assert not proxied.proxy._exchanges
        # One pooled connection to the upstream may stay, with its two ends here.
        await settled_pool(before, proxied)


async def settled_pool(before: int, proxied) -> None:
    with trio.move_on_after(15):
        while sockets() > before + 2 or proxied.proxy._clients:
            await trio.sleep(0.02)
    assert sockets() <= before + 2
    assert not proxied.proxy._clients
