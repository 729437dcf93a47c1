"""What an HTTP/2 upstream may do wrong: frames that cost its connection, answers that cost one stream, and what is allowed.

A case is for an upstream that has greeted and has been asked for something on stream 1; `answering` begins its answer.
"""

from collections.abc import Callable
from typing import Any

from chaosproxy.http2.frames import ACK, END_HEADERS, END_STREAM, HAS_PRIORITY, PADDED, frame
from chaosproxy.model import codes
from tests.security.h2_frames import (
    CONTINUATION,
    DATA,
    GOAWAY,
    HEADERS,
    OK,
    PING,
    PRIORITY,
    PUSH,
    RST,
    SETTINGS,
    WINDOW,
    four,
    setting,
)

P, S, F, W, C = (
    codes.PROTOCOL_ERROR,
    codes.STREAM_CLOSED,
    codes.FRAME_SIZE_ERROR,
    codes.FLOW_CONTROL_ERROR,
    codes.COMPRESSION_ERROR,
)
Frames = Callable[[Any], bytes]


def answering(w: Any) -> bytes:
    said: bytes = w.headers(1, OK)
    return said


def answered(w: Any) -> bytes:
    said: bytes = w.headers(1, OK, end=True)
    return said


def begun(w: Any) -> bytes:
    said: bytes = w.headers(1, OK, flags=0)
    return said


def _block(block: bytes) -> Frames:
    return lambda _: frame(HEADERS, END_HEADERS, 1, block)


FALL: dict[str, tuple[Frames, int]] = {
    "DATA too long": (lambda w: answering(w) + frame(DATA, 0, 1, b"x" * 16_385), F),
    "HEADERS too long": (lambda _: frame(HEADERS, END_HEADERS, 1, b"x" * 16_385), F),
    "PRIORITY inside a block": (lambda w: begun(w) + frame(PRIORITY, 0, 1, b"\0" * 5), P),
    "DATA inside a block": (lambda w: begun(w) + frame(DATA, 0, 1, b"x"), P),
    "an unknown frame inside a block": (lambda w: begun(w) + frame(0x16, 0, 0), P),
    "HEADERS of another inside a block": (lambda w: begun(w) + w.headers(3, OK), P),
    "DATA on a stream nobody asked": (lambda _: frame(DATA, 0, 9, b"x"), P),
    "HEADERS on a stream nobody asked": (lambda w: w.headers(9, OK), P),
    "HEADERS on an even stream": (lambda w: w.headers(2, OK), P),
    "RST_STREAM on a stream nobody asked": (lambda _: frame(RST, 0, 9, four(8)), P),
    "WINDOW_UPDATE on a stream nobody asked": (lambda _: frame(WINDOW, 0, 9, four(1)), P),
    "CONTINUATION of nothing": (lambda _: frame(CONTINUATION, END_HEADERS, 1), P),
    "CONTINUATION behind the last": (lambda w: answering(w) + frame(CONTINUATION, END_HEADERS, 1), P),
    "CONTINUATION of another": (lambda w: begun(w) + frame(CONTINUATION, END_HEADERS, 3), P),
    "CONTINUATION on 0": (lambda w: begun(w) + frame(CONTINUATION, END_HEADERS, 0), P),
    "DATA behind the end": (lambda w: answered(w) + w.data(1, b"x"), S),
    "HEADERS behind the end": (lambda w: answered(w) + w.headers(1, OK), S),
    "DATA on 0": (lambda _: frame(DATA, 0, 0, b"x"), P),
    "HEADERS on 0": (lambda _: frame(HEADERS, END_HEADERS, 0, b"\x88"), P),
    "PRIORITY on 0": (lambda _: frame(PRIORITY, 0, 0, b"\0" * 5), P),
    "RST_STREAM on 0": (lambda _: frame(RST, 0, 0, four(8)), P),
    "RST_STREAM of 3 bytes": (lambda _: frame(RST, 0, 1, b"\0\0\0"), F),
    "padding of DATA": (lambda w: answering(w) + frame(DATA, PADDED, 1, b"\x06abcde"), P),
    "padding of HEADERS": (lambda _: frame(HEADERS, END_HEADERS | PADDED, 1, b"\x09\x88"), P),
    "no room for a priority": (lambda _: frame(HEADERS, END_HEADERS | HAS_PRIORITY, 1, b"\0\0\0\0"), F),
    "SETTINGS ACK with payload": (lambda _: frame(SETTINGS, ACK, 0, b"\0" * 6), F),
    "SETTINGS on a stream": (lambda _: frame(SETTINGS, 0, 1, b"\0" * 6), P),
    "SETTINGS of 3 bytes": (lambda _: frame(SETTINGS, 0, 0, b"\0" * 3), F),
    "ENABLE_PUSH 1": (lambda _: setting(2, 1), P),
    "ENABLE_PUSH 2": (lambda _: setting(2, 2), P),
    "INITIAL_WINDOW_SIZE 2^31": (lambda _: setting(4, 2**31), W),
    "MAX_FRAME_SIZE too low": (lambda _: setting(5, 16_383), P),
    "MAX_FRAME_SIZE too high": (lambda _: setting(5, 2**24), P),
    "PUSH_PROMISE": (lambda _: frame(PUSH, END_HEADERS, 1, four(2) + b"\x82"), P),
    "PING of 6 bytes": (lambda _: frame(PING, 0, 0, b"123456"), F),
    "PING on a stream": (lambda _: frame(PING, 0, 1, b"12345678"), P),
    "GOAWAY of 7 bytes": (lambda _: frame(GOAWAY, 0, 0, b"\0" * 7), F),
    "GOAWAY on a stream": (lambda _: frame(GOAWAY, 0, 1, b"\0" * 8), P),
    "WINDOW_UPDATE of 0": (lambda _: frame(WINDOW, 0, 0, four(0)), P),
    "WINDOW_UPDATE of 3 bytes": (lambda _: frame(WINDOW, 0, 0, b"\0" * 3), F),
    "the connection's window beyond 2^31-1": (lambda _: frame(WINDOW, 0, 0, four(2**31 - 1)), W),
    "compression: a bad index": (_block(b"\xff\x70"), C),
    "compression: a bad name": (_block(b"\x7f\x70\x01a"), C),
    "compression: a size update at the end": (_block(b"\x88\x20"), C),
    "compression: three size updates": (_block(b"\x20\x20\x20\x88"), C),
    "compression: a size update above the limit": (_block(b"\x3f\xe2\x1f\x88"), C),
    "compression: index 0": (_block(b"\x80"), C),
    "compression: padding over 7 bits": (_block(b"\x88\x40\x01x\x82\x1f\xff"), C),
    "compression: padding of zeros": (_block(b"\x88\x40\x01x\x81\x18"), C),
    "compression: EOS": (_block(b"\x88\x40\x01x\x84\xff\xff\xff\xff"), C),
    "compression: cut short": (_block(b"\x88\x40\x05x"), C),
}
"""Its connection falls, with this code."""

