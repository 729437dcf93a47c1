"""An HTTP/1 client of a simulation: it writes what the world says, and reads by h11, which forgives nothing.

Must not know: the proxy.
"""

import h11
import trio

from chaosproxy.testing.recorder import Ending, Recorder
from chaosproxy.wire.transport import Transport
from tests.simulation.seen import GONE, Got, Seen
from tests.simulation.world import PATIENCE, QUIET, Ask, Client


def _head(ask: Ask) -> bytes:
    lines = [ask.method + b" " + ask.path + b" HTTP/1.1", b"Host: x"]
    if ask.framing == "chunked":
        lines.append(b"Transfer-Encoding: chunked")
    elif ask.framing == "length":
        lines.append(b"Content-Length: %d" % len(ask.body))
    if ask.body:
        lines.append(b"Content-Type: application/json")
    if ask.gzip:
        lines.append(b"Accept-Encoding: gzip, deflate")
    if ask.expect:
        lines.append(b"Expect: 100-continue")
    if ask.broken == "head":
        lines.append(b"No colon here")
    return b"\r\n".join(lines) + b"\r\n\r\n"


class _Client:
    """One connection that requests leave on."""

    def __init__(self, peer: Recorder, client: Client, seen: Seen) -> None:
        self.peer, self.client, self.seen = peer, client, seen
        self.rest = b""
        self.done = True

    async def send_all(self) -> None:
        """Pipelined."""
        for ask in self.client.asks:
            await self.send(ask)

    async def send(self, ask: Ask) -> None:
        """One request; what has gone out is written down."""
        got = self.seen.got[ask.number]
        try:
            await trio.sleep(ask.pause)
            head = _head(ask)
            if ask.split:
                await self.peer.send(head[: ask.split])
                await trio.sleep(ask.pause)
            await self.peer.send(head[ask.split :])
            got.asked = True
            if ask.expect:
                await trio.sleep(0.3)
            for pause, piece in ask.pieces:
                await trio.sleep(pause)
                await self.peer.send(b"%x\r\n%s\r\n" % (len(piece), piece) if ask.framing == "chunked" else piece)
                got.sent += piece
            if ask.framing == "chunked":
                await self.peer.send(b"zz\r\n" if ask.broken == "body" else b"0\r\n\r\n")
            got.sent_all = not ask.broken
            if self.client.half and ask is self.client.asks[-1]:
                self.peer.transport.fin()
        except GONE:
            pass  # the reader sees how it ended

    async def run(self, nursery: trio.Nursery) -> None:
        """Every request, every answer, and then nothing."""
        for ask in self.client.asks:
            self.seen.got[ask.number] = Got(ask.number, "h1", left=self.client.half)
        if self.client.together:
            nursery.start_soon(self.send_all)
        for ask in self.client.asks:
            sent = trio.Event()
            if not self.client.together:
                nursery.start_soon(self._send_one, ask, sent)
            if not await self._answer(ask, self.seen.got[ask.number]):
                return
            if not self.client.together:
                await sent.wait()
        with trio.move_on_after(QUIET):
            if (more := self.rest or await self.peer.read()) and not any(ask.broken for ask in self.client.asks):
                self.seen.wrong.append(f"behind the last answer: {more!r}")

    async def _send_one(self, ask: Ask, sent: trio.Event) -> None:
        await self.send(ask)
        sent.set()

    async def _answer(self, ask: Ask, got: Got) -> bool:
        """Whether the connection may go on."""
        reader = h11.Connection(h11.CLIENT)
        reader.send(h11.Request(method=ask.method, target=ask.path, headers=[("Host", "x")]))
        reader.send(h11.EndOfMessage())
        if self.rest:
            reader.receive_data(self.rest)
        while True:
            try:
                event = reader.next_event()
            except h11.RemoteProtocolError as error:
                got.broken = str(self.peer.ending)
                if self.peer.ending is None:
                    self.seen.wrong.append(f"the client was sent what is no answer: {error}: {self.peer.received!r}")
                return False
            if event is h11.NEED_DATA:
                data = await self.peer.read()
                if not data and self.peer.ending is not Ending.FIN:
                    got.broken = str(self.peer.ending)
                    return False
                await trio.sleep(self.client.nap)
                reader.receive_data(data)
                continue
            match event:
                case h11.InformationalResponse():
                    got.interims.append(event.status_code)
                case h11.Response():
                    got.status = event.status_code
                    for name, value in event.headers:
                        got.headers.setdefault(name, []).append(value)
                    got.framed = not got.headers.keys().isdisjoint({b"content-length", b"transfer-encoding"})
                case h11.Data():
                    got.body += event.data
                case h11.EndOfMessage():
                    got.ended = True
                    self.rest = reader.trailing_data[0]
                    return reader.their_state is not h11.MUST_CLOSE and not reader.trailing_data[1]
                case _:
                    got.broken = str(self.peer.ending)
                    return False


async def talk(transport: Transport, client: Client, seen: Seen) -> None:
    """One client's connection, from its beginning to its leaving."""
    peer = seen.recorder("client", Recorder(transport))
    talking = _Client(peer, client, seen)
    try:
        with trio.move_on_after(PATIENCE if client.leaves is None else client.leaves) as scope:
            async with trio.open_nursery() as nursery:
                await talking.run(nursery)
                nursery.cancel_scope.cancel()
        for ask in client.asks:
            got = seen.got[ask.number]
            unfinished = scope.cancelled_caught and not got.ended and got.broken is None
            got.left = got.left or unfinished
            got.waited = unfinished and client.leaves is None
        if client.how == "fin":
            await peer.leave(Ending.FIN)
        elif client.how == "rst":
            transport.rst()
    finally:
        transport.close()
