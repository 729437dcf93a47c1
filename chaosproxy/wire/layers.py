"""Lines in a row, one behind the other: what passes one enters the next.

Rules: a line is given more only while it wants it, so that each holds no more than its room. Must not know: sockets.
"""

from collections.abc import Sequence
from itertools import pairwise

from chaosproxy.chain.line import Line
from chaosproxy.model.messages import Data, Event


def passed(lines: Sequence[Line], now: float) -> list[Event]:
    """Move on whatever can; what has passed the last line."""
    out: list[Event] = []
    while can_move(lines):
        for line, following in pairwise(lines):
            if following.wants():
                _hand_over(line, following, now)
        out += lines[-1].take(now)
    return out


def can_move(lines: Sequence[Line]) -> bool:
    """Something has passed a line and the next one takes it."""
    return lines[-1].waiting or any(line.waiting and following.wants() for line, following in pairwise(lines))


def _hand_over(line: Line, following: Line, now: float) -> None:
    for event in line.take(now):
        if isinstance(event, Data):
            following.push([event], now)
        else:
            following.push_control(event, now)
