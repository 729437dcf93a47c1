"""The two languages of the origin: one connection each, what it is asked, and how its streams write.

Rules: a write that is begun is completed before the next; HTTP/2 keeps to the windows of who reads (RFC 9113 section 5.2).
Must not know: time, or what a path means.
"""

import socket
import struct
from collections.abc import Iterator

import hpack

from benchmarks import frames
from benchmarks.frames import ACK, DATA, END_HEADERS, END_STREAM, HEADERS, PREFACE, SETTINGS_ACK, frame, literal
from benchmarks.wire import BULK, BULK_CHUNK, EVENT, FLOOD, LAST_CHUNK, SHORT, SHORT_BODY, event, event_chunk, h1_head

_FIRST_WINDOW = 65535
_FRAME = 16384
_PADDED, _PRIORITY = 0x8, 0x20


class Stream:
    """One answer over HTTP/1: what is still owed, and when."""

    __slots__ = ("batch", "due", "gone", "interval", "number", "owed", "piece", "side", "size", "until", "window")

    def __init__(self, side: "Side", number: int = 0) -> None:
        self.side, self.number = side, number
        self.batch, self.interval, self.due, self.until = 1, 0.0, 0.0, 0.0
        self.gone = False
        self.owed, self.piece, self.size = 0, b"", 0
        self.window = 0

    def begin(self, content_type: str) -> None:
        """Send the head."""
        self.side.send(h1_head(content_type))

    def short(self) -> None:
        """Send a short answer, whole."""
        self.side.send(SHORT)

    def events(self, now: int) -> None:
        """Send a batch, or leave it out."""
        if self.side.flush():
            self.side.send(event_chunk(now) * self.batch)

    def fill(self, what: str) -> None:
        """Make what the body will consist of, each `piece` as often as it takes, with `size` bytes of content."""
        self.piece = BULK_CHUNK if what == "bulk" else event_chunk(0) * FLOOD

    def end(self) -> None:
        """The body is complete."""
        self.gone = True
        self.side.send(LAST_CHUNK)


class H2Stream(Stream):
    """One answer over HTTP/2."""

    __slots__ = ("_before",)

    def __init__(self, side: "Side", number: int) -> None:
        super().__init__(side, number)
        self._before = frame(DATA, 0, number, b"x" * EVENT)[:9]

    def begin(self, content_type: str) -> None:
        # :status 200 is in the static table (8); content-type is named by it (31).
        self.side.send(
            frame(HEADERS, END_HEADERS, self.number, b"\x88\x0f\x10" + literal(0, content_type.encode())[1:])
        )

    def short(self) -> None:
        self.begin("text/plain")
        self.gone = True
        self.side.send(frame(DATA, END_STREAM, self.number, SHORT_BODY))

    def events(self, now: int) -> None:
        if self.side.flush() and self.side.takes(self, EVENT * self.batch):
            self.side.send((self._before + event(now)) * self.batch)

    def fill(self, what: str) -> None:
        if what == "bulk":
            self.piece, self.size = frame(DATA, 0, self.number, b"x" * _FRAME), _FRAME
            self.owed *= BULK // _FRAME  # a window may be smaller than 64 KiB
        else:
            self.piece, self.size = (self._before + event(0)) * FLOOD, EVENT * FLOOD

    def end(self) -> None:
        self.gone = True
        self.side.send(frame(DATA, END_STREAM, self.number, b""))


