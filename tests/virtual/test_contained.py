"""A mistake in a fault costs its exchange, or the connection that it lies under, and nothing else, whoever's bytes it
meets; the journal says what it was."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import pytest
import trio

from chaosproxy.chain.actions import Actions
from chaosproxy.chain.fault import REGISTRY, Context, Fault, FaultSpec
from chaosproxy.embedded.parts import Parts, running
from chaosproxy.http1.client import ClientConnection
from chaosproxy.http2.session import Http2Session
from chaosproxy.journal.journal import Journal
from chaosproxy.model.messages import Data
from chaosproxy.model.vocabulary import Way
from chaosproxy.scenario.schema import TRANSPARENT
from chaosproxy.testing.h2_origin import serve_h2
from chaosproxy.testing.peers import Ending, Origin, Pause, RawClient
from chaosproxy.testing.proxied import Linked, linked
from chaosproxy.wire.links import ROOM

HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
GET = b"GET /%b HTTP/1.1\r\nHost: x\r\n\r\n"
POST = b"POST /wrong HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrong(FaultSpec):
    """Fails at the first piece of body, after a second, or at once."""

    name: ClassVar[str] = "x_wrong"
    ways: ClassVar[frozenset[Way]] = frozenset(Way)
    on_connections: ClassVar[bool] = True

    fails: Literal["data", "wake", "start", "over"] = "data"

    def start(self, context: Context) -> Fault:
        if self.fails == "start":
            raise ZeroDivisionError("wrong")
        if self.fails == "over":
            return WrongInTheEnd()
        return RunningWrong() if self.fails == "data" else LateWrong(context.began)


class RunningWrong(Fault):
    def data(self, data: Data, now: float) -> Actions:
        raise ZeroDivisionError("wrong")


class LateWrong(Fault):
    def __init__(self, began: float) -> None:
        self.due = began + 1

    def wake(self, now: float) -> Actions:
        raise ZeroDivisionError("wrong")


class WrongInTheEnd(Fault):
    def over(self, now: float) -> Actions:
        raise ZeroDivisionError("wrong")


@pytest.fixture(autouse=True)
def wrong(monkeypatch):
    monkeypatch.setitem(REGISTRY, "x_wrong", Wrong)


def scenario(**fault: object) -> dict[str, object]:
    return {"version": 1, "rules": [{"match": {"path": "/wrong"}, "faults": [{"x_wrong": fault}]}]}


@pytest.mark.parametrize("way", ["response", "request"])
async def test_over_http1_the_client_is_let_go_and_the_next_one_served(way, autojump_clock, caplog):
    origin = Origin([HEAD, Pause(1), b"1\r\na\r\n0\r\n\r\n"], at_head=way == "request")
    async with linked(scenario(way=way), origin.serve) as proxied:
        async with RawClient(proxied.connect()) as client:
            await client.send(POST if way == "request" else GET % b"wrong")
            await client.read_until(HEAD[-4:])
            if way == "request":
                await client.send(b"1\r\nx\r\n")
            assert await client.read_all() is Ending.FIN
        record = await proxied.last()
        async with RawClient(proxied.connect()) as other:
            await other.send(GET % b"right")
            await other.read_until(b"1\r\na\r\n0\r\n\r\n")
    assert (record.end.by, record.end.how, record.end.cause) == ("proxy", "fin", "internal")
    assert "ZeroDivisionError('wrong')" in record.detail
    assert "x_wrong" in caplog.text


async def test_one_that_fails_whenever_it_is_asked_is_not_asked_for_ever(autojump_clock, caplog):
    """At a time that comes, and again when the exchange ends for that."""
    async with linked(scenario(fails="wake"), Origin([HEAD, Pause(2), b"1\r\na\r\n0\r\n\r\n"]).serve) as proxied:
        async with RawClient(proxied.connect()) as client:
            await client.send(GET % b"wrong")
            assert await client.read_all() is Ending.FIN
        record = await proxied.last()
        async with RawClient(proxied.connect()) as other:
            await other.send(GET % b"right")
            await other.read_until(b"1\r\na\r\n0\r\n\r\n")
    assert (record.request.path, record.end.by, record.end.cause) == ("/wrong", "proxy", "internal")
    assert "ZeroDivisionError('wrong')" in record.detail


@pytest.mark.parametrize("leaves", [False, True])
@pytest.mark.parametrize("way", ["response", "request"])
async def test_one_that_fails_when_its_exchange_is_over_leaves_nothing_behind(way, leaves, autojump_clock, caplog):
    origin = Origin([HEAD, Pause(1), b"1\r\na\r\n0\r\n\r\n"])
    async with linked(scenario(way=way, fails="over"), origin.serve) as proxied:
        async with RawClient(proxied.connect()) as client:
            await client.send(GET % b"wrong")
            await client.read_until(HEAD[-4:])
            if not leaves:
                await client.read_all()
        await proxied.last()
        async with RawClient(proxied.connect()) as other:
            await other.send(GET % b"right")
            await other.read_until(b"1\r\na\r\n0\r\n\r\n")
        await proxied.last(2)
        assert not proxied.proxy.running
    assert "ZeroDivisionError('wrong')" in caplog.text


async def test_over_http2_the_other_streams_of_the_upstream_live(autojump_clock, caplog):
    connections = []

    async def answer(peer, stream: int) -> None:
        connections.append(peer)
        await peer.headers(stream, [(b":status", b"200")])
        asked = dict(peer.streams[stream].heads[0])[b":path"]
        await trio.sleep(2 if asked == b"/right" else 1)
        await peer.data(stream, b"a", end=True)

    async with linked(scenario(), lambda transport: serve_h2(transport, answer), upstream="h2c://origin") as proxied:
        async with RawClient(proxied.connect()) as client, RawClient(proxied.connect()) as other:
            await other.send(GET % b"right")
            await client.send(GET % b"wrong")
            assert await client.read_all() is Ending.FIN
            await other.read_until(b"1\r\na\r\n0\r\n\r\n")
        records = await proxied.finished(2)
    assert [(record.request.path, record.end.cause) for record in records] == [("/wrong", "internal"), ("/right", None)]
    assert len({id(peer) for peer in connections}) == 1
    assert "x_wrong" in caplog.text


async def test_a_fault_that_cannot_begin_costs_its_exchange(autojump_clock, caplog):
    async with linked(scenario(fails="start"), Origin([HEAD, b"1\r\na\r\n0\r\n\r\n"]).serve) as proxied:
        async with RawClient(proxied.connect()) as client:
            await client.send(GET % b"wrong")
            assert await client.read_all() is Ending.FIN
        record = await proxied.last()
        async with RawClient(proxied.connect()) as other:
            await other.send(GET % b"right")
            await other.read_until(b"1\r\na\r\n0\r\n\r\n")
    assert (record.request.path, record.end.by, record.end.cause) == ("/wrong", "proxy", "internal")
    assert "x_wrong" in record.detail
    assert "ZeroDivisionError('wrong')" in caplog.text


@pytest.mark.parametrize("fails", ["data", "wake", "start"])
@pytest.mark.parametrize("side", ["client", "upstream"])
async def test_under_a_connection_it_costs_that_connection(side, fails, autojump_clock, caplog):
    """And whoever rings, accepts or dials goes on."""
    entry = {"match": {"side": side, "number": 1}, "faults": [{"x_wrong": {"fails": fails}}]}
    origin = Origin([HEAD, Pause(2), b"1\r\na\r\n0\r\n\r\n"])
    async with linked({"version": 1, "connections": [entry]}, origin.serve) as proxied:
        async with RawClient(proxied.connect()) as client:
            await client.send(GET % b"wrong")
            ending = await client.read_all()
        async with RawClient(proxied.connect()) as other:
            await other.send(GET % b"right")
            await other.read_until(b"1\r\na\r\n0\r\n\r\n")
        records = await proxied.finished(1 if side == "client" and fails == "start" else 2)
    assert "ZeroDivisionError('wrong')" in caplog.text
    assert caplog.text.count(f"{side} connection 1: ") == 1
    if side == "client":
        assert ending is Ending.RST
        assert [record.end.cause for record in records[:-1]] == ([] if fails == "start" else ["internal"])
    else:
        assert b" 502 " in client.received or records[0].upstream.end.how == "rst"


async def test_a_mistake_while_dialling_is_answered(autojump_clock, caplog):
    async def dial(address, offers, wrap):
        await trio.sleep(1)
        raise ZeroDivisionError("wrong")

    proxy = Parts(("http://origin",), seed=1).proxy(TRANSPARENT, Journal(), dial)
    async with running(proxy):
        proxied = Linked(proxy, ROOM)
        async with RawClient(proxied.connect()) as client, RawClient(proxied.connect()) as other:
            for one in (client, other):
                await one.send(GET % b"wrong")
            for one in (client, other):
                await one.read_until(b"wrong\n")
                assert one.head.startswith(b"HTTP/1.1 502 ")
    assert "ZeroDivisionError" in caplog.text or "wrong" in caplog.text


@pytest.mark.parametrize("of", [ClientConnection, Http2Session])
async def test_a_mistake_while_an_upstream_is_read_costs_that_connection(of, autojump_clock, caplog, monkeypatch):
    """Whoever waits for its answer is told."""

    def wrong(*_):
        raise ZeroDivisionError("wrong")

    async def answer(peer, stream: int) -> None:
        await trio.sleep(1)
        monkeypatch.setattr(of, "receive", wrong)
        await peer.headers(stream, [(b":status", b"200")], end=True)

    def begin(transport):
        return serve_h2(transport, answer) if of is Http2Session else Origin([Pause(1), HEAD]).serve(transport)

    upstream = "h2c://origin" if of is Http2Session else "http://origin"
    async with linked(None, begin, upstream=upstream) as proxied, RawClient(proxied.connect()) as client:
        await client.send(GET % b"wrong")
        if of is ClientConnection:
            monkeypatch.setattr(of, "receive", wrong)
        await client.read_until(b"\r\n\r\n")
        assert client.head.startswith(b"HTTP/1.1 502 ")
    assert "a connection has failed: wrong" in caplog.text
