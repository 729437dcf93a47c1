"""A raw HTTP/2 peer for tests, either role: it records frames as they come and sends exactly those it is told to.

Rules: frames by hyperframe, fields by hpack, no state machine, so that nothing is refused, repaired or hidden: what comes
behind a GOAWAY is seen as well. Credit is given back at once, for the streams in `stalled` on the connection alone.
Must not know: the proxy.
"""

import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field

import trio
from hpack import Decoder, Encoder
from hyperframe.frame import (
    ContinuationFrame,
    DataFrame,
    Frame,
    GoAwayFrame,
    HeadersFrame,
    PingFrame,
    RstStreamFrame,
    SettingsFrame,
    WindowUpdateFrame,
)

from chaosproxy.testing.recorder import WITHIN, Ending, Recorder
from chaosproxy.wire.transport import Transport

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
WINDOW = 65535
CANCEL = 0x8
LARGEST = 16_384
"""Bytes of a frame that everybody takes."""

Fields = list[tuple[bytes, bytes]]


@dataclass(slots=True)
class Stream:
    """What was received on one stream."""

    heads: list[Fields] = field(default_factory=list)
    """Field blocks in order: interim heads, the head, trailers."""
    frames: list[tuple[float, bytes]] = field(default_factory=list)
    """`(time, payload)` of each DATA frame that had one."""
    ended: bool = False
    """END_STREAM was seen."""
    reset: int | None = None
    """The code of the RST_STREAM that was seen."""

    @property
    def body(self) -> bytes:
        return b"".join([payload for _, payload in self.frames])

    @property
    def sizes(self) -> list[int]:
        """The length of each DATA frame."""
        return [len(payload) for _, payload in self.frames]

    @property
    def status(self) -> int | None:
        """Of the last head that has one; None before."""
        found = [value for block in self.heads for name, value in block if name == b":status"]
        return int(found[-1]) if found else None

    @property
    def over(self) -> bool:
        return self.ended or self.reset is not None