_VALUES = (b"a\rb", b"a\nb", b"a\0b", b"a\r\nset-cookie: b")
_NAMES = (b"", b"a b", b"a\r\nb", b"a\0", b"\xe9", b"a:b", b"X-A")
_STATUSES = (b"", b"20", b"2000", b"2x0", b"099", b"600", b"101", b" 200", b"+20", b"200 OK\r\nx: y")
_LENGTHS = (b"+1", b"-1", b"1_0", b"", b"0x1", b"9223372036854775808", b"1, 2")
MALFORMED = {
    "no status": ((b"x", b"y"),),
    "a status twice": (*OK, *OK),
    "a request's pseudo field": (*OK, (b":path", b"/")),
    "an unknown pseudo field": (*OK, (b":x", b"1")),
    "a pseudo field behind a field": ((b"x", b"y"), *OK),
    "connection": (*OK, (b"connection", b"close")),
    "keep-alive": (*OK, (b"keep-alive", b"1")),
    "transfer-encoding": (*OK, (b"transfer-encoding", b"chunked")),
    "upgrade": (*OK, (b"upgrade", b"h2c")),
    "proxy-connection": (*OK, (b"proxy-connection", b"x")),
    "two lengths": (*OK, (b"content-length", b"1"), (b"content-length", b"2")),
    **{f"status {value!r}": ((b":status", value),) for value in _STATUSES if value != b" 200"},
    **{f"value {value!r}": (*OK, (b"x", value)) for value in _VALUES},
    **{f"name {name!r}": (*OK, (name, b"1")) for name in _NAMES},
    **{f"content-length {value!r}": (*OK, (b"content-length", value)) for value in _LENGTHS},
    "more fields than a head may have": (*OK, *[(b"x", b"y")] * 201),
}
RESET: dict[str, tuple[Frames, int]] = {
    **{f"head: {name}": (lambda w, fields=fields: w.headers(1, fields), P) for name, fields in MALFORMED.items()},
    "DATA before the head": (lambda w: w.data(1, b"x"), P),
    "DATA beyond content-length": (lambda w: w.headers(1, (*OK, (b"content-length", b"1"))) + w.data(1, b"xy"), P),
    "DATA short of content-length": (
        lambda w: w.headers(1, (*OK, (b"content-length", b"3"))) + w.data(1, b"xy", end=True),
        P,
    ),
    "content-length and no DATA": (lambda w: w.headers(1, (*OK, (b"content-length", b"3")), end=True), P),
    "DATA in a 204": (lambda w: w.headers(1, ((b":status", b"204"),)) + w.data(1, b"x"), P),
    "DATA in a 304": (lambda w: w.headers(1, ((b":status", b"304"),)) + w.data(1, b"x"), P),
    "a second head": (lambda w: answering(w) + w.headers(1, OK), P),
    "an interim head behind the head": (lambda w: answering(w) + w.headers(1, ((b":status", b"103"),)), P),
    "an interim head that ends": (lambda w: w.headers(1, ((b":status", b"103"),), end=True), P),
    "33 interim heads": (lambda w: b"".join([w.headers(1, ((b":status", b"103"),))] * 33), codes.ENHANCE_YOUR_CALM),
    "pseudo fields in trailers": (lambda w: answering(w) + w.headers(1, OK, end=True), P),
    "a line end in trailers": (lambda w: answering(w) + w.headers(1, ((b"x", b"a\r\nb"),), end=True), P),
    "WINDOW_UPDATE of 0": (lambda _: frame(WINDOW, 0, 1, four(0)), P),
    "its window beyond 2^31-1": (lambda _: frame(WINDOW, 0, 1, four(2**31 - 1)), W),
    "PRIORITY of 4 bytes": (lambda _: frame(PRIORITY, 0, 1, b"\0" * 4), F),
    "more than our window": (lambda w: answering(w) + frame(DATA, 0, 1, b"x" * 13_108) * 20, W),
}
"""One stream falls, with this code."""

