"""How a gRPC status is written: its names, its fields, the frame that holds them in gRPC-Web.

The fields are those of gRPC over HTTP/2 ("Responses"); the frame is that of PROTOCOL-WEB. The details are a
`google.rpc.Status` with one `DebugInfo`, written by hand: two messages of three fields are no reason for a library.
Must not know: when a status is sent.
"""

import base64
from typing import Annotated, Literal, get_args

from chaosproxy.model.headers import Headers, first
from chaosproxy.model.messages import RequestHead, ResponseHead
from chaosproxy.model.units import Within

CodeName = Literal[
    "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
    "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
    "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
]  # fmt: skip
Code = CodeName | Annotated[int, Within(0, 2**31 - 1)]
NAMES: tuple[CodeName, ...] = get_args(CodeName)

_DEBUG_INFO = b"type.googleapis.com/google.rpc.DebugInfo"
_PLAIN = frozenset(range(0x20, 0x7F)) - {ord("%")}


def number_of(code: Code) -> int:
    """The code as it stands on the wire."""
    return code if isinstance(code, int) else NAMES.index(code)


def name_of(code: Code) -> str:
    """The code for a person; one that has no name is its number."""
    number = number_of(code)
    return NAMES[number] if number < len(NAMES) else str(number)


def status_fields(code: Code, message: str | None, details: str | None) -> Headers:
    """`grpc-status` and, where they are given, `grpc-message` and `grpc-status-details-bin`."""
    number = number_of(code)
    fields: Headers = ((b"grpc-status", b"%d" % number),)
    if message is not None:
        fields = (*fields, (b"grpc-message", _percent_encoded(message)))
    if details is not None:
        status = _status(number, (message or "").encode(), details.encode())
        fields = (*fields, (b"grpc-status-details-bin", base64.b64encode(status).rstrip(b"=")))
    return fields


def web_trailers(fields: Headers) -> bytes:
    """The frame that ends a body of gRPC-Web."""
    block = b"".join(b"%s: %s\r\n" % field for field in fields)
    return b"\x80" + len(block).to_bytes(4, "big") + block


def content_type(head: RequestHead | ResponseHead) -> bytes:
    """The Content-Type, without its parameters."""
    return (first(head.headers, b"content-type") or b"").partition(b";")[0].strip(b" \t").lower()


def is_grpc(kind: bytes) -> bool:
    """Whether a body of this type is one of gRPC, in any of its forms."""
    return kind == b"application/grpc" or kind.startswith((b"application/grpc+", b"application/grpc-web"))


def is_web(kind: bytes) -> bool:
    """Its trailers are a frame of the body."""
    return kind.startswith(b"application/grpc-web")


def is_text(kind: bytes) -> bool:
    """Its body is base64."""
    return kind.startswith(b"application/grpc-web-text")


def _percent_encoded(message: str) -> bytes:
    return b"".join(bytes((byte,)) if byte in _PLAIN else b"%%%02X" % byte for byte in message.encode())


def _status(code: int, message: bytes, detail: bytes) -> bytes:
    debug = _field(2, detail)
    return b"\x08" + _varint(code) + _field(2, message) + _field(3, _field(1, _DEBUG_INFO) + _field(2, debug))


def _field(number: int, value: bytes) -> bytes:
    """A field of bytes, or of a message."""
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
