"""Attacks by frames that are cheap to send, without end: by a client, and by an upstream that was asked for something.

`within`: after so many of its parts it is to be over, if no time passes; counted by hand from what each may cost.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from chaosproxy.http2.frames import ACK, END_HEADERS, PADDED, frame
from tests.security.h2_frames import (
    CONTINUATION,
    DATA,
    GOAWAY,
    HEADERS,
    PING,
    PRIORITY,
    PUSH,
    RST,
    SETTINGS,
    WINDOW,
    four,
)

BLOCK = b"\x82\x86\x84\x41\x01a"
"""GET / of authority a, which alone enters the table: as `0xbe`."""
HEAD = frame(HEADERS, END_HEADERS, 1, b"\x88")
""":status 200 on stream 1."""
HINT = b"\x48\x03103"
""":status 103."""

Parts = Callable[[], Iterator[bytes]]


@dataclass(frozen=True, slots=True)
class Attack:
    """`first` comes before its parts, behind SETTINGS and, of a client, a request on stream 1."""

    parts: Parts
    within: int
    cause: str
    """In the journal, behind `flood:`; one of these, where a part costs by two rules."""
    first: bytes = b""

    def named(self, causes: Iterable[str]) -> bool:
        """Whether it is among the causes of the journal."""
        return bool({f"flood:{one}" for one in self.cause.split("|")} & set(causes))


def opening(stream: int, *, end: bool = True) -> bytes:
    return frame(HEADERS, END_HEADERS | end, stream, BLOCK)


def _in_frames(stream: int, block: bytes) -> bytes:
    """HEADERS and as many CONTINUATION as it takes."""
    pieces = [block[at : at + 16_384] for at in range(0, len(block), 16_384)]
    behind = [frame(CONTINUATION, 0, stream, piece) for piece in pieces[1:-1]]
    return b"".join(
        [frame(HEADERS, 0, stream, pieces[0]), *behind, frame(CONTINUATION, END_HEADERS, stream, pieces[-1])]
    )


def _streams(part: Callable[[int], bytes]) -> Parts:
    """One on each further stream."""
    return lambda: map(part, itertools.count(3, 2))


def _again(part: bytes) -> Parts:
    return lambda: itertools.repeat(part)


def _counted(part: Callable[[int], bytes]) -> Parts:
    return lambda: map(part, itertools.count())


def _one(*parts: bytes) -> Parts:
    return lambda: iter(parts)


def _setting(code: int, value: int) -> bytes:
    return code.to_bytes(2, "big") + four(value & 0xFFFFFFFF)


def _unknown(number: int) -> bytes:
    """A hundred settings that nobody has heard of, others each time."""
    first = 0x100 + number * 100 % 0xFE00
    return frame(SETTINGS, 0, 0, b"".join([_setting(code, number) for code in range(first, first + 100)]))


_RESET_BY_US = opening(3, end=False) + frame(WINDOW, 0, 3, four(0))
_LENGTH = b"\x83\x86\x84\x41\x01a\x0f\x0d\x011"
"""POST / of one byte."""

STREAMS = {
    "opened and reset": Attack(_streams(lambda n: opening(n) + frame(RST, 0, n, four(8))), 101, "RST_STREAM"),
    "a window opened by 0": Attack(
        _streams(lambda n: opening(n, end=False) + frame(WINDOW, 0, n, four(0))), 101, "reset"
    ),
    "a window too wide": Attack(_streams(lambda n: opening(n) + frame(WINDOW, 0, n, four(2**31 - 1))), 101, "reset"),
    "DATA behind the end": Attack(_streams(lambda n: opening(n) + frame(DATA, 0, n, b"x")), 101, "reset"),
    "HEADERS behind the end": Attack(_streams(lambda n: opening(n) + opening(n)), 101, "reset"),
    "PRIORITY of 4 bytes": Attack(_streams(lambda n: opening(n) + frame(PRIORITY, 0, n, b"1234")), 101, "reset"),
    "a malformed request": Attack(_streams(lambda n: frame(HEADERS, END_HEADERS, n, b"\x82")), 101, "reset"),
    "a second head": Attack(_streams(lambda n: opening(n, end=False) * 2), 101, "reset"),
    "a wrong length": Attack(
        _streams(lambda n: frame(HEADERS, END_HEADERS, n, _LENGTH) + frame(DATA, 0, n, b"xy")), 101, "reset"
    ),
    "more streams than allowed": Attack(_streams(lambda n: opening(n, end=False)), 201, "reset"),
    "RST_STREAM of a stream that is reset": Attack(
        _again(frame(RST, 0, 3, four(8))), 101, "RST_STREAM", opening(3) + frame(RST, 0, 3, four(8))
    ),
    "DATA on a stream that it has reset": Attack(
        _streams(lambda n: opening(n) + frame(RST, 0, n, four(8)) + frame(DATA, 0, n, b"x")), 51, "RST_STREAM|reset"
    ),
}
"""Streams that cost more to open than to throw away."""
BLOCKS = {
    "a block without end": Attack(_again(frame(CONTINUATION, 0, 3)), 65, "CONTINUATION", frame(HEADERS, 0, 3, BLOCK)),
    "a block of 16 KiB and more": Attack(
        _again(frame(CONTINUATION, 0, 3, b"\0" * 16_384)), 9, "CONTINUATION", frame(HEADERS, 0, 3, BLOCK)
    ),
    "a field of 4 kB 3,000 times": Attack(
        _one(frame(HEADERS, END_HEADERS, 3, b"\x40\x01x\x7f\xa1\x1e" + b"v" * 4000 + b"\xbe" * 3000)), 1, "HEADERS"
    ),
    "4,096 fields of one byte": Attack(_one(frame(HEADERS, END_HEADERS, 3, b"\0\x01a\0" * 4096)), 1, "HEADERS"),
    "1,900 fields of one byte, again": Attack(
        _streams(lambda n: frame(HEADERS, END_HEADERS, n, BLOCK + b"\0\x01a\0" * 1900)), 9, "HEADERS|reset"
    ),
    "2,900 fields from the table, again": Attack(
        _streams(lambda n: frame(HEADERS, END_HEADERS, n, BLOCK + b"\xbe" * 2900)), 7, "HEADERS|reset"
    ),
    "2,200 fields of 26 bytes, again": Attack(
        _streams(lambda n: _in_frames(n, BLOCK + (b"\0\x0d" + b"n" * 13 + b"\x0d" + b"v" * 13) * 2200)),
        8,
        "HEADERS|reset",
    ),
    "a cookie in 1,000 pieces, again": Attack(
        _streams(lambda n: frame(HEADERS, END_HEADERS, n, BLOCK + b"\x0f\x11\x01a" * 1000)), 15, "HEADERS|reset"
    ),
    "blocks behind a stream's end": Attack(
        _again(frame(HEADERS, END_HEADERS, 3, b"\xbe" * 2900)), 6, "HEADERS", _RESET_BY_US
    ),
}
"""Compression that unfolds, fields without number."""
CHEAP = {
    "PING": Attack(_again(frame(PING, 0, 0, b"12345678")), 1001, "PING"),
    "PING answered unasked": Attack(_again(frame(PING, ACK, 0, b"12345678")), 1001, "PING"),
    "SETTINGS": Attack(_again(frame(SETTINGS, 0, 0)), 201, "SETTINGS"),
    "SETTINGS of 101 pairs": Attack(_again(frame(SETTINGS, 0, 0, _setting(4, 127) * 101)), 21, "SETTINGS"),
    "SETTINGS that move all windows": Attack(
        _counted(lambda n: frame(SETTINGS, 0, 0, _setting(4, n))),
        201,
        "SETTINGS",
        b"".join([opening(n, end=False) for n in range(3, 201, 2)]),
    ),
    "SETTINGS nobody knows": Attack(_counted(_unknown), 201, "SETTINGS"),
    "SETTINGS of the table": Attack(_counted(lambda n: frame(SETTINGS, 0, 0, _setting(1, -n % 2))), 201, "SETTINGS"),
    "SETTINGS acknowledged unasked": Attack(_again(frame(SETTINGS, ACK, 0)), 1002, "SETTINGS"),
    "empty DATA": Attack(_again(frame(DATA, 0, 3)), 1001, "empty DATA", opening(3, end=False)),
    "padding alone": Attack(
        _again(frame(DATA, PADDED, 3, b"\xff" + b"\0" * 255)), 1001, "empty DATA", opening(3, end=False)
    ),
    "empty DATA on a stream that is over": Attack(_again(frame(DATA, 0, 3)), 1001, "empty DATA", _RESET_BY_US),
    "PRIORITY": Attack(_counted(lambda n: frame(PRIORITY, 0, n + 1, b"\0" * 5)), 1001, "PRIORITY"),
    "frames of no known kind": Attack(_again(frame(0xA, 0, 0, b"x")), 16_001, "unknown frames"),
    "GOAWAY": Attack(_again(frame(GOAWAY, 0, 0, b"\0" * 8)), 201, "GOAWAY"),
    "WINDOW_UPDATE of a byte": Attack(_again(frame(WINDOW, 0, 0, four(1))), 4002, "WINDOW_UPDATE"),
    "WINDOW_UPDATE of a byte, on a stream": Attack(
        _again(frame(WINDOW, 0, 3, four(1))), 4002, "WINDOW_UPDATE", opening(3)
    ),
}
"""Frames that ask for nothing."""
CLIENTS = STREAMS | BLOCKS | CHEAP

_ASKED = 100
UPSTREAMS = {
    "a thousand interim heads on each of its streams": Attack(
        _counted(lambda n: frame(HEADERS, END_HEADERS, 2 * (n % _ASKED) + 1, HINT)), 1001, "interim answers"
    ),
    "interim heads on one stream": Attack(_again(frame(HEADERS, END_HEADERS, 1, HINT)), 31_000, "HEADERS"),
    "pushes": Attack(_counted(lambda n: frame(PUSH, END_HEADERS, 1, four(2 * n + 2) + b"\x82")), 101, "reset"),
    "GOAWAY": Attack(_again(frame(GOAWAY, 0, 0, four(2 * _ASKED) + four(0))), 201, "GOAWAY"),
    "PING": CHEAP["PING"],
    "PING answered unasked": CHEAP["PING answered unasked"],
    "SETTINGS": CHEAP["SETTINGS"],
    "SETTINGS of 101 pairs": CHEAP["SETTINGS of 101 pairs"],
    "SETTINGS nobody knows": CHEAP["SETTINGS nobody knows"],
    "SETTINGS that move all windows": Attack(
        _counted(lambda n: frame(SETTINGS, 0, 0, _setting(4, n))), 201, "SETTINGS"
    ),
    "SETTINGS acknowledged unasked": CHEAP["SETTINGS acknowledged unasked"],
    "empty DATA": Attack(_again(frame(DATA, 0, 1)), 1001, "empty DATA", HEAD),
    "padding alone": Attack(_again(frame(DATA, PADDED, 1, b"\xff" + b"\0" * 255)), 1001, "empty DATA", HEAD),
    "PRIORITY": CHEAP["PRIORITY"],
    "frames of no known kind": CHEAP["frames of no known kind"],
    "WINDOW_UPDATE of a byte": CHEAP["WINDOW_UPDATE of a byte"],
    "RST_STREAM of a stream that is reset": Attack(
        _again(frame(RST, 0, 1, four(8))), 101, "RST_STREAM", frame(RST, 0, 1, four(8))
    ),
    "a block without end": Attack(_again(frame(CONTINUATION, 0, 1)), 65, "CONTINUATION", frame(HEADERS, 0, 1, b"\x88")),
    "a field of 4 kB 3,000 times": Attack(
        _one(frame(HEADERS, END_HEADERS, 1, b"\x88\x40\x01x\x7f\xa1\x1e" + b"v" * 4000 + b"\xbe" * 3000)), 1, "HEADERS"
    ),
    "blocks behind a stream's end": Attack(
        _again(frame(HEADERS, END_HEADERS, 1, b"\xbe" * 2900)),
        6,
        "HEADERS",
        frame(HEADERS, END_HEADERS, 1, b"\x88\x40\x01x\x01y") + frame(WINDOW, 0, 1, four(0)),
    ),
}
"""By an upstream, which has been asked on a hundred streams."""
ASKED = _ASKED
BEFORE_OUR_SETTINGS = frozenset({"pushes"})
"""Possible only as long as it has not acknowledged ours."""
