"""Upstreams that never answer, answer before they are asked to the end, close a connection as it is used again, or vanish:
what the client is told, and how often the request was sent. In virtual time."""

import contextlib
import socket
from collections import Counter
from collections.abc import AsyncIterator

import trio

from chaosproxy.testing.peers import Ending, Origin, RawClient
from chaosproxy.testing.proxied import Linked, linked, proxy_on
from chaosproxy.testing.recorder import Recorder
from chaosproxy.wire import listen
from chaosproxy.wire.transport import Transport
from tests.loopback.test_leaks import tasks

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
LAST_GET = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
ROUNDS = 50
HOUR = 3600.0


def limited(**limits: str) -> dict[str, object]:
    return {"version": 1, "faults": [{"timeout": limits}]}


@contextlib.asynccontextmanager
async def settled(proxied: Linked) -> AsyncIterator[None]:
    """Behind the block nothing of what happened in it is left, but connections that are kept."""
    before = tasks()
    yield
    with trio.fail_after(20):
        while proxied.proxy._exchanges or proxied.proxy._clients or tasks() > before:
            await trio.sleep(0.1)


async def asked(proxied: Linked, request: bytes = LAST_GET, patience: float = HOUR) -> str:
    """What a client is told, and when."""
    began = trio.current_time()
    async with RawClient(proxied.connect()) as client:
        with contextlib.suppress(ConnectionError):
            await client.send(request)
        ending = await client.read_all(patience)
        when = round((client.ended_at or trio.current_time()) - began)
        return f"{client.head[9:12].decode() or 'nothing'}, {ending} at {when} s"


async def test_one_that_takes_the_request_and_never_answers(autojump_clock, shown):
    told: Counter[str] = Counter()

    async def ask(proxied: Linked) -> None:
        told[await asked(proxied)] += 1

    for scenario in (None, limited(first_byte="60s")):
        served = Origin([Ending.OPEN])
        async with linked(scenario, served.serve) as proxied, settled(proxied), trio.open_nursery() as nursery:
            for _ in range(ROUNDS):
                nursery.start_soon(ask, proxied)
        assert len(served.requests) == ROUNDS
        assert {seen.left for seen in served.requests} == {Ending.FIN}
    assert sum(told.values()) == 2 * ROUNDS
    shown(
        "slow",
        "an upstream that takes the request and never answers",
        tried=2 * ROUNDS,
        must="the client waits, 504 where a scenario has a limit; the upstream is told when nobody waits",
        happens="; ".join(sorted(told)) + "; told each time",
    )


async def test_one_that_answers_before_the_request_has_ended(autojump_clock, shown):
    """And reads no further: the whole answer arrives, and the connection is not used again."""
    served = Origin([OK], at_head=True)
    upload = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\n" + b"x" * 100_000
    bodies: Counter[bytes] = Counter()
    async with linked(None, served.serve) as proxied, settled(proxied):
        for _ in range(ROUNDS):
            async with RawClient(proxied.connect()) as client, trio.open_nursery() as nursery:
                nursery.start_soon(client.send, upload)
                await client.read_until(b"ok")
                bodies[client.body] += 1
                nursery.cancel_scope.cancel()
    assert bodies == {b"ok": ROUNDS}
    assert len(proxied.exchanges) == ROUNDS
    shown(
        "slow",
        "an upstream that answers before the request has ended",
        tried=ROUNDS,
        must="its whole answer, at once; the connection is not used again",
        happens=f"its whole answer; {served.connections} connections for {ROUNDS} requests",
    )


class Leaving:
    """Answers the first request of a connection, and closes it when a second one comes, without a word. With `always` it
    does so to the first one of every connection but the very first too."""

    def __init__(self, *, always: bool) -> None:
        self.always = always
        self.connections = 0
        self.heads: list[bytes] = []

    async def serve(self, transport: Transport) -> None:
        self.connections += 1
        peer = Recorder(transport)
        seen = 0
        answers = self.connections == 1 or not self.always
        while await peer.read():
            seen += peer.pieces[-1][1].count(b" HTTP/1.1\r\n")
            self.heads.append(peer.pieces[-1][1])
            if seen > 1 or not answers:
                break
            await peer.send(OK)
        transport.close()


