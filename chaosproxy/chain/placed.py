"""A fault's seat in a chain, and what is noted of it. Pure data.

Must not know: what a fault does, what is made of a note.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from chaosproxy.chain.fault import Context, FaultSpec


@dataclass(frozen=True, slots=True)
class Placed:
    """A fault to start, with its hop. A chain gets them in the order a response travels."""

    hop: int
    hop_name: str | None
    spec: FaultSpec
    context: Context


@dataclass(frozen=True, slots=True)
class Noted:
    """For the journal: `kind` is `fired` or `not_fired`."""

    t: float
    fault: str
    hop: int
    hop_name: str | None
    kind: str
    detail: str


class Notes:
    """The latest of a connection, which may live for weeks; `total` counts all there were."""

    def __init__(self) -> None:
        self._latest: deque[Noted] = deque(maxlen=1000)
        self.total = 0

    def take(self, notes: list[Noted]) -> None:
        """Take over `notes`; empties the list."""
        self.total += len(notes)
        self._latest.extend(notes)
        notes.clear()

    def lost(self, before: int) -> int:
        """How many are no longer here of those that came when there were `before`."""
        return max(0, self.total - before - len(self._latest))

    def __iter__(self) -> Iterator[Noted]:
        return iter(self._latest)
