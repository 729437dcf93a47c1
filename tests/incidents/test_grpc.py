"""Incidents of gRPC: what is on the wire, in virtual time."""

import pytest
import trio

from chaosproxy.testing.h2_peers import H2Peer, h2_client
from chaosproxy.testing.peers import Origin, Pause
from chaosproxy.testing.proxied import linked
from tests.virtual.shipped import chunk, no_knobs

__all__ = ["no_knobs"]

LONG = 2000.0
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/grpc\r\nTransfer-Encoding: chunked\r\n\r\n"
MESSAGE = b"\x00\x00\x00\x00\x05hello"
OK = b"0\r\ngrpc-status: 0\r\n\r\n"
CALL = [
    (b":method", b"POST"), (b":scheme", b"http"), (b":path", b"/chat.Service/Talk"), (b":authority", b"x"),
    (b"content-type", b"application/grpc"), (b"te", b"trailers"),
]  # fmt: skip


async def call(client: H2Peer) -> dict[bytes, bytes]:
    """Call on stream 1; its trailers, {} if none came."""
    await client.headers(1, CALL, end=True)
    await client.until(lambda: client.streams[1].over, within=LONG)
    blocks = client.streams[1].heads
    return dict(blocks[1]) if len(blocks) > 1 else {}


def status(trailers: dict[bytes, bytes]) -> int:
    """As a client reports it: without one it is UNKNOWN."""
    return int(trailers.get(b"grpc-status", b"2"))


async def test_pings_keep_no_stream_alive(autojump_clock):
    served = Origin([HEAD, chunk(MESSAGE), Pause(1000), OK])
    async with linked("grpc-idle", served.serve) as proxied, h2_client(proxied.connect()) as client:

        async def keep_alive() -> None:
            while True:
                await trio.sleep(60)
                await client.ping()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(keep_alive)
            trailers = await call(client)
            nursery.cancel_scope.cancel()
        assert (status(trailers), trailers[b"grpc-message"]) == (14, b"stream timeout")
        assert client.pongs >= 4
        assert trio.current_time() == pytest.approx(300)
        assert client.streams[1].body == MESSAGE


async def test_a_deadline_of_the_hop(autojump_clock, monkeypatch):
    monkeypatch.setenv("CHAOS_CODE", "4")
    monkeypatch.setenv("CHAOS_IDLE", "15s")
    served = Origin([HEAD, chunk(MESSAGE), Pause(1000), OK])
    async with linked("grpc-idle", served.serve) as proxied, h2_client(proxied.connect()) as client:
        assert status(await call(client)) == 4
        assert trio.current_time() == pytest.approx(15)


async def test_no_status_is_no_success(autojump_clock):
    served = Origin([HEAD, *[chunk(MESSAGE)] * 10, OK])
    async with linked("grpc-no-trailers", served.serve) as proxied, h2_client(proxied.connect()) as client:
        assert status(await call(client)) == 2
        seen = client.streams[1]
        assert (seen.body, seen.ended, seen.reset, len(seen.heads)) == (MESSAGE * 3, True, None, 1)
