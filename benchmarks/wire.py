"""The bytes of the loads: events that carry the time of their sending, bulk chunks, short answers.

Rules: everything that can be made once is.
"""

import zlib
from collections.abc import Sequence
from typing import TypeVar

N = TypeVar("N", int, float)

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

SHORT_BODY = b"." * 99 + b"\n"
SHORT = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 100\r\n\r\n" + SHORT_BODY
"""The whole answer to a short request."""

FLOOD = 500
"""Events in each write of a flood."""


def h1_head(content_type: str) -> bytes:
    """The head of a chunked answer."""
    return f"HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ntransfer-encoding: chunked\r\n\r\n".encode()


def event_chunk(now: int) -> bytes:
    """One event in a chunk of its own, stamped with a monotonic clock in nanoseconds."""
    return _BEFORE + b"%016x" % now + _BEHIND


def event(now: int) -> bytes:
    """The same event without its chunk."""
    return event_chunk(now)[4:-2]


def quantile(ordered: Sequence[N], part: float) -> N:
    """The value below which `part` of these lie; they are in order."""
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


class Count:
    """Counts events in what arrives, in any framing, across reads."""

    __slots__ = ("_rest", "seen")

    def __init__(self) -> None:
        self.seen = 0
        self._rest = b""

    def feed(self, data: bytes) -> None:
        """What has arrived."""
        data = self._rest + data
        self.seen += data.count(MARK)
        self._rest = data[1 - len(MARK) :]  # too short to be counted twice


class Unzipped:
    """The content of a chunked gzip body, behind its head."""

    __slots__ = ("_left", "_rest", "_unzip")

    def __init__(self) -> None:
        self._rest, self._left = b"", -1
        self._unzip = zlib.decompressobj(wbits=31)

    def feed(self, data: bytes) -> bytes:
        """What has become readable."""
        data, found = self._rest + data, b""
        if self._left < 0:
            head, end, behind = data.partition(b"\r\n\r\n")
            if not end:
                self._rest = head
                return b""
            data, self._left = behind, 0
        while data:
            if not self._left:
                line, end, behind = data.partition(b"\r\n")
                if not end:
                    break
                self._left, data = int(line, 16) + 2, behind
            if len(data) < self._left:
                break
            found += self._unzip.decompress(data[: self._left - 2])
            data, self._left = data[self._left :], 0
        self._rest = data
        return found


class Stamps:
    """Finds the stamps in what arrives, in any framing, across reads."""

    __slots__ = ("_rest",)

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[int]:
        """The sending times of the events whose stamp ends in `data`; one that a proxy has put a chunk's size or a
        frame's head into is left out."""
        data = self._rest + data
        found: list[int] = []
        behind = 0
        at = data.find(MARK)
        while at >= 0 and at + len(MARK) + DIGITS <= len(data):
            behind = at + len(MARK) + DIGITS
            digits = data[at + len(MARK) : behind]
            if digits.isalnum():
                found.append(int(digits, 16))
            at = data.find(MARK, behind)
        self._rest = data[max(behind, len(data) - len(MARK) - DIGITS + 1) :]
        return found


def h1_request(path: str, *, close: bool = False) -> bytes:
    """A GET of `path`; with `close` the connection shall end with the answer."""
    ending = "connection: close\r\n" if close else ""
    return f"GET {path} HTTP/1.1\r\nhost: localhost\r\naccept: */*\r\n{ending}\r\n".encode()
