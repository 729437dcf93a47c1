"""The strip of arrivals: a column is a slice of time, its height the events that came in it.

Rules: pure; heights grow with the logarithm, so that one event can be seen beside a burst of hundreds. Must not know:
colours, terminals.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from chaosproxy.client.answer import GAVE_UP, Answer

ROWS = 3
FULL = 40
"""A burst of so many events is as high as it gets, unless there is a larger one: one event never looks like many."""
LEVELS = " ▁▂▃▄▅▆▇█"
SILENT, BYTES = "·", "~"
ENDS = {"clean": "┤", GAVE_UP: "?"}
BROKEN = "✗"
ASCII = str.maketrans("▁▂▃▄▅▆▇█·┤✗\N{NO-BREAK SPACE}", "__..oo##.|x ")
"""Where the terminal's encoding has none of these."""


@dataclass(frozen=True, slots=True)
class Scale:
    """One for all strips that are compared."""

    seconds: float
    """What the whole width stands for."""
    columns: int
    most: int
    """Events in the fullest column."""

    @classmethod
    def of(cls, answers: Sequence[Answer], columns: int) -> "Scale":
        """One for all of `answers`."""
        seconds = max(0.001, *(answer.ended for answer in answers))
        scale = cls(seconds, columns, 1)
        return cls(seconds, columns, max([FULL, *(max(_counts(answer, scale), default=0) for answer in answers)]))

    def column(self, time: float) -> int:
        return min(int(time / self.seconds * self.columns), self.columns - 1)


def _counts(answer: Answer, scale: Scale) -> list[int]:
    counts = [0] * scale.columns
    for time, count in answer.events:
        counts[scale.column(time)] += count
    return counts


def rows(answer: Answer, scale: Scale) -> list[str]:
    """The strip, its top row first, as high as it needs. In the lowest: a dot where nothing came, a wave where bytes came
    and no event, and behind it how it ended."""
    heights = [
        math.ceil(ROWS * 8 * math.log2(1 + count) / math.log2(1 + scale.most)) for count in _counts(answer, scale)
    ]
    drawn = ["".join(LEVELS[max(0, min(8, height - 8 * row))] for height in heights) for row in reversed(range(ROWS))]
    lowest = list(drawn[-1])
    last = scale.column(answer.ended)
    busy = {scale.column(time) for time, _ in answer.traffic}
    for column in range(last + 1):
        if not heights[column]:
            lowest[column] = BYTES if column in busy else SILENT
    mark = ENDS.get(answer.end, BROKEN)
    drawn[-1] = "".join(lowest[: last + 1]) + mark
    return [row.rstrip() for number, row in enumerate(drawn) if row.strip() or number == ROWS - 1]
