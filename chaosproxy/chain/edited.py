"""The base of every fault that changes a body unit by unit: it is handed each event block, line or message whole, however
the body was cut.

It rests where there is nothing to edit. The unit that has not ended is held, at most 1 MiB, and a longer one passes
unread. Must not know: what is changed.
"""

from dataclasses import replace

from chaosproxy.chain.actions import FOREVER, WAKE, Actions, Note
from chaosproxy.chain.editing import Editing
from chaosproxy.chain.fault import Fault
from chaosproxy.model.messages import Abort, Data, End, Event, RequestHead, ResponseHead, Trailers


class Edited(Fault):
    """Override `edit`; its spec says `edits_body` (or `rewrites_body`) and `reads_records`."""

    rest = FOREVER

    def __init__(self) -> None:
        self.kept = b""
        """What `edit` has taken out to put it in later. What is left of it leaves behind the last unit."""
        self._editing: Editing | None = None
        self._said: list[Note] = []

    def edit(self, raw: bytes) -> bytes:
        """What shall stand in place of one unit: the same for no change, empty for nothing. `framing.records.payload` says
        whether it is a record or only a comment between two. A body's last line comes with a line feed even if it has
        none; then what leaves has none at its end either."""
        raise NotImplementedError  # each subclass has its own; one without is a FaultBug when it first acts

    def edit_part(self, raw: bytes) -> bytes:
        """The same of a unit that the end of the body has broken off: no record to whoever reads by the standard."""
        return raw

    def fits(self, head: ResponseHead | RequestHead) -> bool:
        """Whether there is something to do in this body, whose records are of `kind`. If not, set `unfired`."""
        return True

    def say(self, detail: str) -> None:
        """From `edit`: note what was done."""
        self._said.append(Note("fired", detail))

    def control(self, event: Event, now: float) -> Actions:
        match event:
            case ResponseHead() | RequestHead() if self.kind is not None and self.fits(event):
                self._editing = Editing(self.kind, self.edit)
                return (WAKE, event)
            case Trailers() | End() | Abort() if self._editing is not None:
                return self._body_over(self._editing, event)
            case _:
                return (event,)

    def data(self, data: Data, now: float) -> Actions:
        assert self._editing is not None
        return self._let_go(self._editing, self._editing.feed(data))

    def _edit_last(self, raw: bytes) -> bytes:
        """A line without its line feed, with what is kept behind it."""
        left, self.kept = self.edit(raw + b"\n") + self.kept, b""
        return left.removesuffix(b"\n")

    def _body_over(self, editing: Editing, event: Event) -> Actions:
        """If the last line has no line feed and goes, the event no longer completes it: another one does not. What else
        has not ended leaves behind what was kept, which would become a part of it."""
        self._editing = None
        left: list[Data] = []
        if self.kept and (isinstance(event, Abort) or not editing.last):
            left, self.kept = editing.put(self.kept), b""
        if isinstance(event, Abort):
            left += editing.rest()
        else:
            left += editing.end(self._edit_last if editing.last else self.edit_part)
        return (*self._let_go(editing, left), FOREVER, replace(event) if editing.gone else event)

    def _let_go(self, editing: Editing, pieces: list[Data]) -> Actions:
        self.held = editing.held + len(self.kept)
        if editing.too_long:
            self.unfired = "record too long"
        said, self._said = self._said, []
        return (*said, *pieces)