async def test_one_that_closes_a_connection_as_it_is_used_again(autojump_clock, shown):
    """Counted by the origin: a request without a body is sent twice at most, one with a body once."""
    post = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
    cases = {"GET, the next connection answers": (GET, False), "GET, none answers": (GET, True), "POST": (post, False)}
    seen: dict[str, str] = {}
    for name, (request, always) in cases.items():
        counts: set[str] = set()
        for _ in range(ROUNDS):
            origin = Leaving(always=always)
            async with linked(None, origin.serve) as proxied:
                async with RawClient(proxied.connect()) as client:
                    await client.send(GET)
                    await client.read_until(OK)
                    client.pieces.clear()
                    await client.send(request)
                    await client.read_until(b"\r\n\r\n")
                    counts.add(f"sent {len(origin.heads) - 1} x, {client.head[9:12].decode()}")
                assert proxied.exchanges[-1].upstream.retries == len(origin.heads) - 2
        (seen[name],) = counts
    shown(
        "slow",
        "an upstream that closes a kept connection as it is used again",
        tried=len(cases) * ROUNDS,
        must="once more on a fresh connection where nothing would be sent twice, else 502",
        happens="; ".join(f"{name}: {how}" for name, how in seen.items()),
    )


async def test_peers_that_vanish_without_a_fin(autojump_clock, shown):
    """In virtual time: no byte, no FIN, no reset. Only a limit sees it, and behind it nothing is left."""
    told: list[str] = []
    vanished = [CHUNKED, b"1\r\nx\r\n", trio.Event()]
    cases = {
        "before its head": (limited(first_byte="60s"), [trio.Event()]),
        "in its answer": (limited(idle="60s"), vanished),
        "in its answer, towards a client that has vanished too": (limited(total="60s"), vanished),
    }
    for name, (scenario, script) in cases.items():
        async with linked(scenario, Origin(script).serve) as proxied, settled(proxied):
            if name.endswith("too"):
                client = RawClient(proxied.connect())
                await client.send(GET)
                record = await proxied.last(within=HOUR)
                told.append(f"{record.end.how} at {round(record.times.end or 0)} s")
                client.transport.close()
            else:
                told.append(await asked(proxied))
    assert told == ["504, fin at 60 s", "200, fin at 60 s", "fin at 60 s"]
    full = [b"HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n", bytes(10_000_000)]
    async with linked(limited(blocked="60s"), Origin(full).serve) as proxied, settled(proxied):
        client = RawClient(proxied.connect())
        await client.send(GET)
        record = await proxied.last(within=HOUR)
        told.append(f"{record.end.how} at {round(record.times.end or 0)} s")
        client.transport.close()
    shown(
        "slow",
        "a peer that vanishes without a FIN, on either side",
        tried=len(told),
        must="over at the limit that a scenario has; nothing is left behind",
        happens="; ".join(told),
    )


async def test_the_kernel_asks_a_client_that_is_silent(shown):
    """Which is how one is noticed whose machine has gone, in the middle of a silence that no scenario limits."""
    wanted = {"TCP_KEEPIDLE": listen.SILENT, "TCP_KEEPINTVL": listen.ASKED_EVERY, "TCP_KEEPCNT": listen.ASKED}
    wanted = {name: value for name, value in wanted.items() if hasattr(socket, name)}
    async with (
        proxy_on(None, "http://127.0.0.1:1") as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(b"GET / HT")
        with trio.fail_after(20):
            while not proxied.proxy._clients:
                await trio.sleep(0.01)
        (connection,) = proxied.proxy._clients
        accepted = connection.transport.socket
        assert accepted.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        for name, value in wanted.items():
            assert accepted.getsockopt(socket.IPPROTO_TCP, getattr(socket, name)) == value
    shown(
        "slow",
        "a client whose machine has gone, in a silence without limit",
        tried=1,
        must="noticed by the kernel's keep-alive",
        happens=f"asked after {listen.SILENT} s of silence, {listen.ASKED} times, each {listen.ASKED_EVERY} s; then a reset",
    )
