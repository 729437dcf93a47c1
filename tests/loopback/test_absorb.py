"""`absorb` on real sockets: the server has sent everything, and is done, while its client has read nothing."""

import trio

from chaosproxy.testing.listening import listening
from chaosproxy.testing.peers import RawClient
from chaosproxy.testing.proxied import proxy_on
from chaosproxy.testing.recorder import Recorder

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNK = b"%x\r\n%b\r\n" % (50_000, bytes(50_000))
CHUNKS = 300
"""15 MB: more than any kernel keeps."""


async def test_the_server_is_done_before_its_client_has_read_anything():
    done = trio.Event()

    async def flood(transport) -> None:
        peer = Recorder(transport)
        await peer.read()
        await peer.send(HEAD)
        for _ in range(CHUNKS):
            await peer.send(CHUNK)
        await peer.send(b"0\r\n\r\n")
        done.set()
        await peer.read()
        transport.close()

    scenario = {"version": 1, "faults": [{"absorb": "64MiB"}]}
    async with (
        listening(flood) as port,
        proxy_on(scenario, f"http://127.0.0.1:{port}") as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(GET)
        with trio.fail_after(20):
            await done.wait()
        assert client.received == b""
        with trio.fail_after(20):
            while not (await client.read()).endswith(b"0\r\n\r\n"):
                pass
        record = await proxied.last()
    assert record.response.bytes_out == CHUNKS * 50_000
    assert record.end.how == "clean"
    assert [one.fault for one in record.faults] == ["absorb"]
