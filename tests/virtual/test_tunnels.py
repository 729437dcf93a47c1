"""Upgrades and CONNECT: bytes both ways, each way closed by itself, refused where two versions of HTTP meet."""

import contextlib

import pytest
import trio
import trio.testing

from chaosproxy.testing.h2_origin import serve_h2
from chaosproxy.testing.h2_peers import CANCEL, h2_client
from chaosproxy.testing.peers import Ending, Origin, RawClient
from chaosproxy.testing.proxied import linked
from chaosproxy.testing.recorder import Recorder

UPGRADE = b"GET /chat HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
CONNECT = b"CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n"
SWITCHING = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
CONNECTED = b"HTTP/1.1 200 Connected\r\n\r\n"
OPENINGS = pytest.mark.parametrize(
    ("request_head", "answer"), [(UPGRADE, SWITCHING), (CONNECT, CONNECTED)], ids=["upgrade", "connect"]
)
WATCHED = {"version": 1, "faults": [{"timeout": {"idle": "1h"}}]}
"""A fault that has to know when the request is complete."""


class Echo:
    """Answers the head, sends back what comes in capitals, and says goodbye when the client has ended its way."""

    def __init__(self, answer: bytes) -> None:
        self._answer = answer
        self.peer: Recorder | None = None

    async def __call__(self, transport) -> None:
        self.peer = peer = Recorder(transport)
        head = await peer.read()
        assert b"\r\n\r\n" in head
        await peer.send(self._answer + head.partition(b"\r\n\r\n")[2].upper())
        while data := await peer.read():
            await peer.send(data.upper())
        if peer.ending is Ending.FIN:
            await peer.send(b"goodbye")
            peer.transport.fin()


@OPENINGS
async def test_bytes_pass_both_ways_at_once_and_in_their_pieces(request_head, answer, autojump_clock):
    async with linked(None, Echo(answer)) as proxied, RawClient(proxied.connect()) as client:
        await client.send(request_head)
        await client.read_until(b"\r\n\r\n")
        for number in range(3):
            await trio.sleep(1)
            await client.send(b"hello %d" % number)
            await client.read_until(b"HELLO %d" % number)
        assert [time for time, _ in client.pieces] == [0, 1, 2, 3]
        assert client.body == b"HELLO 0HELLO 1HELLO 2"
        client.transport.fin()
        await client.read_all()
        record = await proxied.last()
    assert (record.end.by, record.end.how) == ("upstream", "clean")
    assert (record.request.bytes, record.response.bytes_in, record.response.bytes_out) == (21, 28, 28)


@OPENINGS
async def test_bytes_that_come_with_the_request_or_the_answer_are_not_lost(request_head, answer, autojump_clock):
    async with linked(None, Echo(answer + b"first words ")) as proxied, RawClient(proxied.connect()) as client:
        await client.send(request_head + b"at once")
        await client.read_until(b"AT ONCE")
        assert client.body == b"first words AT ONCE"


@OPENINGS
async def test_the_client_ends_its_way_and_still_gets_the_rest(request_head, answer, autojump_clock):
    async with linked(None, Echo(answer)) as proxied, RawClient(proxied.connect()) as client:
        await client.send(request_head)
        await client.read_until(b"\r\n\r\n")
        await client.send(b"last words")
        client.transport.fin()
        assert await client.read_all() is Ending.FIN
        assert client.body == b"LAST WORDSgoodbye"


