"""A fault of the request way ends an upload: what it let pass reaches the upstream first, whenever that is connected."""

import pytest
import trio

from chaosproxy.testing.peers import RawClient
from chaosproxy.testing.proxied import linked
from chaosproxy.testing.recorder import Ending, Recorder

HEAD = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n"
BODY = b"0123456789" * 10
CUT = {"version": 1, "faults": [{"cut": {"at": {"bytes": 10}, "way": "request", "then": {"status": 413}}}]}


@pytest.mark.parametrize("writes", [[HEAD + BODY], [HEAD, BODY], [HEAD, BODY[:4], BODY[4:]]], ids=len)
async def test_the_bytes_before_the_place_go_out_and_then_the_end(writes, autojump_clock):
    upstreams: list[Recorder] = []
    ended = trio.Event()

    async def serve(transport):
        upstream = Recorder(transport)
        upstreams.append(upstream)
        while await upstream.read():
            pass
        transport.close()
        ended.set()

    async with linked(CUT, serve) as proxied, RawClient(proxied.connect()) as client:
        for data in writes:
            await client.send(data)
        await client.read_until(b"\r\n\r\n")
        assert client.head.startswith(b"HTTP/1.1 413 ")
        record = await proxied.last()
        await ended.wait()
        (upstream,) = upstreams
    assert (upstream.received, upstream.ending) == (HEAD + BODY[:10], Ending.FIN)
    assert (record.end.how, record.end.cause, record.upstream.end.cause) == ("clean", "cut", "cut")
