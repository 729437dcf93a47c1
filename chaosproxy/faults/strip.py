"""`strip`: the machine swallows parts of the answer that nobody seems to miss.

Imitates a gateway that drops the usage chunk it did not ask for, a proxy without trailers, a framework that ends its
stream without `[DONE]`, a converter that keeps only the data of an event.
"""

from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.chain.actions import Actions, Note
from chaosproxy.chain.edited import Edited
from chaosproxy.chain.fault import Context, Fault, FaultSpec, register
from chaosproxy.faults.parts import IN, Part, without
from chaosproxy.model.headers import first
from chaosproxy.model.messages import Event, RequestHead, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Way


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

    def start(self, context: Context) -> Fault:
        return RunningStrip(self)


class RunningStrip(Edited):
    """Awake for a body in which it may find something."""

    def __init__(self, spec: Strip) -> None:
        super().__init__()
        self._what = spec.what
        self._no_trailers = "trailers" in spec.what
        self._parts: list[Part] = []
        """What can be found in this body."""
        self._noted: set[Part] = set()

    def control(self, event: Event, now: float) -> Actions:
        actions = super().control(event, now)
        if isinstance(event, Trailers) and self._no_trailers:
            return (*actions[:-1], Note("fired", "removed trailers"))
        return actions

    def fits(self, head: ResponseHead | RequestHead) -> bool:
        kind = self.kind
        assert kind is not None
        self._parts = [part for part in IN[kind] if part in self._what]
        if kind == "grpc" and self._parts:
            self._no_trailers = True
            if b"grpc-web" not in (first(head.headers, b"content-type") or b""):
                return False  # its terminal record is no part of the body
        if not self._parts:
            self.unfired = "" if self._no_trailers else "format"
        return bool(self._parts)

    def edit(self, raw: bytes) -> bytes:
        assert self.kind is not None
        for part in self._parts:
            new = without(part, self.kind, raw)
            if new != raw:
                self._found(part)
                raw = new
        return raw

    def edit_part(self, raw: bytes) -> bytes:
        return self.edit(raw)  # a client that reads line by line would see a `[DONE]` without its blank line

    def _found(self, part: Part) -> None:
        """Noted once for each: a busy stream would fill the journal."""
        if part not in self._noted:
            self._noted.add(part)
            self.say(f"removed {part}")
