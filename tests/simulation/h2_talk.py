"""HTTP/2 peers of a simulation: they say what the world says, and read by h2, which forgives nothing.

Rules: frames are given to h2 one by one; a GOAWAY is kept from it, since it takes that for the end of everything.
Must not know: the proxy.
"""

import trio
from h2 import events
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.exceptions import ProtocolError
from hyperframe.frame import GoAwayFrame

from chaosproxy.testing.recorder import Ending, Recorder
from chaosproxy.wire.transport import Transport
from tests.simulation.h1 import GONE, PATIENCE, QUIET
from tests.simulation.seen import Got, Seen, Served
from tests.simulation.world import TYPES, Answer, Ask, Client, World

PREFACE = 24
GOAWAY = 7
ON_NO_STREAM = b"\0\0\x02" + bytes(6) + b"hi"


class _Talk:
    """One connection, either role."""

    def __init__(self, peer: Recorder, seen: Seen, *, client: bool, nap: float = 0.0) -> None:
        self.peer, self.seen = peer, seen
        self.nap = nap
        self.core = H2Connection(
            H2Configuration(
                client_side=client,
                header_encoding=None,
                validate_outbound_headers=False,
                normalize_outbound_headers=False,
            )
        )
        self.news = trio.lowlevel.ParkingLot()
        self.forgives = False
        """A stream was reset from here: what crosses that on its way does not please h2."""
        self.goaway: int | None = None
        """The last stream that still counts."""
        self._buffer = b""
        self._preface = not client
        self._sending = trio.Lock()
        self._reads = False
        self._reading, self._stopped = trio.CancelScope(), trio.Event()
        self.leaving, self.left = False, trio.Event()

    async def start(self) -> None:
        self.core.initiate_connection()
        await self.flush()

    async def flush(self) -> None:
        """Write what h2 has to say."""
        async with self._sending:
            if data := self.core.data_to_send():
                await self.peer.send(data)

    async def read(self) -> None:
        """Until the connection ends, or is left."""
        self._reads = True
        try:
            with self._reading:
                while data := await self.peer.read():
                    await trio.sleep(self.nap)
                    for frame in self._frames(data):
                        for event in self.core.receive_data(frame):
                            self.seen_event(event)
                    self.news.unpark_all()
                    await self.flush()
        except ProtocolError as error:
            if self.forgives:
                return
            self.seen.wrong.append(f"HTTP/2 broken: {type(error).__name__}: {error}")
        except GONE:
            self.peer.note(Ending.RST)
        self._stopped.set()
        self.news.unpark_all()

    def _frames(self, data: bytes) -> list[bytes]:
        self._buffer += data
        found = []
        if self._preface:
            if len(self._buffer) < PREFACE:
                return []
            found.append(self._buffer[:PREFACE])
            self._buffer, self._preface = self._buffer[PREFACE:], False
        while len(self._buffer) >= 9 and len(self._buffer) >= (size := 9 + int.from_bytes(self._buffer[:3], "big")):
            frame, self._buffer = self._buffer[:size], self._buffer[size:]
            if frame[3] == GOAWAY:
                self.goaway = int.from_bytes(frame[9:13], "big") & 0x7FFFFFFF
            else:
                found.append(frame)
        return found

    def seen_event(self, event: events.Event) -> None:
        """One event of h2."""
        raise NotImplementedError

    async def data(self, stream: int, payload: bytes) -> int:
        """As much as the other side takes, in frames as large as allowed, until the stream is closed; how much went."""
        sent = 0
        while sent < len(payload):
            await self.flush()
            while not (room := self._room(stream)):
                await self.news.park()
            if room < 0:
                break
            part = payload[sent : sent + room]
            self.core.send_data(stream, part)
            sent += len(part)
        await self.flush()
        return sent

    def _room(self, stream: int) -> int:
        """-1: nothing more can be sent."""
        if self.peer.ending is not None or self._stopped.is_set():
            return -1
        held = self.core.streams.get(stream)
        if held is None or held.closed:
            return -1
        return max(0, min(self.core.local_flow_control_window(stream), self.core.max_outbound_frame_size))

    def is_open(self, stream: int) -> bool:
        """Something may be sent on it."""
        return self._room(stream) >= 0

    async def raw(self, data: bytes) -> None:
        """What h2 would not write."""
        async with self._sending:
            await self.peer.send(data)

    async def leave(self, ending: Ending) -> None:
        """End the connection; nothing is read any more."""
        self.leaving = True
        self._reading.cancel()
        if self._reads:
            await self._stopped.wait()
        await self.peer.leave(ending)
        self.left.set()


