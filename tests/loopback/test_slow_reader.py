"""`slow_reader` on real sockets: the upstream's writes block, the client gets what is read, whoever leaves is heard."""

import contextlib
import socket

import pytest
import trio
from trio.testing import MockClock

from chaosproxy.testing.h2_origin import serve_h2
from chaosproxy.testing.listening import listening
from chaosproxy.testing.peers import Ending, RawClient, origin
from chaosproxy.testing.proxied import linked, proxy_on
from chaosproxy.testing.recorder import QUIET, Recorder
from chaosproxy.wire.plain import Plain

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
MIB = 1024 * 1024
PIECE = bytes(range(250)) * 4
UNREAD = 250_000
"""More than the two sockets of a narrow connection hold, and a small part of what is on offer."""


def slowly(**fault: object) -> dict[str, object]:
    return {"version": 1, "faults": [{"slow_reader": fault}]}


class Flood:
    """Sends 16 MiB as fast as they are taken, from a small buffer, and counts."""

    def __init__(self) -> None:
        self.sent = 0
        self.left = trio.Event()

    async def __call__(self, transport) -> None:
        assert isinstance(transport, Plain)
        transport.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        peer = Recorder(transport)
        try:
            await peer.read()
            await peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (16 * MIB))
            while self.sent < 16 * MIB:
                await peer.send(PIECE)
                self.sent += len(PIECE)
        except ConnectionError:
            self.left.set()
        finally:
            transport.close()


@pytest.mark.parametrize("fault", [{"rate": "200KiB/s", "window": "4KiB"}, {"pause": "20ms", "window": "4KiB"}])
async def test_what_is_not_read_waits_with_the_upstream(fault):
    flood = Flood()
    async with (
        listening(flood) as port,
        proxy_on(slowly(**fault), f"http://127.0.0.1:{port}") as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(GET)
        with trio.fail_after(20):
            while len(client.body) < 100_000:
                assert await client.read()
        assert flood.sent - len(client.body) < UNREAD
        assert (PIECE * 200).startswith(client.body[:150_000])
        client.transport.close()
        with trio.fail_after(20):
            await flood.left.wait()
        record = await proxied.last()
    assert (record.end.by, record.upstream.end.how) == ("client", "fin")
    assert record.faults[0].fault == "slow_reader"


async def test_a_reader_that_has_stopped_and_a_client_that_leaves():
    flood = Flood()
    async with (
        listening(flood) as port,
        proxy_on(slowly(pause="forever", window="4KiB"), f"http://127.0.0.1:{port}") as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(GET)
        with trio.fail_after(20):
            while len(client.body) < 4096:
                assert await client.read()
        assert await client.read_all(QUIET) is Ending.OPEN
        assert len(client.body) == 4096
        client.transport.close()
        with trio.fail_after(20):
            await flood.left.wait()
    assert flood.sent < UNREAD


async def test_the_whole_answer_comes_and_its_connection_is_not_used_again():
    body = PIECE * 300
    async with (
        origin([b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body), body]) as served,
        proxy_on(slowly(rate="1MiB/s"), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        for number in (1, 2):
            await client.send(GET)
            with trio.fail_after(20):
                while client.received.count(PIECE) < 300 * number:
                    assert await client.read()
        assert served.connections == 2
        assert [record.end.how for record in await proxied.finished(2)] == ["clean", "clean"]


def test_an_h2_upstream_gets_no_credit():
    sent = 0

    async def answer(peer, stream):
        nonlocal sent
        await peer.headers(stream, [(b":status", b"200"), (b"content-type", b"text/plain")])
        while sent < MIB:
            await peer.data(stream, PIECE)
            sent += len(PIECE)
        await peer.data(stream, b"", end=True)

    async def serve(transport):
        with contextlib.suppress(trio.ClosedResourceError):
            await serve_h2(transport, answer)

    async def main():
        async with linked(slowly(rate="50KiB/s", window="4KiB"), serve, upstream="h2c://origin") as proxied:
            client = RawClient(proxied.connect())
            await client.send(GET)
            await client.read()
            most = 0
            while sent < MIB:
                assert await client.read()
                most = max(most, sent - sum(len(data) for _, data in client.pieces))
            assert trio.current_time() > 15
            assert most < 65535 + 20_000  # its first window, and what is on the way
            await client.read_until(b"0\r\n\r\n", within=100)

    trio.run(main, clock=MockClock(autojump_threshold=0))
