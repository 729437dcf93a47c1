"""Finds the records that a `match`, `json` or `terminal` trigger is about, piece by piece.

Rules: a piece is cut only where the trigger acts; what does not concern it leaves as it came. Only the unit (block,
line, message) that has not ended is held, at most 1 MiB, and not even that where the trigger acts behind the record.
Comments and other traffic between records are units of their own, so that a heartbeat is not held with the next event.
Must not know: what is done at the place.
"""

from typing import Final

from chaosproxy.chain.pieces import Pieces
from chaosproxy.chain.sought import Sought
from chaosproxy.chain.trigger import Trigger
from chaosproxy.framing.blocks import Blocks
from chaosproxy.framing.records import payload as carried_by
from chaosproxy.framing.splitter import RecordKind
from chaosproxy.model.messages import Data


class _Mark:
    pass


HERE: Final = _Mark()
"""In a list of pieces: the trigger acts here."""

Found = list[Data | object]


class Reading:
    """One body, read for one trigger."""

    def __init__(self, at: Trigger, kind: RecordKind) -> None:
        self._at = at
        self._kind = kind
        self._blocks = Blocks(kind)
        self._sought = Sought(at, kind)
        self._holds = at.terminal != "after"
        self._pieces = Pieces()

    @property
    def held(self) -> int:
        """Bytes that have entered and not left."""
        return self._pieces.held

    @property
    def too_long(self) -> bool:
        """A record has outgrown the limit and was passed on unread."""
        return self._blocks.too_long

    def feed(self, data: Data) -> Found:
        """The pieces that may leave now, in order, with HERE where the trigger acts."""
        found: Found = []
        before = self.held
        self._pieces.add(data)
        total = self.held
        for end, unit in self._blocks.feed(data.payload):
            place = None if unit is None else self._place(unit)
            if unit is not None and place is not None:
                stop = before + end  # all offsets are in what was there when this piece had come
                found += self._pieces.take(stop - len(unit) + place - (total - self.held))
                found.append(HERE)
        kept = self._blocks.held if self._holds else 0
        found += self._pieces.take(self.held - kept)
        return found

    def rest(self) -> list[Data]:
        """Everything held, as it stands."""
        return self._pieces.take(self.held)

    def end(self) -> Found:
        """The body is over: the last line needs no line feed to be a record; what else is unfinished is none."""
        last = self._blocks.last
        place = self._place(last) if last else None
        if place is None:
            return [*self.rest()]
        return [*self._pieces.take(place if self._holds else 0), HERE, *self.rest()]

    def _place(self, raw: bytes) -> int | None:
        """Where in this unit the trigger acts; None if it does not."""
        if not self._sought.means(raw):
            return None
        match self._at.terminal:
            case "inside":
                return self._middle(raw)
            case "after":
                return len(raw)
            case _:
                return 0

    def _middle(self, raw: bytes) -> int:
        carried = carried_by(self._kind, raw) or raw
        start = raw.find(carried)
        middle = start + len(carried) // 2 if start >= 0 else len(raw) // 2
        return min(max(1, middle), len(raw) - 1)
