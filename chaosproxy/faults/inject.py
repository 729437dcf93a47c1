"""`inject`: something stands in the stream that the answer does not hold.

Imitates a gateway's keep-alives and priming events, a filter's own records between those of the model, a byte order mark
that an editor has left, an event that is longer than any reader's buffer. Most of it is allowed; clients break all the
same.
"""

from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.chain.fault import Context, Fault, FaultSpec, register
from chaosproxy.faults.octets import Octets, octets, octets_problem
from chaosproxy.faults.putting import Putting, outside_of_a_body
from chaosproxy.faults.written import EventFields, comment_lines, event_block, json_text, message_frame, one_line
from chaosproxy.framing.seam import Seam
from chaosproxy.framing.splitter import RecordKind
from chaosproxy.model.messages import Data
from chaosproxy.model.units import Size, show_size
from chaosproxy.model.vocabulary import Way

MOST = 64 * 1024 * 1024
_WHAT = ("event", "comment", "bytes", "json", "line", "message")
_BODIES: dict[str, tuple[RecordKind, ...]] = {
    "event": ("sse",),
    "comment": ("sse",),
    "json": ("sse", "lines"),
    "line": ("lines",),
    "message": ("grpc",),
}
"""What can stand in which bodies; `bytes` in any."""
_FILLED: dict[RecordKind | None, str] = {"sse": "event", "lines": "line", "grpc": "message"}
"""What a size alone makes."""
_ONE = {"event": "an event", "comment": "a comment", "json": "a JSON value", "line": "a line", "message": "a message"}


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Inject(FaultSpec):
    """Puts something into the body, at one place or again and again. At a time, a silence or a chunk that falls into a
    record it waits for the end of that; `bytes` never wait."""

    name: ClassVar[str] = "inject"
    main: ClassVar[str | None] = "event"
    has_at: ClassVar[bool] = True
    ways: ClassVar[frozenset[Way]] = frozenset(Way)
    edits_body: ClassVar[bool] = True

    event: str | EventFields | None = None
    """An event of a stream: its data as text, or a mapping of `event`, `data`, `id` and `retry`. Data that is no text is
    written as JSON; a line feed begins another `data:` line."""
    comment: str | None = None
    """A comment of an event stream (`: text`). Inside of an event it is a line of that."""
    bytes: Octets | None = None
    """Bytes as they stand, in any body, coded or not: text, or `{hex: "ef bb bf"}`."""
    json: object = None
    """A JSON value: an event's data, or a line."""
    line: str | None = None
    """A line, in a body of lines."""
    message: Octets | None = None
    """A gRPC message; its prefix is put in front."""
    size: Size | None = None
    """How long it is at least, at most 64MiB: what it says is filled up with `x` (`json`: in a member `filler`). Without
    any of the others an event, line or message of that size, in any other body bytes."""

    @property
    def given(self) -> str:
        """Which of the forms it is; `size` where it is that alone."""
        return next((key for key in _WHAT if getattr(self, key) is not None), "size")

    @property
    def reads_records(self) -> bool:
        return self.given != "bytes" or (self.at is not None and self.at.reads_records)

    @property
    def needs_records(self) -> bool:
        return self.given not in ("bytes", "size") or (self.at is not None and self.at.reads_records)

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        given = [key for key in _WHAT if getattr(self, key) is not None]
        found = [*outside_of_a_body(self.at), *octets_problem("bytes", self.bytes)]
        if self.message != b"":  # an empty one is legal
            found += octets_problem("message", self.message)
        if len(given) > 1:
            found.append(((given[1],), f"beside `{given[0]}`; expected exactly one of {', '.join(_WHAT)}"))
        if not given and self.size is None:
            found.append(((), f"nothing to put in; expected one of {', '.join(_WHAT)}, or a size"))
        if self.size is not None and not 0 < self.size <= MOST:
            found.append((("size",), f"expected a size from 1 to {show_size(MOST)}"))
        if self.size is not None and self.json is not None and not isinstance(self.json, dict):
            found.append((("size",), "only a JSON object can be filled up, by a member `filler`"))
        if isinstance(self.event, EventFields):
            found += [(("event", *path), words) for path, words in self.event.problems()]
        if self.line is not None and one_line(self.line):
            found.append((("line",), one_line(self.line)))
        return found

    def start(self, context: Context) -> Fault:
        return RunningInject(self, context)


class RunningInject(Putting):
    """What is put in is made once."""

    def __init__(self, spec: Inject, context: Context) -> None:
        super().__init__(spec.trigger, context)
        self._spec = spec
        self._form = spec.given
        self._raw = b""

    @property
    def tears(self) -> bool:
        return self._form == "bytes"

    def suits(self, family: RecordKind | None) -> bool:
        if self._form == "size":
            self._form = _FILLED.get(family, "bytes")
        if self._form != "bytes" and family not in _BODIES[self._form]:
            return False
        self._raw = written(self._spec, self._form, family)
        return True

    @property
    def what(self) -> str:
        length = len(self._raw) + (self._form == "comment")
        size = f" of {length} bytes" if self._spec.size is not None else ""
        return f"put in {_ONE.get(self._form, self._form)}{size}"

    def put(self, seam: Seam | None) -> Data:
        if seam is None:
            return Data(self._raw + (b"\n" if self._form == "comment" else b""))
        match self._form:
            case "bytes":
                return seam.put(self._raw)
            case "comment":
                return seam.beside(self._raw)
            case _:
                return seam.joined(self._raw)


def written(spec: Inject, form: str, family: RecordKind | None) -> bytes:
    """What is put in, as bytes; filled up to the size."""
    size = spec.size or 0
    match form:
        case "event":
            return event_block(spec.event if spec.event is not None else "", size)
        case "comment":
            return comment_lines(spec.comment or "", size - 1)
        case "json":
            return json_text(spec.json, size, events=family == "sse")
        case "line":
            line = (spec.line or "").encode()
            return line.ljust(max(0, size - 1), b"x") + b"\n"
        case "message":
            return message_frame(octets(spec.message or b""), size)
        case _:
            return octets(spec.bytes or b"").ljust(size, b"x")