class Side:
    """One connection."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.rest = memoryview(b"")
        self.received = b""
        self.owing: list[Stream] = []
        self.waiting = False
        """For the socket to take more."""

    def flush(self) -> bool:
        """Write what waits; False while the socket is full."""
        while self.rest:
            try:
                self.rest = self.rest[self.sock.send(self.rest) :]
            except BlockingIOError:
                return False
        return True

    def send(self, data: bytes) -> None:
        """Write `data` behind what waits."""
        self.rest = memoryview(bytes(self.rest) + data if self.rest else data)
        self.flush()

    def owe(self, stream: Stream, what: str, pieces: int) -> None:
        """From now on as many pieces as are taken."""
        stream.owed = pieces
        stream.fill(what)
        self.owing.append(stream)

    def pump(self) -> None:
        """Write of what is owed as much as socket and windows take."""
        progress = True
        while self.flush() and self.owing and progress:
            progress = False
            for stream in [one for one in self.owing if self.takes(one, one.size)]:
                progress = True
                stream.owed -= 1
                self.send(stream.piece)
                if not stream.owed:
                    self.owing.remove(stream)
                    stream.end()
        self.waiting = bool(self.rest)

    def takes(self, stream: Stream, size: int) -> bool:
        """Whether the windows let `size` bytes pass; then they are counted."""
        return True

    def feed(self, data: bytes) -> Iterator[tuple[Stream, str]]:
        """The streams that are asked for, each with its path."""
        raise NotImplementedError

    def leave(self) -> None:
        """The connection is over."""
        self.sock.close()


class H1Side(Side):
    """HTTP/1.1: one answer after the other."""

    def __init__(self, sock: socket.socket) -> None:
        super().__init__(sock)
        self.stream = Stream(self)

    def feed(self, data: bytes) -> Iterator[tuple[Stream, str]]:
        self.received += data
        while b"\r\n\r\n" in self.received:
            head, _, self.received = self.received.partition(b"\r\n\r\n")
            self.stream = Stream(self)
            yield self.stream, head.split(b" ", 2)[1].decode()

    def leave(self) -> None:
        super().leave()
        self.stream.gone = True


class H2Side(Side):
    """HTTP/2 with prior knowledge."""

    def __init__(self, sock: socket.socket) -> None:
        super().__init__(sock)
        self.decoder = hpack.Decoder()
        self.streams: dict[int, Stream] = {}
        self.window = self.first_window = _FIRST_WINDOW
        self.greeted = False

    def takes(self, stream: Stream, size: int) -> bool:
        if size > self.window or size > stream.window:
            return False
        self.window -= size
        stream.window -= size
        return True

    def feed(self, data: bytes) -> Iterator[tuple[Stream, str]]:
        self.received += data
        if not self.greeted:
            if len(self.received) < len(PREFACE):
                return
            self.received = self.received[len(PREFACE) :]
            self.greeted = True
            self.send(frame(frames.SETTINGS, 0, 0, b""))
        at = 0
        while at + 9 <= len(self.received):
            end = at + 9 + int.from_bytes(self.received[at : at + 3], "big")
            if end > len(self.received):
                break
            kind, flags = self.received[at + 3], self.received[at + 4]
            number = int.from_bytes(self.received[at + 5 : at + 9], "big")
            yield from self._frame(kind, flags, number, self.received[at + 9 : end])
            at = end
        self.received = self.received[at:]

    def _frame(self, kind: int, flags: int, number: int, payload: bytes) -> Iterator[tuple[Stream, str]]:
        match kind:
            case frames.HEADERS if flags & (END_HEADERS | _PADDED | _PRIORITY) == END_HEADERS:
                fields = dict(self.decoder.decode(payload))
                self.streams = {at: one for at, one in self.streams.items() if not one.gone}
                stream = self.streams[number] = H2Stream(self, number)
                stream.window = self.first_window
                yield stream, fields[":path"]
            case frames.HEADERS:
                raise EOFError("a head that is not as plain as expected")
            case frames.RST_STREAM:
                self._drop(number)
            case frames.SETTINGS if not flags & ACK:
                self._settle(payload)
                self.send(SETTINGS_ACK)
            case frames.PING if not flags & ACK:
                self.send(frame(frames.PING, ACK, 0, payload))
            case frames.WINDOW_UPDATE:
                (more,) = struct.unpack(">I", payload)
                if number == 0:
                    self.window += more
                elif number in self.streams:
                    self.streams[number].window += more

    def _settle(self, payload: bytes) -> None:
        for at in range(0, len(payload), 6):
            name, value = struct.unpack_from(">HI", payload, at)
            if name == 0x4:  # SETTINGS_INITIAL_WINDOW_SIZE changes open streams too (section 6.9.2)
                for stream in self.streams.values():
                    stream.window += value - self.first_window
                self.first_window = value

    def _drop(self, number: int) -> None:
        if (stream := self.streams.pop(number, None)) is not None:
            stream.gone = True
            if stream in self.owing:
                self.owing.remove(stream)

    def leave(self) -> None:
        super().leave()
        for stream in self.streams.values():
            stream.gone = True


def side_of(side: Side, data: bytes) -> Side:
    """Who goes on with this connection, now that its first bytes are here."""
    if isinstance(side, H1Side) and not side.received and data.startswith(b"PRI "):
        return H2Side(side.sock)
    return side
