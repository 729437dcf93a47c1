"""HTTP/2 frames as bytes: their kinds and flags, the rules of form that each must keep, and the few that we write.

Rules: everything here is RFC 9113 sections 4.1 and 6, nothing is remembered. The frames that h2 writes for us (HEADERS,
SETTINGS, acknowledgements) are not here. Must not know: streams, windows, header fields.
"""

from collections.abc import Sequence
from struct import Struct
from typing import Final

from hyperframe.frame import GoAwayFrame, SettingsFrame

from chaosproxy.http2.mistakes import ConnectionFault
from chaosproxy.model.codes import FRAME_SIZE_ERROR, PROTOCOL_ERROR

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
"""What a client says first (section 3.4)."""
HEADER: Final = Struct(">LBL")
"""Length and kind (the lowest 8 bits) in one number, flags, stream, whose top bit is reserved (section 4.1)."""
HEADER_SIZE: Final = 9
STREAM_MASK: Final = 0x7FFFFFFF
LARGEST_WINDOW: Final = 2**31 - 1
SMALLEST_MAX_FRAME: Final = 16_384

DATA: Final = 0
HEADERS: Final = 1
PRIORITY: Final = 2
RST_STREAM: Final = 3
SETTINGS: Final = 4
PUSH_PROMISE: Final = 5
PING: Final = 6
GOAWAY: Final = 7
WINDOW_UPDATE: Final = 8
CONTINUATION: Final = 9

HEADER_TABLE_SIZE: Final = 1
MAX_CONCURRENT_STREAMS: Final = 3
INITIAL_WINDOW_SIZE: Final = 4
MAX_FRAME_SIZE: Final = 5

ACK: Final = 0x1
END_STREAM: Final = 0x1
END_HEADERS: Final = 0x4
PADDED: Final = 0x8
HAS_PRIORITY: Final = 0x20

_NAMES: Final = (
    "DATA",
    "HEADERS",
    "PRIORITY",
    "RST_STREAM",
    "SETTINGS",
    "PUSH_PROMISE",
    "PING",
    "GOAWAY",
    "WINDOW_UPDATE",
    "CONTINUATION",
)
_ON_STREAM: Final = frozenset({DATA, HEADERS, PRIORITY, RST_STREAM, PUSH_PROMISE, CONTINUATION})
_ON_CONNECTION: Final = frozenset({SETTINGS, PING, GOAWAY})
_SIZES: Final = {RST_STREAM: 4, PING: 8, WINDOW_UPDATE: 4}
_FOUR: Final = Struct(">L")


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """One frame, whole."""
    return HEADER.pack(len(payload) << 8 | kind, flags, stream) + payload


def reset(stream: int, code: int) -> bytes:
    """RST_STREAM (section 6.4)."""
    return HEADER.pack(4 << 8 | RST_STREAM, 0, stream) + _FOUR.pack(code)


def window_update(stream: int, increment: int) -> bytes:
    """WINDOW_UPDATE (section 6.9); stream 0 is the connection."""
    return HEADER.pack(4 << 8 | WINDOW_UPDATE, 0, stream) + _FOUR.pack(increment)


def goaway(code: int, last: int, debug: bytes = b"") -> bytes:
    """GOAWAY (section 6.8). h2 would take its connection for closed once it had written one, so it never does."""
    return GoAwayFrame(0, last, code, additional_data=debug).serialize()


def brief(detail: str) -> bytes:
    """One line of ours as debug data of a GOAWAY."""
    return detail.encode("ascii", "replace")[:200]


def settings(pairs: Sequence[tuple[int, int]]) -> bytes:
    """SETTINGS (section 6.5) behind the first, which h2 writes; values as they stand, also those that it would refuse."""
    return SettingsFrame(0, dict(pairs)).serialize()


def number(payload: bytes) -> int:
    """The 32 bits that RST_STREAM, WINDOW_UPDATE and GOAWAY begin with."""
    return int.from_bytes(payload[:4], "big")


def check_form(kind: int, flags: int, stream: int, size: int) -> None:
    """What a frame's header alone must keep. ConnectionFault where it does not."""
    name = _NAMES[kind] if kind < len(_NAMES) else ""
    if stream == 0 and kind in _ON_STREAM:  # sections 6.1 to 6.4, 6.6, 6.10
        raise ConnectionFault(PROTOCOL_ERROR, f"{name} on stream 0")
    if stream and kind in _ON_CONNECTION:  # sections 6.5, 6.7, 6.8
        raise ConnectionFault(PROTOCOL_ERROR, f"{name} on stream {stream}")
    exact = _SIZES.get(kind)
    wrong = exact is not None and size != exact  # sections 6.4, 6.7, 6.9
    if kind == SETTINGS:  # section 6.5: pairs of six bytes, and an acknowledgement is empty
        wrong = size % 6 != 0 or bool(flags & ACK and size)
    elif kind == GOAWAY:  # section 6.8
        wrong = size < 8
    if wrong:
        raise ConnectionFault(FRAME_SIZE_ERROR, f"{name} of {size} bytes")


def without_padding(flags: int, payload: bytes) -> bytes:
    """The payload of a DATA, HEADERS or PUSH_PROMISE frame without what PADDED adds (sections 6.1, 6.2, 6.6)."""
    if not flags & PADDED:
        return payload
    if not payload:
        raise ConnectionFault(FRAME_SIZE_ERROR, "padded frame without a pad length")
    if payload[0] >= len(payload):
        raise ConnectionFault(PROTOCOL_ERROR, "padding longer than its frame")
    return payload[1 : len(payload) - payload[0]]
