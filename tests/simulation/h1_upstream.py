"""HTTP/1 peers of a simulation: they write what the world says, and read by h11, which forgives nothing.

Must not know: the proxy.
"""

import h11
import trio

from chaosproxy.testing.recorder import Ending, Recorder
from chaosproxy.wire.transport import Transport
from tests.simulation.seen import Got, Seen, Served
from tests.simulation.world import TYPES, Answer, Ask, Client, World

PATIENCE = 300.0
"""Seconds after which every client leaves."""
QUIET = 1.0
GONE = (ConnectionError, trio.ClosedResourceError)
"""What a send raises when the connection has ended, there or here."""
STRAY = b"HTTP/1.1 200 OK\r\n"
NO_HEAD = b"HTTP/1.1 2x0 OK\r\n\r\n"


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def _writes(answer: Answer, method: bytes) -> list[tuple[float, bytes]]:
    """The bytes of an answer with the pause in front of each."""
    lines = [b"HTTP/1.1 %d OK" % answer.status, b"X-Answer: %d" % answer.number, b"X-Twice: 1", b"ETag: x"]
    lines.append(b"Content-Type: " + TYPES[answer.kind])
    if answer.framing == "chunked":
        lines.append(b"Transfer-Encoding: chunked")
    elif answer.framing == "length":
        lines.append(b"Content-Length: %d" % (len(answer.body) + len(answer.missing)))
    if answer.close or answer.framing == "close":
        lines.append(b"Connection: close")
    writes = [(0.0, b"HTTP/1.1 %d Wait\r\n\r\n" % status) for status in answer.interims]
    if answer.ending == "garbage" and answer.framing != "chunked":
        return [*writes, (0.0, NO_HEAD)]
    writes.append((0.0, b"\r\n".join(lines) + b"\r\n\r\n"))
    if method == b"HEAD" or answer.framing == "none":
        return writes
    chunked = answer.framing == "chunked"
    writes += [(pause, _chunk(piece) if chunked else piece) for pause, piece in answer.pieces]
    if chunked and answer.whole:
        writes.append((answer.last_pause, b"0\r\nX-Trailer: t\r\n\r\n" if answer.trailers else b"0\r\n\r\n"))
    elif chunked and answer.ending == "garbage":
        writes.append((answer.last_pause, b"zz\r\n"))
    elif answer.framing == "close" or not answer.whole:
        writes.append((answer.last_pause, b""))
    return writes


class _Upstream:
    """One connection that requests arrive on."""

    def __init__(self, peer: Recorder, world: World, seen: Seen) -> None:
        self.peer, self.world, self.seen = peer, world, seen
        self.asked: list[Served] = []
        self.news = trio.lowlevel.ParkingLot()
        self._reading, self._stopped = trio.CancelScope(), trio.Event()

    async def read(self, scope: trio.CancelScope) -> None:
        """Until the client ends the connection, which ends everything on it; or until it is left."""
        reader: h11.Connection | None = h11.Connection(h11.SERVER)
        with self._reading:
            while reader is not None and (data := await self.peer.read()):
                reader.receive_data(data)
                reader = self._events(reader)
        self._stopped.set()
        if self._reading.cancelled_caught:
            return
        for served in self.asked:
            if not served.over:
                served.told = str(self.peer.ending)
        scope.cancel()

    async def leave(self, ending: Ending) -> None:
        """End the connection from here; nothing is read any more."""
        self._reading.cancel()
        await self._stopped.wait()
        await self.peer.leave(ending)

    def _events(self, reader: h11.Connection) -> h11.Connection | None:
        while True:
            try:
                event = reader.next_event()
            except h11.RemoteProtocolError as error:
                self.seen.wrong.append(f"the upstream was sent what is no request: {error}: {self.peer.received!r}")
                return None
            match event:
                case h11.Request():
                    self._request(event)
                case h11.Data():
                    self.asked[-1].body += event.data
                case h11.EndOfMessage():
                    self.asked[-1].complete.set()
                    rest = reader.trailing_data[0]
                    reader = h11.Connection(h11.SERVER)
                    if not rest:
                        return reader
                    reader.receive_data(rest)
                case _:
                    return reader

    def _request(self, event: h11.Request) -> None:
        if self.asked and not self.asked[-1].over:
            self.seen.wrong.append(f"a request on a busy connection: {self.peer.received!r}")
        number = int(event.target.rpartition(b"/")[2])
        served = Served(number, event.method, list(event.headers))
        self.asked.append(served)
        self.seen.served.append(served)
        self.news.unpark_all()

    async def answer_all(self) -> None:
        """One after the other."""
        answered = 0
        while True:
            while len(self.asked) == answered:
                await self.news.park()
            served = self.asked[answered]
            answered += 1
            if not await self._answer(served, self.world.answers[served.number]):
                return

    async def _answer(self, served: Served, answer: Answer) -> bool:
        """Whether the connection goes on."""
        try:
            if not answer.early:
                await served.complete.wait()
            await trio.sleep(answer.lead)
            if any(name == b"expect" for name, _ in served.headers) and not served.complete.is_set():
                await self.peer.send(b"HTTP/1.1 100 Continue\r\n\r\n")
            for pause, data in _writes(answer, served.method):
                await trio.sleep(pause)
                step = answer.write or len(data)
                for at in range(0, len(data), step or 1):
                    await self.peer.send(data[at : at + step])
            bodiless = served.method == b"HEAD" or answer.framing == "none"
            served.answered = answer.whole or bodiless
            if answer.ending == "silence" and not bodiless:
                await trio.sleep_forever()
            if answer.ending in ("rst", "fin", "garbage") or answer.close or answer.framing == "close":
                await self.leave(Ending.RST if answer.ending == "rst" else Ending.FIN)
                return False
            served.over = True  # in the turn of its last byte: the next request may follow at once
            if answer.ending == "stray":
                await self.peer.send(STRAY)
        except GONE:
            served.told = "rst"
            return False
        else:
            return True
        finally:
            served.over = True


async def serve(transport: Transport, world: World, seen: Seen) -> None:
    """One connection to the upstream."""
    peer = seen.recorder("upstream", Recorder(transport))
    upstream = _Upstream(peer, world, seen)
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(upstream.read, nursery.cancel_scope)
            await upstream.answer_all()
            nursery.cancel_scope.cancel()
    finally:
        transport.close()


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
                await self.peer.send(_chunk(piece) if ask.framing == "chunked" else piece)
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