@OPENINGS
@pytest.mark.parametrize("scenario", [None, WATCHED], ids=["untouched", "watched"])
async def test_the_upstream_ends_its_way_and_still_gets_the_rest(request_head, answer, scenario, autojump_clock):
    heard = b""
    over = trio.Event()

    async def serve(transport) -> None:
        nonlocal heard
        peer = Recorder(transport)
        await peer.read()
        await peer.send(answer + b"bye")
        transport.fin()
        while data := await peer.read():
            heard += data
        over.set()

    async with linked(scenario, serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(request_head)
        assert await client.read_all() is Ending.FIN
        assert client.body == b"bye"
        await trio.sleep(1)
        await client.send(b"I was not done")
        client.transport.fin()
        with trio.fail_after(1):
            await over.wait()
        assert heard == b"I was not done"
        assert (await proxied.last()).end.how == "clean"


@OPENINGS
@pytest.mark.parametrize("leaving", [Ending.FIN, Ending.RST])
async def test_a_client_that_is_gone_is_gone_for_the_upstream(request_head, answer, leaving, autojump_clock):
    echo = Echo(answer)
    async with linked(None, echo) as proxied:
        async with RawClient(proxied.connect()) as client:
            await client.send(request_head)
            await client.read_until(b"\r\n\r\n")
            if leaving is Ending.RST:
                client.transport.rst()
        record = await proxied.last()
        await trio.testing.wait_all_tasks_blocked()
        assert echo.peer is not None
        assert echo.peer.ending is not None
    if leaving is Ending.RST:
        assert (record.end.by, record.end.how) == ("client", "rst")


@OPENINGS
async def test_an_upstream_that_is_gone_is_gone_for_the_client(request_head, answer, autojump_clock):
    served = Origin([answer, b"words", Ending.RST])
    async with linked(None, served.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(request_head)
        assert await client.read_all() is Ending.RST
        assert client.body == b"words"
        record = await proxied.last()
    assert (record.end.by, record.end.how, record.end.cause) == ("upstream", "rst", "upstream:rst")


@OPENINGS
async def test_a_refused_tunnel_is_an_ordinary_answer(request_head, answer, autojump_clock):
    refused = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno"
    served = Origin([refused], at_head=True)
    async with linked(None, served.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(request_head)
        await client.read_until(refused)
        await client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await client.read_until(refused + refused)
        records = await proxied.finished(2)
    assert [record.end.how for record in records] == ["clean", "clean"]


async def test_an_upgrade_to_h2c_is_not_heard_of(autojump_clock):
    served = Origin([b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"])
    async with linked(None, served.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(
            b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n"
        )
        await client.read_until(b"ok")
    assert b"h2c" not in served.requests[0].head
    assert b"HTTP2-Settings" not in served.requests[0].head


@OPENINGS
async def test_h1_to_an_h2_upstream_is_a_501(request_head, answer, autojump_clock):
    asked: list[int] = []

    async def serve(peer, stream) -> None:
        asked.append(stream)
        await peer.headers(stream, [(b":status", b"200")], end=True)

    async with (
        linked(None, lambda transport: serve_h2(transport, serve), upstream="h2c://origin") as proxied,
        RawClient(proxied.connect()) as client,
    ):
        await client.send(request_head)
        await client.read_until(b"\n", within=1)
        await client.read_until(b"upgrade")
        assert client.head.startswith(b"HTTP/1.1 501 ")
        record = await proxied.last()
        assert asked == []
    assert (record.end.by, record.end.how, record.response.status) == ("proxy", "clean", 501)


EXTENDED = [
    (b":method", b"CONNECT"),
    (b":protocol", b"websocket"),
    (b":scheme", b"http"),
    (b":path", b"/chat"),
    (b":authority", b"x"),
]
PLAIN_CONNECT = [(b":method", b"CONNECT"), (b":authority", b"example.org:443")]


@pytest.mark.parametrize("head", [EXTENDED, PLAIN_CONNECT], ids=["extended", "plain"])
async def test_h2_to_an_h1_upstream_is_a_501(head, autojump_clock):
    served = Origin([SWITCHING], at_head=True)
    async with linked(None, served.serve) as proxied, h2_client(proxied.connect()) as client:
        await client.headers(1, head)
        await client.until(lambda: client.streams[1].over)
        assert client.streams[1].status == 501
    assert not served.requests


@pytest.mark.parametrize("head", [EXTENDED, PLAIN_CONNECT], ids=["extended", "plain"])
async def test_a_tunnel_from_h2_to_h2_with_each_way_ended_by_itself(head, autojump_clock):
    async def serve(peer, stream) -> None:
        await peer.headers(stream, [(b":status", b"200")])
        await peer.until(lambda: peer.streams[stream].body == b"hello")
        await peer.data(stream, b"HELLO")
        await peer.until(lambda: peer.streams[stream].ended)
        await peer.data(stream, b"goodbye", end=True)

    async with (
        linked(None, lambda transport: serve_h2(transport, serve), upstream="h2c://origin") as proxied,
        h2_client(proxied.connect()) as client,
    ):
        await client.headers(1, head)
        await client.until(lambda: client.streams[1].status == 200)
        await client.data(1, b"hello")
        await client.until(lambda: client.streams[1].body == b"HELLO")
        await client.data(1, b"", end=True)
        await client.until(lambda: client.streams[1].ended)
        assert client.streams[1].body == b"HELLOgoodbye"
        assert (await proxied.last()).end.how == "clean"


class Leisurely:
    """Grants a tunnel, and ends its own way after `stays` seconds, without waiting for the client's end."""

    def __init__(self, stays: float) -> None:
        self._stays = stays  # at least 0.75

    async def __call__(self, transport) -> None:
        peer = Recorder(transport)
        await peer.read()
        await peer.send(SWITCHING)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._read_all, peer)
            await trio.sleep(0.75)
            await peer.send(b"still here")  # a reset behind a FIN is noticed where something is sent
            await trio.sleep(self._stays - 0.75)
            with contextlib.suppress(OSError):
                await peer.send(b"bye")
                transport.fin()

    async def _read_all(self, peer: Recorder) -> None:
        while await peer.read():
            pass


async def end_and_reset(client: RawClient) -> None:
    """The client ends its way, and half a second later it is gone."""
    await client.send(UPGRADE)
    await client.read_until(b"\r\n\r\n")
    client.transport.fin()
    await trio.sleep(0.5)
    client.transport.rst()


@pytest.mark.parametrize("spec", ["ignore", "on_next_write", {"delay": "3s"}, {"mode": "on_next_write", "delay": "3s"}])
async def test_a_tunnel_whose_client_has_left_ends_with_its_upstream(spec, autojump_clock):
    async with (
        linked({"version": 1, "faults": [{"client_abort": spec}]}, Leisurely(stays=1)) as proxied,
        RawClient(proxied.connect()) as client,
    ):
        await end_and_reset(client)
        record = await proxied.last(within=2)
        assert trio.current_time() == 1
    assert (record.end.by, record.end.how) == ("client", "rst")


@pytest.mark.parametrize("spec", ["ignore", {"delay": "3s"}], ids=["ignore", "delay"])
async def test_so_does_a_stream_that_is_a_tunnel_and_its_connection_is_free(spec, autojump_clock):
    async def serve(peer, stream) -> None:
        await peer.headers(stream, [(b":status", b"200")])
        await trio.sleep(1)
        await peer.data(stream, b"bye", end=True)

    async with (
        linked(
            {"version": 1, "upstream": {"max_connections": 1}, "faults": [{"client_abort": spec}]},
            lambda transport: serve_h2(transport, serve),
            upstream="h2c://origin",
        ) as proxied,
        h2_client(proxied.connect()) as client,
    ):
        await client.headers(1, EXTENDED)
        await client.until(lambda: client.streams[1].status == 200)
        await client.data(1, b"", end=True)
        await client.reset(1)
        record = await proxied.last(within=2)
        assert trio.current_time() == 1
        await client.headers(3, EXTENDED)
        await client.until(lambda: client.streams[3].status == 200)
    assert (record.end.by, record.end.how) == ("client", "stream:CANCEL")
    assert (record.upstream.end.by, record.upstream.end.how) == ("upstream", "clean")


async def test_an_upstream_that_stays_is_told_at_the_moment_that_was_said(autojump_clock):
    delayed = {"client_abort": {"delay": "3s", "then": "rst"}}
    async with (
        linked({"version": 1, "faults": [delayed]}, Leisurely(stays=60)) as proxied,
        RawClient(proxied.connect()) as client,
    ):
        await end_and_reset(client)
        record = await proxied.last(within=4)
        assert trio.current_time() == 3.75
    assert (record.upstream.end.by, record.upstream.end.how) == ("proxy", "rst")


@pytest.mark.parametrize("stays", [0.5, 2], ids=["ends before the leaving", "ends behind it"])
async def test_an_upstream_that_has_only_ended_its_own_way_is_told_as_well(stays, autojump_clock):
    """The client's end is still on its way to it."""
    told: list[tuple[int | None, float]] = []

    async def serve(peer, stream) -> None:
        await peer.headers(stream, [(b":status", b"200")])
        await trio.sleep(stays)
        await peer.data(stream, b"bye", end=True)
        await peer.until(lambda: peer.streams[stream].over)
        told.append((peer.streams[stream].reset, trio.current_time()))

    held = {"stall": {"at": {"bytes": 1}, "for": "1h", "way": "request"}}
    async with (
        linked(
            {"version": 1, "faults": [held, {"client_abort": {"delay": "3s"}}, {"latency": "400ms"}]},
            lambda transport: serve_h2(transport, serve),
            upstream="h2c://origin",
        ) as proxied,
        h2_client(proxied.connect()) as client,
    ):
        await client.headers(1, EXTENDED)
        await client.until(lambda: client.streams[1].status == 200)
        await client.data(1, b"hello", end=True)
        await trio.sleep(0.3)
        await client.reset(1)
        record = await proxied.last(within=4)
        await trio.testing.wait_all_tasks_blocked()
    assert told == [(CANCEL, pytest.approx(3.7))]
    assert (record.upstream.end.by, record.upstream.end.how) == ("proxy", "stream:CANCEL")


SILENT = {
    "cut": [{"cut": {"at": {"bytes": 3}, "then": "silence"}}],
    "abort": [{"abort_upstream": {"at": {"bytes": 3}}}],
    "below a machine that lives on": [{"abort_upstream": {"at": {"bytes": 3}}}, {"latency": "100ms"}],
}
HELLO = SWITCHING + b"hello"


@pytest.mark.parametrize("faults", SILENT.values(), ids=SILENT)
async def test_behind_a_silence_the_end_of_the_clients_way_is_its_leaving(faults, autojump_clock):
    served = Origin([HELLO, Ending.OPEN])
    async with (
        linked({"version": 1, "faults": faults}, served.serve) as proxied,
        RawClient(proxied.connect()) as client,
    ):
        await client.send(UPGRADE)
        await client.read_until(b"hel")
        await trio.sleep(1)
        await client.send(b"is anybody there?")
        client.transport.fin()
        record = await proxied.last(within=1)
    assert (record.end.by, record.end.how, record.end.cause) == ("client", "fin", next(iter(faults[0])))


async def test_a_client_that_had_ended_its_way_before_waits_in_silence(autojump_clock):
    faults = [{"cut": {"at": {"bytes": 1}, "then": "silence"}}]
    async with (
        linked({"version": 1, "faults": faults}, Leisurely(stays=1)) as proxied,
        RawClient(proxied.connect()) as client,
    ):
        await client.send(UPGRADE)
        await client.read_until(b"\r\n\r\n")
        client.transport.fin()
        assert await client.read_all(within=60) is Ending.OPEN
        assert client.body == b"s"
        assert not proxied.exchanges


async def test_where_the_upstream_is_gone_and_nothing_more_can_come_a_fin_is_leaving(autojump_clock):
    faults = [{"stall": {"at": {"bytes": 3}, "for": "forever"}}]
    served = Origin([HELLO, Ending.RST])
    async with (
        linked({"version": 1, "faults": faults}, served.serve) as proxied,
        RawClient(proxied.connect()) as client,
    ):
        await client.send(UPGRADE)
        await client.read_until(b"hel")
        await trio.sleep(1)
        client.transport.fin()
        record = await proxied.last(within=1)
    assert (record.end.by, record.end.how) == ("client", "fin")


async def test_where_something_is_still_on_its_way_it_is_not(autojump_clock):
    served = Origin([HELLO, Ending.RST])
    async with (
        linked({"version": 1, "faults": [{"latency": "1s"}]}, served.serve) as proxied,
        RawClient(proxied.connect()) as client,
    ):
        await client.send(UPGRADE)
        await client.read_until(b"\r\n\r\n")
        await trio.sleep(0)
        client.transport.fin()
        assert await client.read_all() is Ending.RST
        assert client.body == b"hello"
        record = await proxied.last()
    assert (record.end.by, record.end.how) == ("upstream", "rst")
