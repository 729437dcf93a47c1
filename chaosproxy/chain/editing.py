"""Edits a body unit by unit (each event block, line or message), piece by piece as it comes.

Rules: a unit that is not changed leaves in the pieces in which it came; only the one that has not ended is held, at most
1 MiB, and a longer one passes unread. Record ends are found anew behind the first change, because the change may have
moved or removed one. Must not know: what is changed.
"""

from collections.abc import Callable

from chaosproxy.chain.pieces import Pieces
from chaosproxy.framing.blocks import LIMIT, every_unit
from chaosproxy.framing.choose import splitter_for
from chaosproxy.framing.splitter import RecordKind
from chaosproxy.model.messages import Data

Edit = Callable[[bytes], bytes]
"""One unit in, what shall stand in its place out: the same for no change, empty to remove it."""


class Editing:
    """One body, edited by one fault."""

    def __init__(self, kind: RecordKind, edit: Edit, limit: int = LIMIT) -> None:
        self._edit = edit
        self._limit = limit
        self._units = every_unit(kind)
        self._records = splitter_for(None, kind)
        self._pieces = Pieces()
        self._raw = bytearray()
        """The unit that has not ended, as far as it has come."""
        self._given_up = False
        self.too_long = False
        """A unit has outgrown the limit."""
        self.edited = False
        """A unit has been changed."""
        self._completes = False
        """The body's end completes a line that has no line feed."""

    @property
    def held(self) -> int:
        """Bytes that have entered and not left."""
        return self._pieces.held

    def feed(self, data: Data) -> list[Data]:
        """The pieces that may leave now, in order."""
        left: list[Data] = []
        payload = data.payload
        self._pieces.add(data)
        start = 0
        for end in self._units.feed(payload):
            self._gather(payload[start:end])
            self._unit_over(len(payload) - end, left)
            start = end
        self._gather(payload[start:])
        left += self._marked(self._pieces.take(self.held - len(self._raw)))
        return left

    def end(self) -> list[Data]:
        """The body is over: what has come of the last unit is all of it."""
        left: list[Data] = []
        self._completes = self._units.pending
        if self._raw:
            self._unit_over(0, left)
        return left + self.rest()

    def put(self, raw: bytes) -> list[Data]:
        """Behind what has left comes this."""
        self.edited = True
        return self._marked([Data(raw)])

    @property
    def gone(self) -> bool:
        """The line that the body's end completed no longer stands there."""
        return self._completes and not (self._records is not None and self._records.pending)

    def rest(self) -> list[Data]:
        """Everything held, as it stands."""
        self._raw.clear()
        return self._marked(self._pieces.take(self.held))

    def _gather(self, piece: bytes) -> None:
        if self._given_up:
            return
        self._raw += piece
        if len(self._raw) > self._limit:
            self._given_up = self.too_long = True
            self._raw.clear()

    def _unit_over(self, behind: int, left: list[Data]) -> None:
        """A unit has ended, `behind` bytes before the end of what is held."""
        raw = bytes(self._raw)
        new = raw if self._given_up else self._edit(raw)
        self._raw.clear()
        self._given_up = False
        if new == raw:
            return
        left += self._marked(self._pieces.take(self.held - behind - len(raw)))
        self._pieces.take(len(raw))
        self.edited = True
        if new:
            left += self.put(new)

    def _marked(self, pieces: list[Data]) -> list[Data]:
        """What leaves, with the record ends that are in it now."""
        marked = [(piece, self._records.feed(piece.payload) if self._records is not None else ()) for piece in pieces]
        if not self.edited:
            return pieces
        return [Data(piece.payload, ends, piece.whole, piece.size) for piece, ends in marked]
