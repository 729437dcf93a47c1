"""What h2spec asks of an HTTP/2 server, by its numbers: 95 cases of frames and messages, 8 of compression.

The numbers are those of RFC 7540, as there; what is required is RFC 9113 and RFC 7541, where PRIORITY is ignored. A case
that `tests/http2/test_h2_conformance.py` has is named as there, and its frames are taken from there.
"""

from collections.abc import Callable
from typing import Any

from chaosproxy.http2.frames import END_HEADERS, END_STREAM, HAS_PRIORITY, PADDED, frame
from tests.http2.test_h2_conformance import CONNECTION, NOTHING, STREAM, half_closed, opened
from tests.security.h2_frames import CONTINUATION, GET, HEADERS, PING, POST, four, setting

Frames = Callable[[Any], bytes]
"""Of whoever can say `headers` and `data`."""

VERDICTS = {
    "4.1/1": "4.1 unknown kind",
    "4.1/3": "4.1 reserved bit",
    "4.2/2": "4.2 DATA too long",
    "4.2/3": "4.2 HEADERS too long",
    "4.3/1": "4.3 broken block",
    "4.3/2": "4.3 PRIORITY inside a block",
    "4.3/3": "4.3 HEADERS of another inside a block",
    "5.1/1": "5.1 idle DATA",
    "5.1/2": "5.1 idle RST_STREAM",
    "5.1/3": "5.1 idle WINDOW_UPDATE",
    "5.1/4": "5.1 idle CONTINUATION",
    "5.1/5": "5.1 half-closed DATA",
    "5.1/6": "5.1 half-closed HEADERS",
    "5.1/7": "5.1 half-closed CONTINUATION",
    "5.1/8": "5.1 after RST_STREAM DATA",
    "5.1/9": "5.1 after RST_STREAM HEADERS",
    "5.1.1/1": "5.1.1 even id",
    "5.1.1/2": "5.1.1 id going down",
    "5.3.1/2": "5.3.2 PRIORITY on itself",
    "5.4.1/1": "5.4.1 bad PING",
    "5.4.1/2": "5.4.1 bad PING",
    "5.5/1": "4.1 unknown kind",
    "5.5/2": "5.5 unknown frame inside a block",
    "6.1/1": "6.1 DATA on 0",
    "6.1/2": "5.1 half-closed DATA",
    "6.1/3": "6.1 padding",
    "6.2/1": "4.3 PRIORITY inside a block",
    "6.2/2": "4.3 HEADERS of another inside a block",
    "6.2/3": "6.2 HEADERS on 0",
    "6.2/4": "6.2 padding",
    "6.3/1": "6.3 PRIORITY on 0",
    "6.3/2": "6.3 PRIORITY of 4 bytes",
    "6.4/1": "6.4 RST_STREAM on 0",
    "6.4/2": "5.1 idle RST_STREAM",
    "6.4/3": "6.4 RST_STREAM of 3 bytes",
    "6.5/1": "6.5 SETTINGS ACK with payload",
    "6.5/2": "6.5 SETTINGS on a stream",
    "6.5/3": "6.5 SETTINGS of 3 bytes",
    "6.5.2/1": "6.5.2 ENABLE_PUSH 2",
    "6.5.2/2": "6.5.2 INITIAL_WINDOW_SIZE 2^31",
    "6.5.2/3": "6.5.2 MAX_FRAME_SIZE too low",
    "6.5.2/4": "6.5.2 MAX_FRAME_SIZE too high",
    "6.5.2/5": "6.5.2 unknown setting",
    "6.7/2": "6.7 PING ACK",
    "6.7/3": "6.7 PING on a stream",
    "6.7/4": "5.4.1 bad PING",
    "6.8/1": "6.8 GOAWAY on a stream",
    "6.9/1": "6.9 WINDOW_UPDATE 0",
    "6.9/2": "stream 6.9 WINDOW_UPDATE 0",
    "6.9/3": "6.9 WINDOW_UPDATE of 3 bytes",
    "6.9.1/2": "6.9.1 connection window",
    "6.9.1/3": "6.9.1 stream window",
    "6.9.2/3": "6.5.2 INITIAL_WINDOW_SIZE 2^31",
    "6.10/2": "6.10 other frame between",
    "6.10/3": "6.10 CONTINUATION on 0",
    "6.10/4": "6.10 CONTINUATION after END_HEADERS",
    "6.10/5": "6.10 CONTINUATION after the last",
    "6.10/6": "6.10 CONTINUATION after DATA",
    "7/1": "6.8 GOAWAY with an unknown code",
    "8.1/1": "8.1 second head",
    "8.1.2/1": "8.2.1 upper-case name",
    "8.1.2.1/1": "8.3 unknown pseudo",
    "8.1.2.1/2": "8.3 response pseudo",
    "8.1.2.1/3": "8.1 pseudo in trailers",
    "8.1.2.1/4": "8.3 pseudo behind a field",
    "8.1.2.2/1": "8.2.2 connection",
    "8.1.2.2/2": "8.2.2 te",
    "8.1.2.3/1": "8.3.1 empty path",
    "8.1.2.3/2": "8.3.1 no method",
    "8.1.2.3/3": "8.3.1 no scheme",
    "8.1.2.3/4": "8.3.1 no path",
    "8.1.2.3/5": "8.3.1 twice :method",
    "8.1.2.3/6": "8.3.1 twice :scheme",
    "8.1.2.3/7": "8.3.1 twice :path",
    "8.1.2.6/1": "8.1.1 less than the length",
    "8.1.2.6/2": "8.1.1 more than the length",
    "8.2/1": "6.6 PUSH_PROMISE from a client",
    "hpack/2.3.3/1": "hpack 2.3.3 bad index",
    "hpack/2.3.3/2": "hpack 2.3.3 bad name index",
    "hpack/4.2/1": "hpack 4.2 size update at the end",
    "hpack/5.2/1": "hpack 5.2 padding over 7 bits",
    "hpack/5.2/2": "hpack 5.2 zero padding",
    "hpack/5.2/3": "hpack 5.2 EOS",
    "hpack/6.1/1": "hpack 6.1 index 0",
    "hpack/6.3/1": "hpack 6.3 size update above the limit",
}
"""Those that end in a verdict: the connection falls, the stream, or nothing. The others are functions in `test_h2_listed.py`."""

