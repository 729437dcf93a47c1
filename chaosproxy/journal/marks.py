"""Times and sizes of the pieces of a body: the first 10,000 and the last 100, in flat arrays.

Two arrays cost 12 bytes a mark, a list of tuples nine times that; a stream of a day must not grow the process.
Must not know: what a piece was.
"""

from array import array
from collections.abc import Iterator

FIRST = 10_000
LAST = 100
_NO_TIMES, _NO_SIZES = array("d"), array("I")
"""Stand for those of a body of which nothing has come. Nothing is ever put into them."""


class Marks:
    """An append-only series of `(seconds, bytes)`."""

    __slots__ = ("_head_sizes", "_head_times", "_tail", "_turn", "count")

    def __init__(self) -> None:
        self.count: int = 0
        self._head_times = _NO_TIMES
        self._head_sizes = _NO_SIZES
        self._tail: list[tuple[float, int]] = []
        self._turn = 0

    def note(self, seconds: float, nbytes: int) -> None:
        """Append one mark."""
        self.count += 1
        if self.count <= FIRST:
            if self.count == 1:
                self._head_times, self._head_sizes = array("d"), array("I")
            self._head_times.append(seconds)
            self._head_sizes.append(nbytes)
        elif len(self._tail) < LAST:
            self._tail.append((seconds, nbytes))
        else:
            self._tail[self._turn] = (seconds, nbytes)
            self._turn = (self._turn + 1) % LAST

    @property
    def dropped(self) -> int:
        """How many marks were left out in the middle."""
        return self.count - len(self._head_times) - len(self._tail)

    def __len__(self) -> int:
        return len(self._head_times) + len(self._tail)

    def __iter__(self) -> Iterator[tuple[float, int]]:
        yield from zip(self._head_times, self._head_sizes, strict=True)
        yield from self._tail[self._turn :]
        yield from self._tail[: self._turn]
