"""The base of every fault that changes a body unit by unit: it is handed each event block, line or message whole, however
the body was cut.

It rests where there is nothing to edit, and up to the record that its `at` counts to. The unit that has not ended is
held, at most 1 MiB, and only where it may be the one: all others pass as they come. A longer one passes unread.
Must not know: what is changed.
"""

import math
from dataclasses import replace

from chaosproxy.chain.actions import FOREVER, WAKE, Action, Actions, Note, Rest
from chaosproxy.chain.editing import Editing
from chaosproxy.chain.fault import Context, Fault
from chaosproxy.chain.sought import Sought
from chaosproxy.chain.trigger import Trigger
from chaosproxy.framing.records import payload
from chaosproxy.model.messages import Abort, Data, End, Event, RequestHead, ResponseHead, Trailers

EACH = Trigger(event=1, every=1)


class Edited(Fault):
    """Override `edit`; its spec says `edits_body` (or `rewrites_body`) and `reads_records`."""

    rest = FOREVER

    def __init__(self, at: Trigger | None = None, context: Context | None = None) -> None:
        """`at` says which records `means` is true of: a place of `event`, `match`, `json` or `terminal` is that record;
        of `bytes` or `time` the first to end from then on; a `chunk` is itself what is edited. Default each record."""
        self._at = at or EACH
        self._began, self._speed = (context.began, context.speed) if context is not None else (0.0, 1.0)
        self.kept = b""
        """What `edit` has taken out to put it in later. What is left of it leaves behind the last unit."""
        self.busy = False
        """`edit` has to see the units that come, though `at` may mean none of them."""
        self._editing: Editing | None = None
        self._sought: Sought | None = None
        self._now = 0.0
        self._said: list[Note] = []

    def edit(self, raw: bytes) -> bytes | tuple[bytes, ...]:
        """What shall stand in place of one unit: the same for no change, empty for nothing, or several pieces.
        `is_record` says whether it is one or only a comment between two. A body's last line comes with a line feed even
        if it has none; then what leaves has none at its end either."""
        raise NotImplementedError  # each subclass has its own; one without is a FaultBug when it first acts

    def edit_part(self, raw: bytes) -> bytes:
        """The same of a unit that the end of the body has broken off: no record to whoever reads by the standard."""
        return raw

    def fits(self, head: ResponseHead | RequestHead) -> bool:
        """Whether there is something to do in this body, whose records are of `kind`. If not, set `unfired`."""
        return True

    def means(self, raw: bytes) -> bool:
        """From `edit`, once for each unit: whether `at` means this record."""
        assert self._sought is not None
        assert self._editing is not None
        return self._sought.means(raw, self._editing.ended, self._now)

    def is_record(self, raw: bytes) -> bool:
        """From `edit`: whether this unit is a record (or a chunk, if these are edited)."""
        return self._at.chunk is not None or (self.kind is not None and payload(self.kind, raw) is not None)

    def unread(self) -> None:
        """A unit has passed that was too long to be read: it counts, and nothing is done to it."""
        assert self._sought is not None
        self._sought.miss()

    @property
    def place(self) -> str:
        """From `edit`: what it is handed, for a person: `event 3`."""
        assert self._sought is not None
        return f"{'event' if self._at.chunk is None else 'chunk'} {self._sought.number}"

    def say(self, detail: str) -> None:
        """From `edit`: note what was done."""
        self._said.append(Note("fired", detail))

    def control(self, event: Event, now: float) -> Actions:
        self._now = now
        match event:
            case ResponseHead() | RequestHead() if self._has_units and self.fits(event):
                kind = self.kind if self._at.chunk is None else "chunks"
                assert kind is not None
                self._sought = Sought(self._at, kind, self._began, self._speed)
                return (self._to_the_next(self._sought), event)
            case Trailers() | End() | Abort() if self._editing is not None:
                return self._body_over(self._editing, event)
            case _:
                return (event,)

    @property
    def _has_units(self) -> bool:
        return self.kind is not None or self._at.chunk is not None

    def reached(self, limit: str, now: float) -> Actions:
        assert self._sought is not None
        self._sought.skip_to_the_next()
        self._begin()
        return ()

    def data(self, data: Data, now: float) -> Actions:
        assert self._editing is not None
        self._now = now
        return self._let_go(self._editing, self._editing.feed(data))

    # ---- up to the next record that is meant

    def _to_the_next(self, sought: Sought) -> Action:
        if not sought.before:
            self._begin()
            return WAKE
        limit = sought.number + sought.before  # all that has entered this place is numbered
        if limit == math.inf:
            return FOREVER
        return Rest(records=limit) if self._at.chunk is None else Rest(chunks=limit)

    def _begin(self) -> None:
        self._editing = Editing(self.kind, self, by_chunk=self._at.chunk is not None)

    def holds(self) -> bool:
        """Whether the unit that comes next may be changed."""
        assert self._sought is not None
        return self.busy or bool(self.kept) or not self._sought.before

    def _let_go(self, editing: Editing, pieces: list[Data]) -> Actions:
        sought = self._sought
        assert sought is not None
        actions: list[Action] = [*self._said, *pieces]
        self._said = []
        if editing.too_long:
            self.unfired = "record too long"
        if not (editing.torn or self.holds()):
            self._editing = None
            actions += [*editing.rest(), self._to_the_next(sought)]
        self.held = editing.held + len(self.kept)
        return tuple(actions)

    # ---- the end

    def _edit_last(self, raw: bytes) -> bytes:
        """A line without its line feed, with what is kept behind it."""
        new = self.edit(raw + b"\n")
        left, self.kept = (new if isinstance(new, bytes) else b"".join(new)) + self.kept, b""
        return left.removesuffix(b"\n")

    def _body_over(self, editing: Editing, event: Event) -> Actions:
        """If the last line has no line feed and goes, the event no longer completes it: another one does not. What else
        has not ended leaves behind what was kept, which would become a part of it."""
        left: list[Data] = []
        if self.kept and (isinstance(event, Abort) or not editing.last):
            left, self.kept = editing.put(self.kept), b""
        if isinstance(event, Abort):
            left += editing.rest()
        else:
            left += editing.end(self._edit_last if editing.last else self.edit_part)
        self._editing = None
        return (*self._let_go(editing, left), FOREVER, replace(event) if editing.gone else event)