TAKEN: dict[str, Frames] = {
    "an unknown kind": lambda _: frame(0x16, 0xFF, 0, b"x" * 8),
    "an unknown setting": lambda _: setting(0x99, 1),
    "ENABLE_PUSH 0": lambda _: setting(2, 0),
    "a table of 2^32-1": lambda _: setting(1, 2**32 - 1),
    "no table": lambda _: setting(1, 0),
    "PRIORITY": lambda _: frame(PRIORITY, 0, 1, four(1) + b"\x10"),
    "PRIORITY of an idle stream": lambda _: frame(PRIORITY, 0, 9, four(1) + b"\x10"),
    "PING ACK": lambda _: frame(PING, ACK, 0, b"12345678"),
    "GOAWAY that spares it": lambda _: frame(GOAWAY, 0, 0, four(2**31 - 1) + four(0)),
    "GOAWAY with an unknown code": lambda _: frame(GOAWAY, 0, 0, four(2**31 - 1) + four(0xFF)),
    "interim heads": lambda w: b"".join([w.headers(1, ((b":status", b"103"), (b"link", b"x")))] * 32),
    "the largest windows": lambda _: (
        frame(WINDOW, 0, 0, four(2**31 - 65_536)) + frame(WINDOW, 0, 1, four(2**31 - 65_536))
    ),
}
"""What comes before a whole answer and changes nothing about it."""
ANSWERS: dict[str, Frames] = {
    "DATA and trailers": lambda w: answering(w) + w.data(1, b"ok") + w.headers(1, ((b"sum", b"1"),), end=True),
    "padding": lambda w: answering(w) + frame(DATA, PADDED | END_STREAM, 1, b"\x03ok\0\0\0"),
    "a block in pieces": lambda w: begun(w) + frame(CONTINUATION, END_HEADERS, 1) + w.data(1, b"ok", end=True),
    "an empty frame at the end": lambda w: answering(w) + w.data(1, b"ok") + w.data(1, b"", end=True),
    "equal lengths": lambda w: w.headers(1, (*OK, *[(b"content-length", b"2")] * 2)) + w.data(1, b"ok", end=True),
}
"""Whole, with `ok` as the body."""
