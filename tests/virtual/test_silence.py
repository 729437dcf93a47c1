"""A machine falls silent in front of others, on connections: they end it when they lose patience, or the client does."""

import pytest

from chaosproxy.testing.peers import Ending, Origin, Pause, RawClient
from chaosproxy.testing.proxied import linked

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENT = b"9\r\ndata: 1\n\n\r\n"
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
SILENT = {"cut": {"at": {"event": 1}, "then": "silence"}}


def scenario(silent: object, **timeout: object) -> dict[str, object]:
    return {"version": 1, "hops": [{"faults": [silent]}, {"faults": [{"timeout": timeout}]}]}


async def test_a_balancer_cuts_what_it_takes_for_dead(autojump_clock):
    served = Origin([HEAD + EVENT, Pause(1), EVENT, Ending.OPEN])
    async with linked(scenario(SILENT, idle="5s"), served.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(GET)
        assert await client.read_all() is Ending.FIN
        record = await proxied.last()
        assert (await served.request(1)).left_at == pytest.approx(0)
    assert client.received == HEAD + EVENT
    assert client.ended_at == pytest.approx(5)
    assert (record.end.by, record.end.how, record.end.cause) == ("proxy", "fin", "timeout:idle")
    assert (record.upstream.end.by, record.upstream.end.cause) == ("proxy", "cut")


async def test_a_gateway_answers_for_a_worker_that_hung_up(autojump_clock):
    worker = {"abort_upstream": {"at": "request_end"}}
    async with linked(scenario(worker, first_byte="5s"), Origin([]).serve) as proxied:
        async with RawClient(proxied.connect()) as client:
            await client.send(GET)
            await client.read_until(b"\r\n\r\n")
            assert client.head.startswith(b"HTTP/1.1 504 ")
            assert client.pieces[0][0] == pytest.approx(5)
        record = await proxied.last()
    assert (record.end.how, record.end.cause) == ("clean", "timeout:first_byte")


async def test_the_client_is_the_first_to_lose_patience(autojump_clock):
    served = Origin([HEAD + EVENT, Ending.OPEN])
    async with linked(scenario(SILENT, idle="5s"), served.serve) as proxied:
        async with RawClient(proxied.connect()) as client:
            await client.send(GET)
            await client.read_until(EVENT)
        record = await proxied.last()
    assert (record.end.by, record.end.how, record.end.cause) == ("client", "fin", "cut")
