"""What the journal says of answers that are not the upstream's, or that have no body."""

import pytest
import trio

from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, Origin, Pause, RawClient
from chaosproxy.testing.proxied import linked

GET = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


async def test_the_body_of_an_own_answer_is_counted(autojump_clock):
    served = Origin([Ending.FIN])
    async with linked(None, served.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(GET)
        await client.read_all()
        record = await proxied.last()
    assert record.response.status == 502
    assert client.body
    assert record.response.bytes_out == len(client.body)


async def test_a_refusal_is_counted(autojump_clock):
    async with linked(None, Origin().serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(b"GET / HTTP/1.1\r\nHost x\r\n\r\n")
        await client.read_all()
        record = await proxied.last()
    assert record.response.status == 400
    assert record.response.bytes_out == len(client.body) > 0


async def test_the_status_is_the_one_that_the_client_has_seen(autojump_clock):
    served = Origin([Pause(1), b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"])
    cut = {"cut": {"at": {"time": "500ms"}, "then": {"status": 503}, "side": "client"}}
    async with linked({"version": 1, "faults": [cut]}, served.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(GET)
        await client.read_all()
        record = await proxied.last()
    assert client.head.startswith(b"HTTP/1.1 503 ")
    assert (record.response.status, record.times.upstream_head) == (503, 1.0)


@pytest.mark.parametrize(
    ("method", "head"),
    [
        (b"GET", b"HTTP/1.1 304 Not Modified\r\nContent-Type: text/event-stream\r\n\r\n"),
        (b"HEAD", b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"),
    ],
)
async def test_nothing_is_said_meanwhile_where_there_is_no_body(method, head, autojump_clock):
    stall = {"stall": {"at": "end", "for": "2s", "meanwhile": {"comments": "500ms"}}}
    served = Origin([head])
    async with (
        linked({"version": 1, "faults": [stall]}, served.serve) as proxied,
        RawClient(proxied.connect()) as client,
    ):
        await client.send(GET.replace(b"GET", method))
        await client.read_all()
        record = await proxied.last()
    assert client.body == b""
    assert (record.response.bytes_out, record.response.events_out) == (0, None)
    assert [fired.detail for fired in record.faults] == ["for 2s at end, silent: no comments can be said here"]


async def test_an_answer_from_the_requests_way_is_not_forgotten_by_a_machine_that_holds_it(autojump_clock):
    """What a fault of the request's way answers waits on the other line, which nothing else has touched."""
    document = {"version": 1, "hops": [{"faults": [{"auth": {"header": "x-key"}}]}, {"faults": [{"hold_head": "2s"}]}]}
    async with linked(document, Origin().serve) as proxied, RawClient(proxied.connect()) as client:
        began = trio.current_time()
        await client.send(GET)
        await client.read_all()
    assert client.head.startswith(b"HTTP/1.1 401")
    assert client.pieces[0][0] - began == pytest.approx(2.0)


@pytest.mark.parametrize("window", [0, 10], ids=["no window", "less than it takes"])
async def test_an_own_answer_waits_for_the_client_s_window(window, autojump_clock):
    async with linked(None, Origin([Ending.FIN]).serve) as proxied, h2_client(proxied.connect(), window) as client:
        client.stalled.add(1)
        await client.request(1)
        said = client.streams[1]
        await client.until(lambda: said.heads)
        await trio.sleep(3)
        assert (said.status, len(said.body), said.ended) == (502, window, False)
        assert proxied.exchanges == []
        await client.credit(1, 20)
        await trio.sleep(1)
        assert (len(said.body), said.ended) == (window + 20, False)
        await client.credit(1, 1000)
        record = await proxied.last()
        await client.until(lambda: said.ended)
    assert said.body.startswith(b"chaosproxy: the upstream closed")
    assert record.response.bytes_out == len(said.body)
    assert (record.end.how, record.end.cause) == ("clean", "upstream:fin")


async def test_a_client_that_leaves_while_an_own_answer_waits(autojump_clock):
    async with linked(None, Origin([Ending.FIN]).serve) as proxied, h2_client(proxied.connect(), 0) as client:
        await client.request(1)
        await client.until(lambda: client.streams[1].heads)
        await client.reset(1)
        record = await proxied.last()
    assert (record.response.status, record.response.bytes_out) == (502, 0)
    assert (record.end.by, record.end.how) == ("client", "stream:CANCEL")