FALL: dict[str, tuple[Frames, int]] = {name: (frames, code) for name, frames, code in CONNECTION}
RESET: dict[str, tuple[Frames, int]] = {
    f"stream {name}" if name in FALL else name: (frames, code) for name, frames, code in STREAM
}
TAKEN: dict[str, Frames] = dict(NOTHING)


def _request(flags: int, before: bytes = b"", behind: bytes = b"") -> Frames:
    def frames(w: Any) -> bytes:
        return frame(HEADERS, END_HEADERS | END_STREAM | flags, 1, before + w.encoder.encode(GET) + behind)

    return frames


def _in_pieces(w: Any, *sizes: int) -> bytes:
    """The request's block in so many bytes, and the rest."""
    block = w.encoder.encode(GET)
    parts = [frame(HEADERS, END_STREAM, 1, block[: sizes[0]])]
    at = sizes[0]
    for size in sizes[1:]:
        parts.append(frame(CONTINUATION, 0, 1, block[at : at + size]))
        at += size
    return b"".join([*parts, frame(CONTINUATION, END_HEADERS, 1, block[at:])])


def _upload(*pieces: bytes, last: bytes = b"") -> Frames:
    return lambda w: opened(w) + b"".join([frame(0, 0, 1, piece) for piece in pieces]) + w.data(1, last, end=True)


def _raw(block: bytes) -> Frames:
    """A request whose block is as it stands."""
    return lambda _: frame(HEADERS, END_HEADERS | END_STREAM, 1, block)


