"""An HTTP/1 upstream of a simulation: it writes what the world says, and reads by h11, which forgives nothing.

Must not know: the proxy.
"""

import h11
import trio

from chaosproxy.testing.recorder import Ending, Recorder
from chaosproxy.wire.transport import Transport
from tests.simulation.seen import GONE, Seen, Served
from tests.simulation.world import TYPES, Answer, World

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
