"""Records of one's own, as bytes: events, comments, lines, messages, as a server writes them, and as long as one likes.

Rules: lines end in LF. Filled up, a thing is exactly so long, unless it was longer. Must not know: where it is put.
"""

import json
from dataclasses import dataclass
from typing import cast

_FILLER = "filler"
_PREFIX = 5
"""Bytes in front of a gRPC message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFields:
    """An event of a stream, field by field; without `data` it is none to those who read by the standard."""

    event: str | None = None
    data: object = None
    id: str | None = None
    retry: int | None = None

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        """What cannot be written, by key."""
        found: list[tuple[tuple[str, ...], str]] = [
            ((key,), words) for key, text in (("event", self.event), ("id", self.id)) if (words := one_line(text or ""))
        ]
        if self == EventFields():
            found.append(((), "an event of nothing; expected event, data, id or retry"))
        if self.retry is not None and self.retry < 0:
            found.append((("retry",), "expected milliseconds, 0 or more"))
        return found


def one_line(text: str) -> str:
    """Why it is not one line; empty if it is."""
    return "expected one line; a line end would begin another" if "\n" in text or "\r" in text else ""


def event_block(event: str | EventFields, size: int = 0) -> bytes:
    """With its blank line."""
    given = EventFields(data=event) if isinstance(event, str) else event
    fields: list[tuple[str, str]] = []
    if given.event is not None:
        fields.append(("event", given.event))
    if given.id is not None:
        fields.append(("id", given.id))
    if given.retry is not None:
        fields.append(("retry", str(given.retry)))
    if given.data is not None:
        text = given.data if isinstance(given.data, str) else _dumped(given.data)
        fields += [("data", line) for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    elif size:
        fields.append(("data", ""))
    raw = b"".join(f"{name}: {value}\n".encode() for name, value in fields)
    return raw[:-1].ljust(max(0, size - 2), b"x") + b"\n\n"


def event_line(event: str | EventFields) -> bytes:
    """What an event says, as a line of a body of lines."""
    data = event if isinstance(event, str) else event.data
    return (data if isinstance(data, str) else _dumped(data)).encode() + b"\n"


def comment_lines(comment: str, size: int = 0) -> bytes:
    """Without a blank line behind it."""
    lines = comment.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    raw = b"".join(f": {line}\n".encode() for line in lines)
    return raw[:-1].ljust(max(0, size - 1), b"x") + b"\n"


def json_text(value: object, size: int = 0, *, events: bool) -> bytes:
    """A JSON value as an event, or as a line."""
    text = _dumped(value)
    frame = len("data: \n\n") if events else len("\n")
    if size and isinstance(value, dict):
        members = cast("dict[str, object]", value)
        empty = _dumped({**members, _FILLER: ""})
        text = _dumped({**members, _FILLER: "x" * max(0, size - frame - len(empty.encode()))})
    return event_block(text) if events else text.encode() + b"\n"


def message_frame(message: bytes, size: int = 0) -> bytes:
    """A gRPC message, not compressed."""
    message = message.ljust(max(0, size - _PREFIX), b"x")
    return b"\0" + len(message).to_bytes(4, "big") + message


def _dumped(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
