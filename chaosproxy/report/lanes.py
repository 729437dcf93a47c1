"""An exchange on a line of time: what came and what went as two lanes of columns, faults as numbered marks.

Rules: pure numbers; a column is a slice of time, its height the bytes in it, which grows with the square root, so that
an event of 50 bytes can be seen beside a burst of thousands. Must not know: how it is drawn.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from chaosproxy.journal.record import ExchangeRecord, Fired
from chaosproxy.report.line import deed

SHORTEST = 0.001
"""Seconds; what takes less is drawn as that."""
MARKED = 9
"""So many deeds of faults get a mark of their own, with words; of the others there is a number."""


@dataclass(frozen=True, slots=True)
class Lanes:
    """What there is to draw of one exchange."""

    seconds: float
    """What the whole width stands for: from the request's first byte to the last thing known."""
    arrivals: list[float]
    """Heights between 0 and 1, column by column."""
    deliveries: list[float]
    marks: list["Mark"]
    further: int
    """Deeds of faults that have no mark."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A fault has acted, once or again and again with the same words."""

    number: int
    """Counted from 1."""
    fired: Fired
    """The first of them."""
    times: list[float]
    """When, each of them."""

    def __str__(self) -> str:
        """`buffer in nginx: held 50 bytes (2 times)`."""
        return deed(self.fired) + (f" ({len(self.times)} times)" if len(self.times) > 1 else "")


def lanes(record: ExchangeRecord, columns: int) -> Lanes:
    """On as many columns."""
    seconds = max(SHORTEST, last(record))
    came, went = _bytes(record.arrivals, seconds, columns), _bytes(record.deliveries, seconds, columns)
    most = max(chain(came, went), default=0) or 1
    kept, further = _marks(record)
    return Lanes(seconds, _heights(came, most), _heights(went, most), kept, further)


def last(record: ExchangeRecord) -> float:
    """When the last thing happened that is known of."""
    times = record.times
    known = (
        times.request_end,
        times.upstream_head,
        times.head_sent,
        times.client_closed,
        times.upstream_closed,
        times.end,
    )
    seconds = [one for one in known if one is not None]
    seconds += [one for one, _ in (*record.arrivals, *record.deliveries)]
    seconds += [fired.t for fired in record.faults]
    return max(seconds, default=0.0)


def column(seconds: float, whole: float, columns: int) -> int:
    """In which of the columns, counted from 0, a moment lies."""
    return max(0, min(int(seconds / whole * columns), columns - 1))


def _bytes(marks: Iterable[tuple[float, int]], whole: float, columns: int) -> list[int]:
    counts = [0] * columns
    for seconds, nbytes in marks:
        counts[column(seconds, whole, columns)] += nbytes
    return counts


def _heights(counts: list[int], most: int) -> list[float]:
    return [math.sqrt(count / most) for count in counts]


def _marks(record: ExchangeRecord) -> tuple[list[Mark], int]:
    """What a fault does again with the same words is one mark."""
    found: dict[tuple[int, str, str], list[Fired]] = {}
    for fired in record.faults:
        found.setdefault((fired.hop, fired.fault, fired.detail), []).append(fired)
    marks = [Mark(number, deeds[0], [fired.t for fired in deeds]) for number, deeds in enumerate(found.values(), 1)]
    shown = marks[:MARKED]
    return shown, len(record.faults) + record.faults_dropped - sum(len(mark.times) for mark in shown)
