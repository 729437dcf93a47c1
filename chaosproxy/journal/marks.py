"""Times and sizes of the pieces of a body: the first 10,000 and the last 100, in flat arrays.

Two arrays cost 12 bytes a mark, a list of tuples nine times that; a stream of a day must not grow the process.
Must not know: what a piece was.
"""

from array import array
from collections import deque
from collections.abc import Iterator, Sequence

FIRST = 10_000
LAST = 100
_NO_TIMES, _NO_SIZES = array("d"), array("I")
"""Stand for those of a body of which nothing has come. Nothing is ever put into them."""
_NO_TAIL: deque[tuple[float, int]] = deque()
"""The same for those behind the first."""


class Marks:
    """An append-only series of `(seconds, bytes)`."""

    __slots__ = ("_head_sizes", "_head_times", "_tail", "count")

    def __init__(self) -> None:
        self.count: int = 0
        self._head_times = _NO_TIMES
        self._head_sizes = _NO_SIZES
        self._tail = _NO_TAIL

    def note(self, seconds: float, nbytes: int) -> None:
        """Append one mark."""
        if 0 < self.count < FIRST:
            self.count += 1
            self._head_times.append(seconds)
            self._head_sizes.append(nbytes)
        else:
            self.extend((seconds,), (nbytes,))

    def extend(self, seconds: Sequence[float], sizes: Sequence[int]) -> None:
        """Append as many marks as there are `seconds`."""
        room = max(0, FIRST - self.count)
        if self.count == 0:
            self._head_times, self._head_sizes = array("d"), array("I")
        self.count += len(seconds)
        if room:
            self._head_times.extend(seconds[:room])
            self._head_sizes.extend(sizes[:room])
        if room < len(seconds):
            if self._tail is _NO_TAIL:
                self._tail = deque(maxlen=LAST)
            self._tail.extend(zip(seconds[room:], sizes[room:], strict=True))

    @property
    def dropped(self) -> int:
        """How many marks were left out in the middle."""
        return self.count - len(self._head_times) - len(self._tail)

    def __len__(self) -> int:
        return len(self._head_times) + len(self._tail)

    def __iter__(self) -> Iterator[tuple[float, int]]:
        yield from zip(self._head_times, self._head_sizes, strict=True)
        yield from self._tail
