"""The client has left, a fault drains the answer for nobody, and then the machine itself is gone: that is no mistake."""

from chaosproxy.testing.peers import Ending, Origin, Pause, RawClient
from chaosproxy.testing.proxied import linked

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
FIRST, SECOND = b"9\r\ndata: 1\n\n\r\n", b"9\r\ndata: 2\n\n\r\n"
SCENARIO = {
    "version": 1,
    "faults": [{"blackhole": {"at": {"event": 2}, "for": "5s"}}, {"client_abort": "ignore"}],
}


async def test_a_machine_that_goes_while_it_drains_comes_back_and_drains_the_rest(autojump_clock, caplog):
    served = Origin([HEAD + FIRST, Pause(1), SECOND, Pause(1), b"0\r\n\r\n", Ending.FIN])
    async with linked(SCENARIO, served.serve) as proxied:
        async with RawClient(proxied.connect()) as client:
            await client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            await client.read_until(FIRST)
        record = await proxied.last()
    assert [fired.fault for fired in record.faults] == ["client_abort", "blackhole"]
    assert (record.end.by, record.end.how, record.upstream.end.how) == ("client", "fin", "clean")
    assert record.times.upstream_closed >= 6
    assert not caplog.records
