"""What the miniature model says: real words, the same ones for everybody, so that an answer can be compared.

A token is a word with the space before it. Must not know: who asks, how an answer is written.
"""

import re
from dataclasses import dataclass

SAYING = (
    "Every stream begins as a promise and is kept one small word at a time; whoever waits at the far end sees only "
    "what the machines between have let through, so count the words, mind the silence, and never take a closed "
    "door for the end of the story."
)
_BEHIND = re.compile(r"(?<=\S)(?=\s)")
"""Behind a word: there its token ends, but for the last one, which has the blanks behind it too."""


@dataclass(frozen=True, slots=True)
class Words:
    """The first `count` tokens of a text that is said over and over; made one by one, however many they are."""

    once: tuple[str, ...]
    count: int

    @classmethod
    def of(cls, text: str, count: int | None = None, *, limit: int | None = None) -> "Words":
        """`count` tokens of a text; else the text once, or as much of it as the limit lets through."""
        once = _BEHIND.split(text)
        if len(once) > 1 and once[-1].isspace():
            once[-2:] = [once[-2] + once[-1]]
        if count is None:
            count = len(once) if limit is None else min(limit, len(once))
        return cls(tuple(once), count)

    def word(self, index: int) -> str:
        """Token `index`, from 0."""
        said = self.once[index % len(self.once)]
        return f" {said}" if index >= len(self.once) and not said[0].isspace() else said

    @property
    def text(self) -> str:
        """All of them."""
        return "".join(self.word(index) for index in range(self.count))


def how_many(text: str) -> int:
    """Tokens in a text; none in an empty one."""
    return len(text.split())