class H2Peer:
    """One connection. Entered with `async with`, it starts reading; everything seen is in `streams` and beside it."""

    def __init__(self, transport: Transport, *, client: bool, window: int = WINDOW) -> None:
        self.recorder = Recorder(transport)
        self.streams: defaultdict[int, Stream] = defaultdict(Stream)
        self.goaways: list[tuple[int, int]] = []
        """`(code, last stream)` of each."""
        self.debug: list[bytes] = []
        """The debug data of each."""
        self.settings: list[dict[int, int]] = []
        """What the peer allows, as it came."""
        self.acknowledged = 0
        """SETTINGS of ours that it has acknowledged."""
        self.pongs = 0
        self.credited: defaultdict[int, int] = defaultdict(int)
        """WINDOW_UPDATEs that have come, summed by stream."""
        self.stalled: set[int] = set()
        """Streams that get no credit of their own."""
        self.on_head: Callable[[int], object] | None = None
        self._client = client
        self._window = window
        self._buffer = bytearray()
        self._encoder, self._decoder = Encoder(), Decoder()
        self._block: list[HeadersFrame | ContinuationFrame] = []
        """The frames of the block that is coming."""
        self._news = trio.lowlevel.ParkingLot()
        self._credit: defaultdict[int, int] = defaultdict(int)
        self._initial = WINDOW
        self._credit[0] = WINDOW
        self._sending = trio.Lock()
        self._reading, self._stopped = trio.CancelScope(), trio.Event()

    @property
    def ending(self) -> Ending | None:
        """How the connection ended; None while it has not."""
        return self.recorder.ending

    async def start(self) -> None:
        """Say what every HTTP/2 connection begins with."""
        settings = SettingsFrame(settings={SettingsFrame.INITIAL_WINDOW_SIZE: self._window})
        await self._write((PREFACE if self._client else b"") + settings.serialize())

    async def read(self) -> None:
        """Read until the connection ends, or is left."""
        with self._reading:
            await self._read()
        self._stopped.set()
        self._news.unpark_all()

    async def _read(self) -> None:
        preface = b"" if self._client else PREFACE
        while data := await self.recorder.read():
            self._buffer += data
            if preface:
                if len(self._buffer) < len(preface):
                    continue
                assert self._buffer.startswith(preface), bytes(self._buffer)
                del self._buffer[: len(preface)]
                preface = b""
            answers: list[Frame] = []
            for frame in self._frames():
                answers.extend(self._seen(frame))
            with contextlib.suppress(ConnectionError):  # the next read tells how it ended
                await self._write(b"".join([frame.serialize() for frame in answers]))
            self._news.unpark_all()

    def _frames(self) -> Iterable[Frame]:
        while len(self._buffer) >= 9:
            frame, length = Frame.parse_frame_header(memoryview(bytes(self._buffer[:9])))
            if len(self._buffer) < 9 + length:
                return
            frame.parse_body(memoryview(bytes(self._buffer[9 : 9 + length])))
            del self._buffer[: 9 + length]
            yield frame

    def _seen(self, frame: Frame) -> list[Frame]:
        """Write down one frame; what it is answered with at once."""
        number = frame.stream_id
        match frame:
            case SettingsFrame() if "ACK" not in frame.flags:
                self._initial = frame.settings.get(SettingsFrame.INITIAL_WINDOW_SIZE, self._initial)
                self.settings.append(dict(frame.settings))
                return [SettingsFrame(flags=["ACK"])]
            case SettingsFrame():
                self.acknowledged += 1
            case PingFrame() if "ACK" in frame.flags:
                self.pongs += 1
            case PingFrame():
                return [PingFrame(0, frame.opaque_data, flags=["ACK"])]
            case WindowUpdateFrame():
                self._credit[number] += frame.window_increment
                self.credited[number] += frame.window_increment
            case HeadersFrame() | ContinuationFrame():
                self._block_seen(frame)
            case DataFrame():
                return self._data_seen(frame)
            case RstStreamFrame():
                self.streams[number].reset = frame.error_code
            case GoAwayFrame():
                self.goaways.append((frame.error_code, frame.last_stream_id))
                self.debug.append(frame.additional_data)
            case _:
                pass
        return []

    def _block_seen(self, frame: HeadersFrame | ContinuationFrame) -> None:
        """What ends the stream is the flag of the first."""
        if isinstance(frame, HeadersFrame):
            self._block = [frame]
        else:
            self._block.append(frame)
        if "END_HEADERS" not in frame.flags:
            return
        block = b"".join([one.data for one in self._block])
        fields = [(bytes(name), bytes(value)) for name, value in self._decoder.decode(block, raw=True)]
        self.streams[frame.stream_id].heads.append(fields)
        self._end_if_flagged(self._block[0])
        if self.on_head is not None:
            self.on_head(frame.stream_id)

    def _data_seen(self, frame: DataFrame) -> list[Frame]:
        if frame.data:
            self.streams[frame.stream_id].frames.append((trio.current_time(), frame.data))
        self._end_if_flagged(frame)
        if not frame.body_len:
            return []
        credit: list[Frame] = [WindowUpdateFrame(0, frame.body_len)]
        if frame.stream_id not in self.stalled and "END_STREAM" not in frame.flags:
            credit.append(WindowUpdateFrame(frame.stream_id, frame.body_len))
        return credit

    def _end_if_flagged(self, frame: Frame) -> None:
        if "END_STREAM" in frame.flags:
            self.streams[frame.stream_id].ended = True

    async def until(self, condition: Callable[[], object], within: float = WITHIN) -> None:
        """Wait until `condition` holds; looked at after each read. EOFError if the connection ends before."""
        with trio.fail_after(within):
            while not condition():
                if self.ending is not None:
                    raise EOFError(f"{self.ending} with {dict(self.streams)} {self.goaways}")
                await self._news.park()

    async def until_ended(self, within: float = WITHIN) -> Ending:
        """Wait for the end of the connection; `OPEN` if it does not come."""
        with trio.move_on_after(within):
            while self.ending is None:
                await self._news.park()
        return self.ending or Ending.OPEN

    # ---- sending

    async def headers(self, stream: int, fields: Fields, *, end: bool = False, most: int = LARGEST) -> None:
        """One field block: a head, trailers; in frames of `most` bytes."""
        block = self._encoder.encode(fields)
        first, *others = [block[at : at + most] for at in range(0, len(block), most)]
        frames: list[HeadersFrame | ContinuationFrame] = [
            HeadersFrame(stream, first, flags=["END_STREAM"] if end else []),
            *(ContinuationFrame(stream, other) for other in others),
        ]
        frames[-1].flags.add("END_HEADERS")
        await self._write(b"".join([frame.serialize() for frame in frames]))

    async def request(self, stream: int, path: str = "/", *, method: str = "GET", end: bool = True) -> None:
        """A request head."""
        fields = [
            (b":method", method.encode()),
            (b":scheme", b"http"),
            (b":path", path.encode()),
            (b":authority", b"x"),
        ]
        await self.headers(stream, fields, end=end)

    async def data(self, stream: int, payload: bytes, *, end: bool = False) -> None:
        """One DATA frame, as soon as both windows have room for it."""
        while len(payload) > min(self._credit[0], self._credit[stream] + self._initial):
            if self.ending is not None:
                raise BrokenPipeError("the connection has ended")
            if self.streams[stream].reset is not None:
                return
            await self._news.park()
        self._credit[0] -= len(payload)
        self._credit[stream] -= len(payload)
        await self._write(DataFrame(stream, payload, flags=["END_STREAM"] if end else []).serialize())

    async def reset(self, stream: int, code: int = CANCEL) -> None:
        """RST_STREAM."""
        await self._write(RstStreamFrame(stream, code).serialize())

    async def goaway(self, last: int, code: int = 0) -> None:
        """GOAWAY; the connection goes on."""
        await self._write(GoAwayFrame(0, last, code).serialize())

    async def ping(self) -> None:
        """A PING; `pongs` counts the answers."""
        await self._write(PingFrame(0, b"8 bytes!").serialize())

    async def credit(self, stream: int, nbytes: int) -> None:
        """WINDOW_UPDATE, by hand."""
        await self._write(WindowUpdateFrame(stream, nbytes).serialize())

    async def _write(self, data: bytes) -> None:
        async with self._sending:  # frames of two tasks must not mix
            await self.recorder.send(data)

    async def leave(self, ending: Ending) -> None:
        """End the connection from here; nothing is read any more."""
        self._reading.cancel()
        await self._stopped.wait()
        await self.recorder.leave(ending)


@contextlib.asynccontextmanager
async def h2_client(transport: Transport, window: int = WINDOW) -> AsyncIterator[H2Peer]:
    """A client on `transport`, reading while the block runs."""
    peer = H2Peer(transport, client=True, window=window)
    try:
        async with trio.open_nursery() as nursery:
            await peer.start()
            nursery.start_soon(peer.read)
            yield peer
            nursery.cancel_scope.cancel()
    finally:
        transport.close()
