"""The shape of an answer: its bursts, how much came in each, and how long it had to wait for them.

A burst is what came without a pause in between. What is counted is events; of a body that has none, bytes of text, and
of one that cannot be read, bytes. Rules: pure; medians, weighted by what came, so that a hiccup of the machine is none
of the stream. Must not know: hops, causes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeVar

from chaosproxy.client.answer import Answer, Piece

JOIN = 0.004
"""Pieces less than so many seconds apart have come together, whoever sent them."""
T = TypeVar("T", int, float)


@dataclass(frozen=True, slots=True)
class Burst:
    """What came together."""

    time: float
    until: float
    events: int
    text: int
    size: int
    whole: bool
    """It ends where an event ends."""


@dataclass(frozen=True, slots=True)
class Shape:
    """One answer, in bursts."""

    answer: Answer
    bursts: tuple[Burst, ...]
    counts: Literal["events", "text", "size"]

    def weight(self, burst: Burst) -> int:
        match self.counts:
            case "events":
                return burst.events
            case "text":
                return burst.text
            case "size":
                return burst.size

    @property
    def amount(self) -> int:
        return sum(map(self.weight, self.bursts))

    @property
    def first(self) -> float | None:
        """When the first of what counts came."""
        return next((burst.time for burst in self.bursts if self.weight(burst)), None)

    @property
    def last(self) -> float | None:
        return self.bursts[-1].until if self.bursts else None

    @property
    def events(self) -> int:
        return sum(burst.events for burst in self.bursts)

    @property
    def text(self) -> int:
        return sum(burst.text for burst in self.bursts)

    @property
    def size(self) -> int:
        return sum(burst.size for burst in self.bursts)

    @property
    def together(self) -> int:
        """What came together with the typical one of what came, itself included."""
        return weighted_median([(self.weight(burst), self.weight(burst)) for burst in self.bursts]) or 0

    @property
    def times(self) -> list[float]:
        """Of every event."""
        return [piece.time for piece in self.answer.pieces for _ in range(piece.events)]

    @property
    def gaps(self) -> list[float]:
        """Between events."""
        return [later - earlier for earlier, later in pairwise(self.times)]

    def wait(self, since: float) -> float:
        """How long nothing had come before the typical one of what came; `since` is when the first was to be had."""
        before = [since, *(burst.until for burst in self.bursts)]
        waits = [
            (max(0.0, burst.time - earlier), self.weight(burst))
            for burst, earlier in zip(self.bursts, before, strict=False)
        ]
        return weighted_median(waits) or 0.0

    @property
    def period(self) -> float | None:
        """Between the beginnings of bursts, the last of which only the end may have brought."""
        return median([later.time - earlier.time for earlier, later in pairwise(self.bursts[:-1])])


def shape(answer: Answer, join: float = JOIN) -> Shape:
    """`join`: pieces so near each other are one burst."""
    counts: Literal["events", "text", "size"] = "size"
    if any(piece.events for piece in answer.pieces):
        counts = "events"
    elif any(piece.text for piece in answer.pieces):
        counts = "text"
    return Shape(answer, tuple(_bursts(answer.pieces, join)), counts)


def _bursts(pieces: Iterable[Piece], join: float) -> Iterable[Burst]:
    gathered: list[Piece] = []
    for piece in pieces:
        if gathered and piece.time - gathered[-1].time >= join:
            yield _burst(gathered)
            gathered = []
        gathered.append(piece)
    if gathered:
        yield _burst(gathered)


def _burst(pieces: Sequence[Piece]) -> Burst:
    return Burst(
        pieces[0].time,
        pieces[-1].time,
        sum(piece.events for piece in pieces),
        sum(piece.text for piece in pieces),
        sum(piece.size for piece in pieces),
        pieces[-1].whole,
    )


def weighted_median(pairs: Iterable[tuple[T, int]]) -> T | None:
    """Half of all weight is at or below it."""
    ordered = sorted(pair for pair in pairs if pair[1] > 0)
    half, passed = sum(weight for _, weight in ordered) / 2, 0
    for value, weight in ordered:
        passed += weight
        if passed >= half:
            return value
    return None


def median(values: Iterable[float]) -> float | None:
    """The middle one, the lower of two."""
    ordered = sorted(values)
    return ordered[(len(ordered) - 1) // 2] if ordered else None


def typical(shapes: Sequence[Shape]) -> Shape:
    """Of several measurements of the same the one in the middle, by how long things waited."""
    assert shapes
    return sorted(shapes, key=lambda one: (one.wait(0.0), one.first or 0.0))[(len(shapes) - 1) // 2]
