"""Frames of a peer by hand, for whoever says what is wrong: one compression state, whatever stream is asked for."""

from collections.abc import Sequence

from hpack import Encoder

from chaosproxy.http2.frames import END_HEADERS, END_STREAM, HEADER, HEADER_SIZE, PREFACE, frame

DATA, HEADERS, PRIORITY, RST, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION = range(10)
GREETING = PREFACE + frame(SETTINGS, 0, 0)
GET = ((b":method", b"GET"), (b":scheme", b"http"), (b":authority", b"a"), (b":path", b"/"))
POST = ((b":method", b"POST"), *GET[1:])
OK = ((b":status", b"200"),)

Fields = Sequence[tuple[bytes, bytes]]


class Said:
    """What one peer says on one connection."""

    def __init__(self, encoder: Encoder | None = None) -> None:
        self.encoder = encoder or Encoder()

    def headers(self, stream: int, fields: Fields, *, end: bool = False, flags: int = END_HEADERS) -> bytes:
        return frame(HEADERS, flags | (END_STREAM if end else 0), stream, self.encoder.encode(fields))

    def data(self, stream: int, payload: bytes, *, end: bool = False) -> bytes:
        return frame(DATA, END_STREAM if end else 0, stream, payload)


def four(number: int) -> bytes:
    return number.to_bytes(4, "big")


def setting(code: int, value: int) -> bytes:
    return frame(SETTINGS, 0, 0, code.to_bytes(2, "big") + four(value))


def apart(data: bytes) -> list[tuple[int, int, int, bytes]]:
    """Kind, flags, stream and payload of each frame in `data`, which is nothing else."""
    found = []
    while data:
        length_kind, flags, stream = HEADER.unpack_from(data)
        behind = HEADER_SIZE + (length_kind >> 8)
        found.append((length_kind & 0xFF, flags, stream, data[HEADER_SIZE:behind]))
        data = data[behind:]
    return found


def moved(data: bytes, by: int) -> bytes:
    """The same frames on streams that are `by` higher; what is said of the connection stays."""
    return b"".join(
        [
            frame(kind, flags, stream + by if stream & 0x7FFFFFFF else stream, payload)
            for kind, flags, stream, payload in apart(data)
        ]
    )
