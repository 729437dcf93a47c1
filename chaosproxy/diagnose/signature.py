"""What bursts say of whoever made them: everything at the end, always so many bytes, or always after so long.

A buffer of bytes lets go of the same size whatever the time, and cuts events; a timer lets go of whole events whatever
the size. Rules: pure. Must not know: hops, causes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from chaosproxy.diagnose.shape import Burst, Shape, median

WHOLE, AT_THE_END = 0.8, 0.7
"""The share of everything in one burst, and how far through the time it comes, for it to be the whole."""
ALIKE = 0.03
"""Sizes that differ by less are one."""
HEAD = 1024
"""Bytes that the first buffer may have had to hold besides: the head."""
REGULAR = 0.12
"""The same of times."""
EARLY = 0.05
"""By which share of its time a timer may seem to go off too soon."""
MOST = 0.6
"""The share of bursts that must be so."""
TIMERS = (0.04, 0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Seconds at which timers of the kind are set: delayed acknowledgements, flush intervals, corks."""


class Kind(StrEnum):
    """How lumps come."""

    WHOLE = "whole"
    SIZED = "sized"
    TIMED = "timed"
    LUMPS = "lumps"


@dataclass(frozen=True, slots=True)
class Signature:
    """What the bursts have in common."""

    kind: Kind
    size: int = 0
    period: float = 0.0
    exact: bool = False


def signature(seen: Shape, gap: float, *, by_wire: bool) -> Signature:
    """`gap`: between the events of the stream, if that is known; `by_wire`: sizes are those of the coded bytes."""
    size: Callable[[Burst], int] = (
        (lambda burst: burst.size) if by_wire or not seen.text else (lambda burst: burst.text)
    )
    fullest = max(seen.bursts, key=seen.weight)
    late = fullest.time >= AT_THE_END * (seen.last or 0.0)
    if late and seen.weight(fullest) >= WHOLE * seen.amount:
        return Signature(Kind.WHOLE, size(fullest))
    full = seen.bursts[:-1]  # what the end has brought says nothing of a size, nor of a time
    sizes = [size(burst) for burst in full]
    middle = int(median(sizes) or 0)
    period = seen.period or 0.0
    cut = seen.answer.recorded and _share([not burst.whole for burst in full]) >= 0.5
    waits = [later.time - earlier.time for earlier, later in pairwise(full)]
    regular = len(waits) >= 2 and _share([abs(one - period) <= REGULAR * period for one in waits]) >= MOST
    buffer = _buffer(sizes) if cut else 0
    if buffer:
        return Signature(Kind.SIZED, buffer, period, exact=True)
    timer = _timer(period, gap) if regular else 0.0
    if timer:
        return Signature(Kind.TIMED, middle, timer)
    event = seen.text / seen.events if seen.events else 0.0
    near = len(full) >= 2 and _share([abs(one - middle) <= max(event, ALIKE * middle) for one in sizes]) >= WHOLE
    if near and middle >= 3 * event and _round(middle, event):
        return Signature(Kind.SIZED, middle, period)
    return Signature(Kind.TIMED if regular else Kind.LUMPS, middle, period)


def _timer(period: float, gap: float) -> float:
    """The one that makes this period: it goes off when its time is over, and is set again by what comes next. 0: none
    of the usual ones."""
    fits = (one for one in TIMERS if (1 - EARLY) * one <= period <= one + max(gap, REGULAR * one))
    return next(fits, 0.0)


def _share(facts: Sequence[bool]) -> float:
    return sum(facts) / len(facts) if facts else 0.0


def _buffer(sizes: Sequence[int]) -> int:
    """The size of the buffer that has cut these; 0: they are not alike. What the first lacks is the head. Of so few
    that nothing can be alike a round one is believed."""
    behind = sizes[1:] or sizes
    middle = int(median(behind) or 0)
    if len(behind) > 1:
        alike = _share([abs(one - middle) <= ALIKE * middle for one in behind]) >= MOST
        best = max(behind, key=behind.count)
        return (best if behind.count(best) > 1 else middle) if alike else 0
    rounded = 1 << max(0, middle - 1).bit_length()  # the next power of two
    if len(sizes) == 1:
        return rounded if rounded - HEAD // 2 <= middle else 0
    return rounded if middle == rounded and middle - HEAD <= sizes[0] <= middle else 0


def _round(size: int, event: float) -> bool:
    """A power of two, or just above one: whoever looks only after a whole event goes beyond it by as much."""
    power = 1 << max(0, size.bit_length() - 1)
    return any(one <= size * 1.02 and size <= one + max(event, 0.03 * one) for one in (power, 2 * power))
