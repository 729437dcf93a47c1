"""Peers that do not take what they are sent: whoever sends has to wait, and little is held in between. By count, in virtual
time; on sockets a client that resets while it is written to."""

import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable

import trio

from chaosproxy.testing.h2_origin import serve_h2
from chaosproxy.testing.h2_peers import H2Peer, h2_client
from chaosproxy.testing.peers import Origin, RawClient
from chaosproxy.testing.proxied import Linked, linked, proxy_on
from chaosproxy.testing.recorder import Recorder
from chaosproxy.wire.links import ROOM
from chaosproxy.wire.transport import Transport
from tests.loopback.test_backpressure import raw_origin
from tests.loopback.test_leaks import settled, sockets, tasks

STREAMS = 20
PIECE = bytes(1000)
TOTAL = 20_000 * len(PIECE)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % TOTAL
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % TOTAL
BOUND = 512 * 1024
"""Bytes of a stream between who sends and who does not read, both links included."""
SHORT = {"version": 1, "faults": [{"timeout": {"blocked": "60s"}}]}
PAIRS = ("h1-h1", "h1-h2", "h2-h1", "h2-h2")


class Answers:
    """An origin that sends 20 MB in answer to everything, as fast as it is taken, and counts."""

    def __init__(self) -> None:
        self.sent: list[int] = []

    async def h1(self, transport: Transport) -> None:
        peer = Recorder(transport)
        try:
            if await peer.read():
                await peer.send(HEAD)
                await self._pour(peer.send)
        except (ConnectionError, trio.ClosedResourceError):
            pass  # the proxy has closed it
        finally:
            transport.close()

    async def _pour(self, send: Callable[[bytes], Awaitable[None]]) -> None:
        at = len(self.sent)
        self.sent.append(0)
        for _ in range(TOTAL // len(PIECE)):
            await send(PIECE)
            self.sent[at] += len(PIECE)

    async def h2(self, transport: Transport) -> None:
        async def answer(peer: H2Peer, stream: int) -> None:
            await peer.headers(stream, [(b":status", b"200")])
            await self._pour(lambda piece: peer.data(stream, piece))

        await serve_h2(transport, answer)


@contextlib.asynccontextmanager
async def asking(proxied: Linked, client: str) -> AsyncIterator[None]:
    """`STREAMS` requests whose answers nobody reads, while the block runs."""
    if client == "h1":
        peers = [RawClient(proxied.connect()) for _ in range(STREAMS)]
        for peer in peers:
            await peer.send(GET)
        yield
        for peer in peers:
            peer.transport.close()
        return
    async with h2_client(proxied.connect()) as one:
        one.stalled |= {2 * number + 1 for number in range(STREAMS)}
        for number in range(STREAMS):
            await one.request(2 * number + 1)
        yield


async def unread_answers(pair: str) -> int:
    """So much of each was taken."""
    client, upstream = pair.split("-")
    origin = Answers()
    async with linked(
        SHORT, getattr(origin, upstream), upstream="http://o" if upstream == "h1" else "h2c://o"
    ) as proxied:
        before = tasks()
        async with asking(proxied, client):
            await trio.sleep(30)
            held, count = max(origin.sent), len(origin.sent)
            await trio.sleep(29)
            assert max(origin.sent) == held  # not a byte more
            await proxied.finished(STREAMS, within=60)
        with trio.fail_after(20):
            while proxied.proxy._clients or (upstream == "h1" and tasks() > before):
                await trio.sleep(0.1)
    assert count == STREAMS
    assert 0 < held <= BOUND
    assert {record.end.cause for record in proxied.exchanges} == {"timeout:blocked"}
    return held


async def unread_upload() -> int:
    """The upstream takes the head, and reads nothing further."""

    async def deaf(transport: Transport) -> None:
        await transport.readable()
        with contextlib.suppress(trio.ClosedResourceError):
            await trio.sleep_forever()

    sent = 0
    async with linked({"version": 1, "faults": [{"timeout": {"total": "60s"}}]}, deaf) as proxied:
        async with RawClient(proxied.connect()) as client, trio.open_nursery() as nursery:

            async def upload() -> None:
                nonlocal sent
                await client.send(POST)
                while True:
                    await client.send(PIECE)
                    sent += len(PIECE)

            nursery.start_soon(upload)
            await trio.sleep(30)
            held = sent
            await trio.sleep(29)
            assert sent == held
            await client.read_until(b" 504 ", within=60)
            nursery.cancel_scope.cancel()
        record = await proxied.last()
    assert record.end.cause == "timeout:total"
    assert 0 < held <= BOUND
    return held


async def test_what_nobody_reads_waits_with_its_sender(autojump_clock, shown):
    held = [await unread_answers(pair) for pair in PAIRS] + [await unread_upload()]
    shown(
        "slow",
        "20 MB that the other side does not read",
        tried=len(PAIRS) * STREAMS + 1,
        must="the sender waits; at most 512 KiB of a stream under way",
        happens="it waits, not a byte more is taken; gone at the limit where a scenario has one",
        figure=f"at most {max(held) // 1024} KiB of a stream, of which {2 * ROOM // 1024} in the links",
    )


async def test_a_client_that_resets_while_it_is_written_to(caplog, shown):
    """On sockets: the next send meets ECONNRESET or EPIPE."""
    clients = 60

    async def flood(peer: Recorder) -> None:
        with contextlib.suppress(ConnectionError):
            await peer.read()
            await peer.send(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                await peer.send(PIECE)

    with caplog.at_level(logging.WARNING, "chaosproxy"):
        async with raw_origin(flood) as url, proxy_on(None, url) as proxied:
            before = sockets(), tasks()

            async def ask(number: int) -> None:
                client = await RawClient.connect("127.0.0.1", proxied.port)
                await client.send(GET)
                await client.read_until(b"\r\n\r\n")
                for _ in range(number % 5):
                    await client.read()
                client.transport.rst()

            async with trio.open_nursery() as nursery:
                for number in range(clients):
                    nursery.start_soon(ask, number)
            await proxied.finished(clients)
            await settled(before)
    assert caplog.records == []
    ends = {f"{record.end.by} {record.end.how}" for record in proxied.exchanges}
    shown(
        "slow",
        "RST while a client is written to",
        tried=len(proxied.exchanges),
        must="the client has left; nothing is logged, nothing stays",
        happens=f"{', '.join(sorted(ends))}; 0 lines in the log, 0 sockets and tasks more than before",
    )


async def test_a_client_that_shuts_its_way_down(autojump_clock, shown):
    """A FIN behind the request: it has left, unless a fault serves it."""
    told: dict[str, str] = {}
    for name, faults in {"leave": [], "serve": [{"client_abort": {"half_close": "serve"}}]}.items():
        never = trio.Event()
        served = Origin([b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", never])
        async with (
            linked({"version": 1, "faults": faults}, served.serve) as proxied,
            RawClient(proxied.connect()) as client,
        ):
            await client.send(GET)
            seen = await served.request(1)
            client.transport.fin()
            began = trio.current_time()
            with trio.move_on_after(100):
                await seen.gone.wait()
            told[name] = f"told at {round(trio.current_time() - began, 3):g} s" if seen.gone.is_set() else "served on"
    assert told == {"leave": "told at 0 s", "serve": "served on"}
    shown(
        "slow",
        "FIN of a client behind its request",
        tried=len(told),
        must="it has left: the upstream is told at once; served with `half_close: serve`",
        happens="; ".join(told.values()),
    )
