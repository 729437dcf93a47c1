"""A proxy that is cancelled from outside, in the middle of everything: its parts end in any order, and none is missed."""

import logging

import pytest
import trio

from chaosproxy.testing.h2_origin import serve_h2
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, Origin, RawClient
from chaosproxy.testing.proxied import linked

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENT = b"9\r\ndata: 1\n\n\r\n"
OK = [(b":status", b"200"), (b"content-type", b"text/event-stream")]


async def answer(peer, stream: int) -> None:
    await peer.headers(stream, OK)
    await peer.data(stream, b"data: 1\n\n")


async def over_h1(proxied) -> None:
    async with RawClient(proxied.connect()) as client:
        await client.send(GET)
        await client.read_all(1000)


async def over_h2(proxied) -> None:
    async with h2_client(proxied.connect()) as client:
        for stream in (1, 3):
            await client.request(stream)
        await client.until_ended(1000)


@pytest.mark.parametrize("upstream", ["http/1.1", "h2"])
@pytest.mark.parametrize("client", [over_h1, over_h2])
async def test_whatever_ends_first_writes_to_nothing_that_is_closed(client, upstream, autojump_clock, caplog):
    async def serve(transport) -> None:
        if upstream == "h2":
            await serve_h2(transport, answer)
        else:
            await Origin([HEAD, EVENT, Ending.OPEN]).serve(transport)

    with caplog.at_level(logging.WARNING):
        for _ in range(20):  # Trio lets tasks run in random order
            proxied = None
            with trio.move_on_after(1):
                url = "h2c://origin" if upstream == "h2" else "http://origin"
                async with linked(None, serve, upstream=url) as proxied, trio.open_nursery() as nursery:
                    for _ in range(3):
                        nursery.start_soon(client, proxied)
            assert proxied is not None
            assert len(proxied.exchanges) == (3 if client is over_h1 else 6)
    assert caplog.messages == []
