"""What was seen of all hops: the answers to each way of asking, and what became of a client that left.

Must not know: how it was measured, what it means.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from chaosproxy.client.answer import Answer, Piece
from chaosproxy.diagnose.question import Hop
from chaosproxy.model.vocabulary import Framing


class Variant(StrEnum):
    """A way of asking."""

    PLAIN = "plain"
    CODED = "coded"
    """With Accept-Encoding."""
    DENSE = "dense"
    """For more bytes."""


@dataclass(frozen=True, slots=True)
class Pace:
    """What the embedded origin was asked for: how the innermost hop should answer."""

    tokens: int
    first: float
    gap: float
    text: str = ""

    @property
    def length(self) -> float:
        return self.first + (self.tokens - 1) * self.gap

    def answer(self) -> Answer:
        """As it would come if nobody were in between."""
        times = [self.first + number * self.gap for number in range(self.tokens)]
        pieces = [Piece(time, 30, 30, 1, whole=True) for time in times]
        return Answer("", 200, (), Framing.CHUNKED, 0.0, pieces, "clean", self.length, recorded=True)


@dataclass(frozen=True, slots=True)
class Leaving:
    """A client left in the middle of an answer."""

    ended: float | None
    """Seconds until the server's work was over; None: it still went on when we stopped looking."""
    looked: float
    """Seconds for which we looked."""
    gap: float = 0.0
    """Seconds of silence between two things that the server writes; 0: not known."""


@dataclass(frozen=True, slots=True)
class Observed:
    """Everything."""

    hops: Sequence[Hop]
    answers: Mapping[tuple[int, Variant], Sequence[Answer]]
    """By the number of the hop, from 0."""
    paces: Mapping[Variant, Pace] = field(default_factory=dict)
    leavings: Mapping[int, Leaving] = field(default_factory=dict)
    limit: float = 0.0
    """Seconds after which an answer was left."""

    def of(self, hop: int, variant: Variant) -> Sequence[Answer]:
        return self.answers.get((hop, variant), ())
