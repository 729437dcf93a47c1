"""Decisions made of bytes, so that a fuzzer that changes a byte changes a decision.

Must not know: what is decided.
"""

from collections.abc import Sequence
from itertools import pairwise
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """Bytes, used up from the front. Behind their end everything is 0, the first, or empty."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def over(self) -> bool:
        return self._at >= len(self._data)

    def byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1] if self._at <= len(self._data) else 0

    def flag(self) -> bool:
        return bool(self.byte() & 1)

    def below(self, count: int) -> int:
        """A number from 0 on; `count` is at most 256."""
        return self.byte() % count

    def number(self, size: int) -> int:
        """One of `size` bytes."""
        return int.from_bytes(self.take(size), "big")

    def pick(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]

    def take(self, size: int) -> bytes:
        """So many bytes, or fewer where there are no more."""
        taken = self._data[self._at : self._at + size]
        self._at += size
        return taken

    def some(self) -> bytes:
        """As many as one byte says."""
        return self.take(self.byte())

    def rest(self) -> bytes:
        return self.take(len(self._data))

    def places(self) -> list[int]:
        """Up to seven, anywhere in some kilobytes."""
        return [self.number(2) for _ in range(self.below(8))]


class DrawnRandom(Random):
    """A `Random` that is led by bytes as long as there are any, and goes on by itself behind them."""

    def __new__(cls, data: bytes) -> "DrawnRandom":
        return super().__new__(cls)

    def __init__(self, data: bytes) -> None:
        super().__init__(len(data))
        self._draw = Draw(data)

    def random(self) -> float:
        return super().random() if self._draw.over else self._draw.number(2) / 65536

    def getrandbits(self, k: int) -> int:
        """`choice`, `randint` and their like ask for a few bits at a time, again where they were too many."""
        if self._draw.over or k > 64:
            return super().getrandbits(k)
        return self._draw.number((k + 7) // 8) & ((1 << k) - 1)


def cut(data: bytes, places: Sequence[int]) -> list[bytes]:
    """`data` in pieces that end at `places`, wherever those lie inside."""
    edges = sorted({0, len(data), *(place % len(data) for place in places if data)})
    return [data[start:end] for start, end in pairwise(edges)]


def bytewise(data: bytes) -> list[bytes]:
    return [data[at : at + 1] for at in range(len(data))]
