"""An upstream that does not read the request to its end, and does not close either: nobody waits for it to do so."""

import contextlib

import pytest
import trio

from chaosproxy.testing.peers import Ending, Origin, RawClient
from chaosproxy.testing.proxied import linked
from chaosproxy.testing.recorder import Recorder

SIZE = 1_000_000
POST = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % SIZE
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Busy:
    """Reads the head of the first request and nothing more until `reads`; every other connection is served well."""

    def __init__(self, answer: bytes) -> None:
        self.answer = answer
        self.reads = trio.Event()
        self.seen: Recorder | None = None

    async def serve(self, transport) -> None:
        if self.seen is not None:
            await Origin([OK]).serve(transport)
            return
        self.seen = Recorder(transport)
        await self.seen.read()
        if self.answer:
            await self.seen.send(self.answer)
        await self.reads.wait()
        while await self.seen.read():
            pass


async def upload(client: RawClient) -> None:
    with contextlib.suppress(ConnectionError, trio.ClosedResourceError):
        await client.send(bytes(SIZE))


@pytest.mark.parametrize("answer", [OK, b""], ids=["answered early", "timed out"])
async def test_the_connection_is_given_up_with_the_exchange(answer, autojump_clock, nursery):
    """It would be the only one that may be."""
    busy = Busy(answer)
    scenario = {"version": 1, "upstream": {"max_connections": 1}, "faults": [{"timeout": {"total": "1s"}}]}
    async with linked(scenario, busy.serve) as proxied:
        async with RawClient(proxied.connect()) as client:
            await client.send(POST)
            nursery.start_soon(upload, client)
            await client.read_until(OK if answer else b"HTTP/1.1 504 ")
        await proxied.last()
        async with RawClient(proxied.connect()) as other:
            await other.send(GET)
            await other.read_until(OK)
        busy.reads.set()
        await trio.sleep(1)
        assert busy.seen.ending is Ending.FIN
        assert len(busy.seen.received) < SIZE