_PRIORITY = 2
_PLAIN = b"\x82\x86\x84\x41\x01a"
ACCEPTED: dict[str, Frames] = {
    "nothing else": half_closed,
    "PRIORITY on an idle stream": lambda w: frame(_PRIORITY, 0, 7, four(0) + b"\x10") + half_closed(w),
    "PRIORITY on its own": lambda w: half_closed(w) + frame(_PRIORITY, 0, 1, four(0) + b"\xff"),
    "PRIORITY, exclusive": lambda w: frame(_PRIORITY, 0, 3, four(2**31 + 1) + b"\0") + half_closed(w),
    "WINDOW_UPDATE when it has ended": lambda w: half_closed(w) + frame(8, 0, 1, four(1)),
    "WINDOW_UPDATE of the connection": lambda w: frame(8, 0, 0, four(1)) + half_closed(w),
    "the largest connection window": lambda w: frame(8, 0, 0, four(2**31 - 1 - 65_535)) + half_closed(w),
    "the largest stream window": lambda w: (
        opened(w) + frame(8, 0, 1, four(2**31 - 1 - 65_535)) + w.data(1, b"", end=True)
    ),
    "a body of one frame": _upload(last=b"test"),
    "a body of several": _upload(b"a", b"b", b"c", last=b"d"),
    "the largest frame": _upload(b"x" * 16_384),
    "a body with padding": lambda w: opened(w) + frame(0, PADDED | END_STREAM, 1, b"\x03abc\0\0\0"),
    "a body of padding": lambda w: opened(w) + frame(0, PADDED | END_STREAM, 1, b"\x03\0\0\0"),
    "an empty frame at the end": _upload(b"abc"),
    "an empty body": _upload(),
    "content-length and its body": lambda w: (
        w.headers(1, (*POST, (b"content-length", b"4"))) + w.data(1, b"test", end=True)
    ),
    "content-length 0": lambda w: w.headers(1, (*POST, (b"content-length", b"0")), end=True),
    "padding around a block": _request(PADDED, b"\x02", b"\0\0"),
    "a priority before a block": _request(HAS_PRIORITY, four(0) + b"\xff"),
    "a priority on itself": _request(HAS_PRIORITY, four(1) + b"\x10"),
    "both": _request(PADDED | HAS_PRIORITY, b"\x01" + four(3) + b"\x10", b"\0"),
    "unknown flags": _request(0x40 | 0x80 | 0x10),
    "empty SETTINGS": lambda w: frame(4, 0, 0) + half_closed(w),
    "HEADER_TABLE_SIZE 0": lambda w: setting(1, 0) + half_closed(w),
    "HEADER_TABLE_SIZE 2^32-1": lambda w: setting(1, 2**32 - 1) + half_closed(w),
    "ENABLE_PUSH 1": lambda w: setting(2, 1) + half_closed(w),
    "MAX_CONCURRENT_STREAMS 0": lambda w: setting(3, 0) + half_closed(w),
    "INITIAL_WINDOW_SIZE 2^31-1": lambda w: setting(4, 2**31 - 1) + half_closed(w),
    "INITIAL_WINDOW_SIZE 0, then more": lambda w: setting(4, 0) + half_closed(w) + setting(4, 9),
    "MAX_FRAME_SIZE 16384": lambda w: setting(5, 16_384) + half_closed(w),
    "MAX_FRAME_SIZE 2^24-1": lambda w: setting(5, 2**24 - 1) + half_closed(w),
    "MAX_HEADER_LIST_SIZE 2^32-1": lambda w: setting(6, 2**32 - 1) + half_closed(w),
    "an unknown setting": lambda w: setting(0x99, 1) + half_closed(w),
    "an unknown kind on a stream": lambda w: opened(w) + frame(0x16, 0xFF, 1, b"x" * 100) + w.data(1, b"", end=True),
    "PING": lambda w: frame(PING, 0, 0, b"12345678") + half_closed(w),
    "a block in two frames": lambda w: _in_pieces(w, 3),
    "a block in many": lambda w: _in_pieces(w, *[1] * 10),
    "a block with empty frames": lambda w: _in_pieces(w, 0, 2, 0, 0),
    "HEAD": lambda w: w.headers(1, ((b":method", b"HEAD"), *GET[1:]), end=True),
    "OPTIONS of everything": lambda w: w.headers(1, ((b":method", b"OPTIONS"), *GET[1:3], (b":path", b"*")), end=True),
    "trailers": lambda w: opened(w) + w.data(1, b"x") + w.headers(1, ((b"sum", b"1"),), end=True),
    "trailers and no DATA": lambda w: opened(w) + w.headers(1, ((b"sum", b"1"),), end=True),
    "hpack: from the static table": _raw(_PLAIN),
    "hpack: from the dynamic table": lambda _: frame(
        HEADERS, END_HEADERS | END_STREAM, 1, b"\x82\x86\x84\x41\x01a\x40\x01x\x01y\xbe"
    ),
    "hpack: never indexed": _raw(_PLAIN + b"\x10\x01x\x01y"),
    "hpack: not indexed": _raw(_PLAIN + b"\0\x01x\x01y"),
    "hpack: not indexed, a known name": _raw(_PLAIN + b"\x0f\x2b\x01y"),
    "hpack: Huffman": _raw(b"\x82\x86\x84\x41\x81\x1f\x40\x81\xf3\x01y"),
    "hpack: an empty value": _raw(_PLAIN + b"\x40\x01x\0"),
    "hpack: a size update to 0": _raw(b"\x20" + _PLAIN),
    "hpack: a size update to the limit": _raw(b"\x3f\xe1\x1f" + _PLAIN),
    "hpack: down and up": _raw(b"\x20\x3f\xe1\x1f" + _PLAIN),
    "hpack: a number of more bytes than it needs": _raw(b"\x82\x86\x84\x41\x7f\x80\x00" + b"a" * 127),
}
"""Requests on stream 1 that are to be answered, whatever stands beside them."""
