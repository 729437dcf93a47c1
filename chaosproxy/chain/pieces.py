"""What is left of a body that is taken from the front by any number of bytes: of one piece, or of many that are held.

Rules: what is taken costs what it is long, however much stands behind it: one read may hold thousands of records, and
`Data.split` copies all that is left of them each time. A piece that is taken whole leaves as it came. Must not know: why,
when.
"""

from bisect import bisect_right
from collections import deque

from chaosproxy.model.messages import Data


class Remains:
    """What is left of one Data."""

    __slots__ = ("_begin", "_data", "_ends", "left", "records", "whole")

    def __init__(self, data: Data) -> None:
        self._data = data
        self._begin = self._ends = 0
        """How many bytes and record ends have left."""
        self.left = len(data.payload)
        """How many bytes have not."""
        self.records = len(data.ends)
        """How many records end in what is left."""
        self.whole = data.whole
        """The chunk ends with it."""

    def end_of(self, record: int) -> int:
        """How many bytes there are up to the end of the first record, the second, ... which must be there."""
        return self._data.ends[self._ends + record - 1] - self._begin

    def take(self, nbytes: int) -> Data:
        """The first `nbytes`, at least one; all of them where there are no more."""
        data, begin, first = self._data, self._begin, self._ends
        if nbytes >= self.left:
            self.left = self.records = 0
            return data if not begin else _part(data, begin, len(data.payload), first, len(data.ends))
        self.left -= nbytes
        self._begin = end = begin + nbytes
        self._ends = behind = bisect_right(data.ends, end, first)
        self.records -= behind - first
        return _part(data, begin, end, first, behind)


class Pieces:
    """First in, first out."""

    __slots__ = ("_first", "_pieces", "held")

    def __init__(self) -> None:
        self._pieces: deque[Data] = deque()
        self._first: Remains | None = None
        """What is left of the first piece, where it has been cut."""
        self.held = 0
        """Bytes that have entered and not left."""

    def add(self, data: Data) -> None:
        self._pieces.append(data)
        self.held += len(data.payload)

    def take(self, nbytes: int) -> list[Data]:
        """The first `nbytes`, which must be there, in the pieces in which they came."""
        taken: list[Data] = []
        self.held -= max(nbytes, 0)
        while nbytes > 0:
            piece = self._next(nbytes)
            nbytes -= len(piece.payload)
            taken.append(piece)
        return taken

    def _next(self, most: int) -> Data:
        first = self._first
        if first is None:
            data = self._pieces[0]
            if len(data.payload) <= most:
                return self._pieces.popleft()
            first = self._first = Remains(data)
        piece = first.take(most)
        if not first.left:
            self._pieces.popleft()
            self._first = None
        return piece


def _part(data: Data, begin: int, end: int, first: int, behind: int) -> Data:
    """The bytes from `begin` to `end`, in which the record ends from number `first` to before `behind` lie."""
    ends = tuple([one - begin for one in data.ends[first:behind]]) if first < behind else ()
    return Data(data.payload[begin:end], ends, data.whole and end == len(data.payload))
