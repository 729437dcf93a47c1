"""The few numbers by which two ways of the same stream are compared.

Seconds throughout. Must not know: how they were measured, how they are drawn.
"""

from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

from chaosproxy.client.answer import Answer


@dataclass(frozen=True, slots=True)
class Numbers:
    """Of one answer."""

    events: int
    first_event: float | None
    gap_median: float | None
    """Between neighbours; None with fewer than two."""
    gap_longest: float | None
    last_event: float | None
    total: float
    """To the end, or to where the client gave up."""

    @classmethod
    def of(cls, answer: Answer) -> "Numbers":
        times = [time for time, count in answer.events for _ in range(count)]
        gaps = [later - earlier for earlier, later in pairwise(times)]
        return cls(
            events=len(times),
            first_event=times[0] if times else None,
            gap_median=median(gaps) if gaps else None,
            gap_longest=max(gaps) if gaps else None,
            last_event=times[-1] if times else None,
            total=answer.ended,
        )


def as_json(answer: Answer) -> dict[str, Any]:
    """One answer for machines; times in seconds."""
    numbers = Numbers.of(answer)
    return {
        "protocol": answer.protocol,
        "status": answer.status,
        "head": _rounded(answer.head),
        "first_event": _rounded(numbers.first_event),
        "gap": {"median": _rounded(numbers.gap_median), "longest": _rounded(numbers.gap_longest)},
        "total": _rounded(numbers.total),
        "events": numbers.events,
        "bytes": sum(nbytes for _, nbytes in answer.traffic),
        "end": answer.end,
        "arrivals": [[_rounded(time), count] for time, count in answer.events],
    }


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 6)
