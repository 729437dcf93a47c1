"""`strip`: the machine swallows parts of the answer that nobody seems to miss.

Imitates a gateway that drops the usage chunk it did not ask for, a proxy without trailers, a framework that ends its
stream without `[DONE]`, a converter that keeps only the data of an event.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from chaosproxy.chain.actions import FOREVER, WAKE, Actions, Note
from chaosproxy.chain.editing import Editing
from chaosproxy.chain.fault import Context, Fault, FaultSpec, register
from chaosproxy.faults.parts import IN, Part, without
from chaosproxy.framing.splitter import RecordKind
from chaosproxy.model.headers import first
from chaosproxy.model.messages import Abort, Data, End, Event, RequestHead, ResponseHead, Trailers
from chaosproxy.model.places import Way


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Strip(FaultSpec):
    """Takes parts out of the body, or the trailers."""

    name: ClassVar[str] = "strip"
    main: ClassVar[str | None] = "what"
    ways: ClassVar[frozenset[Way]] = frozenset(Way)
    edits_body: ClassVar[bool] = True

    what: tuple[Part, ...]
    """A list of these, or one. `usage`: the count of tokens, with the whole record where that says nothing else. `done`:
    the terminal record (`[DONE]`, `message_stop`, `response.completed` and its kin, `"done":true`; of gRPC the trailers).
    `trailers`: HTTP trailers, so that over HTTP/2 END_STREAM stands on DATA. `ids` and `comments`: these lines of an event
    stream. A record of more than 1MiB passes untouched."""

    @property
    def edits(self) -> bool:
        return any(part != "trailers" for part in self.what)

    @property
    def reads_records(self) -> bool:
        return self.edits

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        return [] if self.what else [(("what",), "nothing to strip; expected usage, done, trailers, ids, comments")]

    def start(self, context: Context) -> "RunningStrip":
        return RunningStrip(self)


class RunningStrip(Fault):
    """Awake for a body in which it may find something; holds the block, line or message that has not ended."""

    rest = FOREVER

    def __init__(self, spec: Strip) -> None:
        self._what = spec.what
        self._no_trailers = "trailers" in spec.what
        self._editing: Editing | None = None
        self._found: list[Part] = []
        """What has been taken out, in order."""
        self._noted: set[Part] = set()

    def control(self, event: Event, now: float) -> Actions:
        match event:
            case ResponseHead() | RequestHead():
                return self._head(event)
            case Abort() if self._editing is not None:
                return (*self._let_go(self._editing, self._editing.rest()), event)
            case Trailers() if self._no_trailers:
                return (*self._body_over(event)[:-1], *self._note("trailers"))
            case Trailers() | End():
                return self._body_over(event)
            case _:
                return (event,)

    def _head(self, head: ResponseHead | RequestHead) -> Actions:
        kind = self.kind
        if kind is None:
            return (head,)
        parts = [part for part in IN[kind] if part in self._what]
        if kind == "grpc" and parts:
            self._no_trailers = True
            if b"grpc-web" not in (first(head.headers, b"content-type") or b""):
                return (head,)  # its terminal record is no part of the body
        if not parts:
            self.unfired = "" if self._no_trailers else "format"
            return (head,)
        self._editing = Editing(kind, self._edit(kind, parts))
        return (WAKE, head)

    def _edit(self, kind: RecordKind, parts: list[Part]) -> Callable[[bytes], bytes]:
        def edit(raw: bytes) -> bytes:
            for part in parts:
                new = without(part, kind, raw)
                if new != raw:
                    self._found.append(part)
                    raw = new
            return raw

        return edit

    def data(self, data: Data, now: float) -> Actions:
        assert self._editing is not None
        return self._let_go(self._editing, self._editing.feed(data))

    def _body_over(self, event: Trailers | End) -> Actions:
        """What is held is all of the last record. If that is a line without its line feed, and goes, the event no longer
        completes it: another one does not."""
        editing, self._editing = self._editing, None
        if editing is None:
            return (event,)
        held, left = editing.held, editing.end()
        gone = held > 0 and not left
        last = replace(event) if gone else event
        return (*self._let_go(editing, left), FOREVER, last)

    def _let_go(self, editing: Editing, pieces: list[Data]) -> Actions:
        self.held = editing.held
        if editing.too_long:
            self.unfired = "record too long"
        found, self._found = self._found, []
        return (*(note for part in found for note in self._note(part)), *pieces)

    def _note(self, part: Part) -> tuple[Note, ...]:
        """Once for each: a busy stream would fill the journal."""
        if part in self._noted:
            return ()
        self._noted.add(part)
        return (Note("fired", f"removed {part}"),)
