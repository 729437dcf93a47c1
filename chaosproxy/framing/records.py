"""What a record carries, whatever its kind: its payload, and whether it says that the answer is complete.

Rules: any bytes are taken; nothing raises. A record's raw text is all the bytes since the record before it, so comments
and empty lines may stand in front. Must not know: where records end, what a fault wants of them.
"""

from typing import assert_never, cast

from chaosproxy.framing import grpc, lines, sse
from chaosproxy.framing.splitter import RecordKind
from chaosproxy.model.json_values import parse

_LAST_WORDS = frozenset({"message_stop", "response.completed", "response.failed", "response.incomplete"})
"""Types of the event that ends a stream: Anthropic Messages, OpenAI Responses."""
_LAST_NAMES = frozenset(word.encode() for word in _LAST_WORDS)
_HINTS = (b"message_stop", b"response.", b'"done"')


def payload(kind: RecordKind, raw: bytes) -> bytes | None:
    """What a record carries: the `data` lines joined by LF, the line, the message; None = `raw` holds no record."""
    match kind:
        case "sse":
            return sse.parse(raw).data
        case "lines":
            return lines.content(raw)
        case "grpc":
            return grpc.message(raw)
        case "chunks":
            return raw or None
        case _:
            assert_never(kind)


def terminal(kind: RecordKind, raw: bytes) -> bool:
    """Whether it ends the answer: `[DONE]`, `message_stop`, `response.completed|failed|incomplete`, `"done": true`, the
    trailers of gRPC-Web. (A finish_reason does not: usage may follow it. The trailers of gRPC are no record.)"""
    if kind == "grpc":
        return grpc.is_trailers(raw)
    if kind == "sse":
        event = sse.parse(raw)
        carried = event.data
        if carried is not None and event.event in _LAST_NAMES:
            return True
    else:
        carried = payload(kind, raw)
    if carried is None:
        return False
    if carried.strip() == b"[DONE]":
        return True
    if not any(hint in carried for hint in _HINTS):
        return False  # most records: spare the parser
    document = parse(carried)
    if not isinstance(document, dict):
        return False
    members = cast("dict[str, object]", document)
    kind_of_event = members.get("type")
    return members.get("done") is True or (isinstance(kind_of_event, str) and kind_of_event in _LAST_WORDS)
