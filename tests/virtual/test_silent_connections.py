"""Faults of a whole connection that wait for silence: it counts from the beginning, and anew from each byte."""

import pytest
import trio

from chaosproxy.testing.peers import Ending, Origin, Pause, RawClient
from chaosproxy.testing.proxied import linked

HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
LATE = [Pause(1.5), HEAD, Pause(1.5), b"1\r\na\r\n", Pause(9), b"0\r\n\r\n"]


@pytest.mark.parametrize(
    ("script", "at", "body"), [(LATE, 5.0, b"1\r\na\r\n"), ([Pause(9)], 2.0, b"")], ids=["later", "first"]
)
async def test_a_connection_is_cut_when_it_has_been_silent_for_so_long(script, at, body, autojump_clock):
    fault = {"cut": {"at": {"idle": "2s"}, "then": "rst"}}
    scenario = {"version": 1, "connections": [{"match": {"side": "client"}, "faults": [fault]}]}
    async with linked(scenario, Origin(script).serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert await client.read_all() is Ending.RST
        assert trio.current_time() == pytest.approx(at)
        assert client.body == body
        record = await proxied.last()
    assert (record.end.how, record.end.cause) == ("rst", "cut")
