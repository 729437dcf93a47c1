"""The bytes of the loads: events that carry the time of their sending, bulk chunks, and HTTP/2 frames made beforehand.

Rules: everything that can be made once is. The HTTP/2 side is only what a reader with endless windows needs.
"""

import struct

MARK = b"data: @"
DIGITS = 16
EVENT = 50
"""Bytes of an event, its blank line included."""
_PADDING = b"." * (EVENT - len(MARK) - DIGITS - 2)
_BEFORE = b"%x\r\n" % EVENT + MARK
_BEHIND = _PADDING + b"\n\n\r\n"

BULK = 65536
BULK_CHUNK = b"%x\r\n" % BULK + b"x" * BULK + b"\r\n"
LAST_CHUNK = b"0\r\n\r\n"

EVENTS_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
BULK_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/octet-stream\r\ntransfer-encoding: chunked\r\n\r\n"

SETTINGS_ACK = b"\0\0\0\4\1\0\0\0\0"
_SETTINGS, _PING, _HEADERS, _WINDOW_UPDATE = 0x4, 0x6, 0x1, 0x8
_ACK, _END_STREAM, _END_HEADERS = 0x1, 0x1, 0x4
_LARGEST_WINDOW = 2**31 - 1


def event_chunk(now: int) -> bytes:
    """One event in a chunk of its own, stamped with a monotonic clock in nanoseconds."""
    return _BEFORE + b"%016x" % now + _BEHIND


class Stamps:
    """Finds the stamps in what arrives, in any framing, across reads."""

    __slots__ = ("_rest",)

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[int]:
        """The sending times of the events whose stamp ends in `data`."""
        data = self._rest + data
        found: list[int] = []
        behind = 0
        at = data.find(MARK)
        while at >= 0 and at + len(MARK) + DIGITS <= len(data):
            behind = at + len(MARK) + DIGITS
            found.append(int(data[at + len(MARK) : behind], 16))
            at = data.find(MARK, behind)
        self._rest = data[max(behind, len(data) - len(MARK) - DIGITS + 1) :]
        return found


def h1_request(path: str) -> bytes:
    """A GET of `path`."""
    return f"GET {path} HTTP/1.1\r\nhost: localhost\r\naccept: */*\r\n\r\n".encode()


def h2_opening(path: str, streams: int) -> bytes:
    """Preface, endless windows and one GET of `path` on each of `streams` streams (RFC 9113, RFC 7541)."""
    settings = struct.pack(">HIHI", 0x2, 0, 0x4, _LARGEST_WINDOW)
    update = struct.pack(">I", _LARGEST_WINDOW - 65535)
    # :method GET and :scheme http are in the static table (2, 6); :path and :authority name it (4, 1), not indexed.
    block = b"\x82\x86" + _literal(4, path.encode()) + _literal(1, b"localhost")
    return b"".join(
        [
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            _frame(_SETTINGS, 0, 0, settings),
            _frame(_WINDOW_UPDATE, 0, 0, update),
            *(_frame(_HEADERS, _END_STREAM | _END_HEADERS, 2 * n + 1, block) for n in range(streams)),
        ]
    )


def _literal(index: int, value: bytes) -> bytes:
    assert len(value) < 127  # one byte of length, no Huffman
    return bytes([index, len(value)]) + value


def _frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


class Frames:
    """Walks along the frames that arrive, and says what has to be answered."""

    __slots__ = ("_rest", "_skip")

    def __init__(self) -> None:
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
            if kind == _PING and at + 17 > len(data):
                break  # its payload is needed
            if kind == _SETTINGS and not flags & _ACK:
                answers.append(SETTINGS_ACK)
            elif kind == _PING and not flags & _ACK:
                answers.append(_frame(_PING, _ACK, 0, data[at + 9 : at + 17]))
            at += 9 + length
        if at > len(data):
            self._skip = at - len(data)
        self._rest = data[at:]
        return b"".join(answers)
