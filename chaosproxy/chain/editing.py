"""Edits a body unit by unit (each event block, line or message; or each chunk), piece by piece as it comes.

Rules: a unit that is not changed leaves in the pieces in which it came; only the one that has not ended is held, at most
1 MiB, and a longer one passes unread. Record ends are found anew behind the first change, because the change may have
moved or removed one. Must not know: what is changed.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Protocol

from chaosproxy.chain.pieces import Pieces
from chaosproxy.framing.blocks import LIMIT, Blocks
from chaosproxy.framing.choose import splitter_for
from chaosproxy.framing.splitter import RecordKind
from chaosproxy.model.messages import Data

Edit = Callable[[bytes], bytes | tuple[bytes, ...]]
"""One unit in, what shall stand in its place out: the same for no change, empty to remove it; of several each is a piece
of its own."""


class Editor(Protocol):
    """Who says what becomes of the units."""

    def edit(self, raw: bytes) -> bytes | tuple[bytes, ...]:
        """An `Edit`; asked for each unit."""
        ...

    def holds(self) -> bool:
        """Whether the unit that comes next may be changed; if not, it passes as it comes."""
        ...

    def unread(self) -> None:
        """Instead of `edit`, of a unit that is too long."""
        ...


class Editing:
    """One body, edited by one fault."""

    def __init__(self, kind: RecordKind | None, editor: Editor, limit: int = LIMIT, *, by_chunk: bool = False) -> None:
        """`kind`: what records the body has. `by_chunk`: its chunks are edited, whatever is in them."""
        self._editor = editor
        self._by_chunk = by_chunk
        units = "chunks" if by_chunk else kind
        assert units is not None
        self._blocks = Blocks(units, limit)
        self._records = splitter_for(kind or "chunks")
        self._has_records = kind is not None
        self._pieces = Pieces()
        self._entered = 0
        self.ended = 0
        """The byte behind the unit that is being edited, counted from where this began."""
        self.edited = False
        """A unit has been changed."""
        self.torn = False
        """A record may end elsewhere than it came, behind that unit too."""
        self._completes = False
        """The body's end completes a line that has no line feed."""

    @property
    def held(self) -> int:
        """Bytes that have entered and not left."""
        return self._pieces.held

    @property
    def too_long(self) -> bool:
        """A unit has outgrown the limit."""
        return self._blocks.too_long

    def feed(self, data: Data) -> list[Data]:
        """The pieces that may leave now, in order."""
        left: list[Data] = []
        self._pieces.add(data)
        if self._by_chunk and not data.whole:
            self._blocks.go_on(data.payload)
        else:
            for end, unit in self._blocks.feed(data.payload):
                self.ended = self._entered + end
                if unit is None:
                    self._editor.unread()
                elif (new := self._editor.edit(unit)) != unit:
                    left += self._replaced(unit, new, len(data.payload) - end)
        self._entered += len(data.payload)
        left += self._marked(self._pieces.take(self.held - (self._blocks.held if self._editor.holds() else 0)))
        return left

    @property
    def last(self) -> bytes:
        """The line without a line feed that the body's end would complete; empty where there is none."""
        return self._blocks.last

    def end(self, edit_last: Edit | None = None) -> list[Data]:
        """The body is over: what has come of the last unit is all of it, and may be edited in a way of its own."""
        left: list[Data] = []
        last, self._completes = self._blocks.unfinished, bool(self._blocks.last)
        self.ended = self._entered
        if last and (new := (edit_last or self._editor.edit)(last)) != last:
            left = self._replaced(last, new, 0)
        return left + self.rest()

    def put(self, raw: bytes) -> list[Data]:
        """Behind what has left comes this, each record in it a piece of its own."""
        self.edited = True
        ends = self._records.feed(raw) if self._has_records else ()
        self.torn = self.torn or (self._has_records and ends[-1:] != (len(raw),))
        if len(ends) < 2:
            return [Data(raw, ends)]
        bounds = [0, *ends[:-1], len(raw)]
        return [
            Data(raw[begin:stop], (end - begin,)) for (begin, stop), end in zip(pairwise(bounds), ends, strict=True)
        ]

    @property
    def gone(self) -> bool:
        """The line that the body's end completed no longer stands there."""
        return self._completes and not self._records.pending

    def rest(self) -> list[Data]:
        """Everything held, as it stands."""
        return self._marked(self._pieces.take(self.held))

    def _replaced(self, unit: bytes, new: bytes | tuple[bytes, ...], behind: int) -> list[Data]:
        """What stands in front of `unit`, which has ended `behind` bytes before the end of what is held; then `new`."""
        left = self._marked(self._pieces.take(self.held - behind - len(unit)))
        self._pieces.take(len(unit))
        self.edited = True
        for one in (new,) if isinstance(new, bytes) else new:
            left += self.put(one) if one else []
        return left

    def _marked(self, pieces: list[Data]) -> list[Data]:
        """What leaves, with the record ends that are in it now."""
        if not self._has_records:
            return pieces
        marked = [(piece, self._records.feed(piece.payload)) for piece in pieces]
        if not self.edited:
            return pieces
        return [Data(piece.payload, ends, piece.whole, piece.size) for piece, ends in marked]