class _Upstream(_Talk):
    """One connection that requests arrive on."""

    def __init__(self, peer: Recorder, world: World, seen: Seen, nursery: trio.Nursery) -> None:
        super().__init__(peer, seen, client=False)
        self.world, self.nursery = world, nursery
        self.asked: dict[int, tuple[Served, trio.CancelScope]] = {}

    def seen_event(self, event: events.Event) -> None:
        match event:
            case events.RequestReceived():
                fields = event.headers
                path = next(value for name, value in fields if name == b":path")
                method = next(value for name, value in fields if name == b":method")
                served = Served(int(path.rpartition(b"/")[2]), method, [(bytes(n), bytes(v)) for n, v in fields])
                self.seen.served.append(served)
                scope = trio.CancelScope()
                self.asked[event.stream_id] = served, scope
                self.nursery.start_soon(self._answer, event.stream_id, served, scope)
            case events.DataReceived():
                self.asked[event.stream_id][0].body += event.data
                self.core.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            case events.StreamEnded():
                self.asked[event.stream_id][0].complete.set()
            case events.StreamReset():
                served, scope = self.asked[event.stream_id]
                if not served.over:
                    served.told = f"stream:{event.error_code}"
                scope.cancel()
            case _:
                pass

    async def _answer(self, stream: int, served: Served, scope: trio.CancelScope) -> None:
        try:
            with scope:
                await self._answer_to(stream, served, self.world.answers[served.number])
        except GONE:
            served.told = "rst"
        finally:
            served.over = True

    async def _answer_to(self, stream: int, served: Served, answer: Answer) -> None:
        if not answer.early:
            await served.complete.wait()
        await trio.sleep(answer.lead)
        if not self.is_open(stream):
            return
        for status in answer.interims:
            self.core.send_headers(stream, [(b":status", b"%d" % status)])
            await self.flush()
            if not self.is_open(stream):
                return
        bodiless = served.method == b"HEAD" or answer.framing == "none"
        last = bodiless or (answer.whole and not answer.pieces and not answer.trailers)
        if last:
            served.over = True
        self.core.send_headers(stream, _fields(answer), end_stream=last)
        await self.flush()
        if not bodiless:
            for pause, piece in answer.pieces:
                await trio.sleep(pause)
                if await self.data(stream, piece) < len(piece):
                    return
        served.answered = answer.whole
        if not last:
            await trio.sleep(answer.last_pause)
            await self._end(stream, served, answer)

    async def _end(self, stream: int, served: Served, answer: Answer) -> None:
        if not self.is_open(stream):
            return
        match answer.ending:
            case "clean" | "stray":
                served.over = True
                if answer.trailers:
                    self.core.send_headers(stream, [(b"x-trailer", b"t")], end_stream=True)
                else:
                    self.core.end_stream(stream)
                await self.flush()
            case "reset":
                served.over = True
                self.core.reset_stream(stream, ErrorCodes.REFUSED_STREAM if answer.close else ErrorCodes.INTERNAL_ERROR)
                await self.flush()
            case "goaway":
                await self.raw(GoAwayFrame(0, stream if answer.close else 0, 0).serialize())
                await trio.sleep_forever()
            case "garbage":
                await self.raw(ON_NO_STREAM if answer.close else b"\xff" * 30)
                await trio.sleep_forever()
            case "fin" | "rst":
                await self.leave(Ending.RST if answer.ending == "rst" else Ending.FIN)
            case _:
                await trio.sleep_forever()


def _fields(answer: Answer) -> list[tuple[bytes, bytes]]:
    fields = [
        (b":status", b"%d" % answer.status),
        (b"x-answer", b"%d" % answer.number),
        (b"x-twice", b"1"),
        (b"etag", b"x"),
        (b"content-type", TYPES[answer.kind]),
    ]
    if answer.framing == "length":
        fields.append((b"content-length", b"%d" % (len(answer.body) + len(answer.missing))))
    return fields


async def serve(transport: Transport, world: World, seen: Seen) -> None:
    """One connection to the upstream."""
    peer = seen.recorder("upstream", Recorder(transport))
    try:
        async with trio.open_nursery() as nursery:
            upstream = _Upstream(peer, world, seen, nursery)
            await upstream.start()
            await upstream.read()
            if upstream.leaving:
                await upstream.left.wait()
            for served, _ in upstream.asked.values():
                if not served.over:
                    served.told = str(peer.ending)
            nursery.cancel_scope.cancel()
    except* GONE:
        pass  # gone before anything was said
    finally:
        transport.close()


