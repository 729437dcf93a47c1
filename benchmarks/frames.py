"""HTTP/2 as the loads need it, frame by frame: what a reader with endless windows says, and how to walk along frames.

Rules: RFC 9113 and RFC 7541 to the letter in what is sent; of what comes only what has to be answered is looked at.
"""

import struct

SETTINGS_ACK = b"\0\0\0\4\1\0\0\0\0"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE = 0x0, 0x1, 0x3, 0x4, 0x6, 0x8
ACK, END_STREAM, END_HEADERS = 0x1, 0x1, 0x4
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_LARGEST_WINDOW = 2**31 - 1


def h2_opening(path: str, streams: int) -> bytes:
    """Preface, endless windows and one GET of `path` on each of `streams` streams (RFC 9113, RFC 7541)."""
    settings = struct.pack(">HIHI", 0x2, 0, 0x4, _LARGEST_WINDOW)
    update = struct.pack(">I", _LARGEST_WINDOW - 65535)
    # :method GET and :scheme http are in the static table (2, 6); :path and :authority name it (4, 1), not indexed.
    block = b"\x82\x86" + literal(4, path.encode()) + literal(1, b"localhost")
    return b"".join(
        [
            PREFACE,
            frame(SETTINGS, 0, 0, settings),
            frame(WINDOW_UPDATE, 0, 0, update),
            *(frame(HEADERS, END_STREAM | END_HEADERS, 2 * n + 1, block) for n in range(streams)),
        ]
    )


def literal(index: int, value: bytes) -> bytes:
    """A field whose name is in the static table, without indexing (RFC 7541 section 6.2.2)."""
    assert len(value) < 127  # one byte of length, no Huffman
    return bytes([index, len(value)]) + value


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    """One frame (RFC 9113 section 4.1)."""
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


class Frames:
    """Walks along the frames that arrive, and says what has to be answered."""

    __slots__ = ("_rest", "_skip", "heads", "lost")

    def __init__(self) -> None:
        self.heads = 0
        """How many heads have come."""
        self.lost = 0
        """How many streams have been reset."""
        self._rest = b""
        self._skip = 0

    def feed(self, data: bytes) -> bytes:
        """The SETTINGS and PING acknowledgements that `data` asks for."""
        if self._skip >= len(data):
            self._skip -= len(data)
            return b""
        data = self._rest + data[self._skip :]
        at, self._skip = 0, 0
        answers: list[bytes] = []
        while at + 9 <= len(data):
            length = int.from_bytes(data[at : at + 3], "big")
            kind, flags = data[at + 3], data[at + 4]
            if kind == PING and at + 17 > len(data):
                break  # its payload is needed
            self.heads += kind == HEADERS
            self.lost += kind == RST_STREAM
            if kind == SETTINGS and not flags & ACK:
                answers.append(SETTINGS_ACK)
            elif kind == PING and not flags & ACK:
                answers.append(frame(PING, ACK, 0, data[at + 9 : at + 17]))
            at += 9 + length
        if at > len(data):
            self._skip = at - len(data)
        self._rest = data[at:]
        return b"".join(answers)
