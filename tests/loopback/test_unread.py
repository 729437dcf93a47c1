"""A client that does not read, on real sockets: it has what the kernel had taken, then the end; the upstream had it before."""

import trio

from chaosproxy.testing.listening import listening
from chaosproxy.testing.peers import Ending, RawClient
from chaosproxy.testing.proxied import proxy_on
from chaosproxy.testing.recorder import Recorder

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNK = b"%x\r\n%b\r\n" % (20_000, bytes(20_000))
SHORT = {"version": 1, "faults": [{"timeout": {"blocked": "200ms"}}]}


async def test_it_has_what_the_kernel_had_taken_and_then_a_fin():
    left = trio.Event()

    async def flood(transport) -> None:
        peer = Recorder(transport)
        try:
            await peer.read()
            await peer.send(HEAD)
            for _ in range(5000):
                await peer.send(CHUNK)
        except ConnectionError:
            left.set()
        finally:
            transport.close()

    async with (
        listening(flood) as port,
        proxy_on(SHORT, f"http://127.0.0.1:{port}") as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(GET)
        with trio.fail_after(20):
            await left.wait()
        record = await proxied.last()
        assert (record.end.by, record.end.how, record.end.cause) == ("proxy", "fin", "timeout:blocked")
        assert await client.read_all() is Ending.FIN
        assert client.received.startswith(HEAD)
        assert not client.received.endswith(b"0\r\n\r\n")
        assert len(client.received) < 100_000_000