class _Client(_Talk):
    """One connection that requests leave on."""

    def __init__(self, peer: Recorder, client: Client, seen: Seen) -> None:
        super().__init__(peer, seen, client=True, nap=client.nap)
        self.client = client
        self.streams: dict[int, Got] = {}

    def seen_event(self, event: events.Event) -> None:
        match event:
            case events.InformationalResponseReceived():
                self.streams[event.stream_id].interims.append(int(dict(event.headers)[b":status"]))
            case events.ResponseReceived():
                got = self.streams[event.stream_id]
                for name, value in event.headers:
                    got.headers.setdefault(bytes(name), []).append(bytes(value))
                got.status = int(got.headers[b":status"][0])
            case events.DataReceived():
                self.streams[event.stream_id].body += event.data
                self.core.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            case events.StreamEnded():
                self.streams[event.stream_id].ended = True
            case events.StreamReset():
                got = self.streams[event.stream_id]
                if not got.ended:
                    got.broken = f"stream:{event.error_code}"
            case _:
                pass

    def over(self, stream: int) -> bool:
        """Nothing more comes."""
        got = self.streams[stream]
        dead = self.goaway is not None and stream > self.goaway
        return got.ended or got.broken is not None or dead or self.peer.ending is not None or self._stopped.is_set()

    async def _ask(self, ask: Ask, got: Got) -> None:
        await trio.sleep(ask.pause)
        if self.goaway is not None or self._stopped.is_set():
            return
        stream = self.core.get_next_available_stream_id()
        self.streams[stream] = got
        try:
            self.core.send_headers(stream, _asking(ask), end_stream=not ask.body)
            got.asked = True
            await self.flush()
            for pause, piece in ask.pieces:
                await trio.sleep(pause)
                sent = await self.data(stream, piece)
                got.sent += piece[:sent]
                if sent < len(piece):
                    break
            else:
                if ask.body and self.is_open(stream):
                    self.core.end_stream(stream)
                    await self.flush()
                got.sent_all = True
        except GONE:
            pass  # the reader sees how it ended
        while not self.over(stream):
            await self.news.park()

    async def run(self, nursery: trio.Nursery) -> None:
        """Every request, every answer, and then a moment of nothing."""
        for ask in self.client.asks:
            self.seen.got[ask.number] = Got(ask.number, "h2")
        await self.start()
        nursery.start_soon(self.read)
        async with trio.open_nursery() as asking:
            for ask in self.client.asks:
                if self.client.together:
                    asking.start_soon(self._ask, ask, self.seen.got[ask.number])
                else:
                    await self._ask(ask, self.seen.got[ask.number])
        await trio.sleep(QUIET)

    async def reset_all(self) -> None:
        """Leave each stream by itself."""
        self.forgives = True
        for stream in self.streams:
            if not self.over(stream) and self.core.streams.get(stream) is not None:
                self.core.reset_stream(stream, ErrorCodes.CANCEL)
        await self.flush()
        await trio.sleep(QUIET)


def _asking(ask: Ask) -> list[tuple[bytes, bytes]]:
    fields = [(b":method", ask.method), (b":scheme", b"http"), (b":path", ask.path), (b":authority", b"x")]
    if ask.framing == "length":
        fields.append((b"content-length", b"%d" % len(ask.body)))
    if ask.body:
        fields.append((b"content-type", b"application/json"))
    if ask.gzip:
        fields.append((b"accept-encoding", b"gzip, deflate"))
    if ask.broken:
        fields.append((b"Upper", b"case"))
    return fields


async def talk(transport: Transport, client: Client, seen: Seen) -> None:
    """One client's connection, from its beginning to its leaving."""
    peer = seen.recorder("client", Recorder(transport))
    talking = _Client(peer, client, seen)
    try:
        async with trio.open_nursery() as outer:
            with trio.move_on_after(PATIENCE if client.leaves is None else client.leaves) as scope:
                async with trio.open_nursery() as nursery:
                    await talking.run(outer)
                    nursery.cancel_scope.cancel()
            for got in [seen.got[ask.number] for ask in client.asks]:
                got.left = scope.cancelled_caught and not got.ended and got.broken is None
                got.waited = got.left and client.leaves is None
            if client.how == "reset":
                await talking.reset_all()
            if client.how == "rst":
                await talking.leave(Ending.RST)
            elif client.how == "fin":
                await talking.leave(Ending.FIN)
            outer.cancel_scope.cancel()
    except* GONE:
        pass  # it was ended while it said its last
    finally:
        transport.close()
