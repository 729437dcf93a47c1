"""The pieces of a body that have entered and not left, to be taken from the front by any number of bytes.

Rules: what is taken costs what it is long, however much stands behind it: one read may hold thousands of records, and
`Data.split` looks at all of them each time. A piece that is taken whole leaves as it came. Must not know: why, when.
"""

from bisect import bisect_right
from collections import deque

from chaosproxy.model.messages import Data


class Pieces:
    """First in, first out."""

    __slots__ = ("_begin", "_ends", "_pieces", "held")

    def __init__(self) -> None:
        self._pieces: deque[Data] = deque()
        self._begin = self._ends = 0
        """How many bytes and record ends of the first piece have left."""
        self.held = 0
        """Bytes that have entered and not left."""

    def add(self, data: Data) -> None:
        self._pieces.append(data)
        self.held += len(data.payload)

    def take(self, nbytes: int) -> list[Data]:
        """The first `nbytes`, which must be there, in the pieces in which they came."""
        taken: list[Data] = []
        while nbytes > 0:
            piece = self._next(nbytes)
            nbytes -= len(piece.payload)
            taken.append(piece)
        return taken

    def _next(self, most: int) -> Data:
        first, begin = self._pieces[0], self._begin
        size = len(first.payload)
        end = min(begin + most, size)
        self.held -= end - begin
        if end == size:
            self._pieces.popleft()
            self._begin, ends, self._ends = 0, self._ends, 0
            return first if not begin else _part(first, begin, end, ends, len(first.ends))
        behind = bisect_right(first.ends, end, self._ends)
        self._begin, ends, self._ends = end, self._ends, behind
        return _part(first, begin, end, ends, behind)


def _part(data: Data, begin: int, end: int, first: int, behind: int) -> Data:
    """The bytes from `begin` to `end`, in which the record ends from number `first` to before `behind` lie."""
    ends = tuple([one - begin for one in data.ends[first:behind]])
    return Data(data.payload[begin:end], ends, whole=data.whole and end == len(data.payload))
