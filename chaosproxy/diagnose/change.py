"""What a hop has made of a stream: one answer beside that of the hop inside of it, or by itself.

Rules: pure. A change is named only where it is far beyond what a busy machine does; thresholds stand here, and nowhere
else. Must not know: who the hop is, why it does so, what would mend it.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from chaosproxy.client.answer import GAVE_UP
from chaosproxy.diagnose.shape import Shape, median
from chaosproxy.diagnose.signature import Kind, Signature, signature

SLOWER = 2.5
"""Things wait so many times as long as inside, and"""
NOTICED = 0.03
"""so many seconds longer, and"""
FULLER = 1.8
"""so many times as much comes together: then it comes in lumps."""
FEW = 3
"""Of fewer events nobody can say how they come."""
ENOUGH = 5
"""Events, or"""
ENOUGH_TEXT = 2048
"""bytes without events, for a stream to be judged by itself;"""
LONG = 0.15
"""and seconds that it takes."""
MOST = 0.8
"""The share of what came inside that is nearly all of it."""
ALIKE = 0.6
"""The share of events that are late by the same, for all to be."""
LATE = 0.12
"""Seconds, the same for all, that are worth a word."""


class Trouble(StrEnum):
    """What is no matter of bursts."""

    SILENT = "silent"
    STALLS = "stalls"
    REFUSED = "refused"
    BROKEN = "broken"
    LOSES = "loses"
    BEHIND = "one behind"
    LATE = "late"
    NONE = "streams"
    UNKNOWN = "cannot tell"


GOOD = frozenset({Trouble.NONE, Trouble.LATE, Trouble.UNKNOWN})
"""With these a hop does not break streaming."""


@dataclass(frozen=True, slots=True)
class Change:
    """What was found."""

    kind: Kind | Trouble
    seen: Shape
    inside: Shape | None = None
    size: int = 0
    """Bytes that it lets go of at a time; as they are on the wire, if the answer is coded."""
    period: float = 0.0
    """Seconds between two times that it lets go of something, or by which everything is late."""
    exact: bool = False
    """The bursts end inside events: whoever made them counts bytes."""

    @property
    def good(self) -> bool:
        return self.kind in GOOD

    @property
    def coded(self) -> bool:
        """It was this hop that has coded it."""
        had = self.inside.answer.header("content-encoding") if self.inside is not None else ""
        return bool(self.seen.answer.header("content-encoding")) and not had

    @property
    def counted(self) -> bool:
        """It knew the length before it began, and nobody had told it."""
        had = self.inside is not None and bool(self.inside.answer.header("content-length"))
        return bool(self.seen.answer.header("content-length")) and not had


def change(seen: Shape, inside: Shape | None) -> Change:
    """`inside`: the typical answer of the hop inside, None for a hop that is judged by itself."""
    refused = _refused(seen, inside)
    if refused is not None:
        return Change(refused, seen, inside)
    if inside is not None and not inside.bursts:
        return Change(Trouble.UNKNOWN, seen, inside)
    if _in_lumps(seen, inside):
        marks = _marks(seen, inside)
        return Change(marks.kind, seen, inside, marks.size, marks.period, marks.exact)
    if _loses(seen, inside):
        return Change(Trouble.LOSES, seen, inside)
    late = _lateness(seen, inside)
    if late is not None:
        return late
    return Change(Trouble.NONE if _enough(seen) else Trouble.UNKNOWN, seen, inside)


def _refused(seen: Shape, inside: Shape | None) -> Trouble | None:
    """No stream at all, or not the whole of it."""
    answer, before = seen.answer, inside.answer if inside is not None else None
    if answer.status is None:
        return Trouble.SILENT if answer.end == GAVE_UP else Trouble.BROKEN
    if answer.status >= 300 and (before is None or (before.status or 0) < 300):
        return Trouble.REFUSED
    whole = {"clean", GAVE_UP}
    if answer.end not in whole and (before is None or before.end in whole):
        return Trouble.BROKEN
    if inside is None or not inside.bursts:
        return None
    if answer.end == GAVE_UP and inside.answer.end != GAVE_UP and seen.amount < MOST * inside.amount:
        return Trouble.STALLS if seen.bursts else Trouble.SILENT
    if not seen.bursts and answer.end == inside.answer.end:
        return Trouble.SILENT if answer.end == GAVE_UP else Trouble.LOSES
    return None


def _in_lumps(seen: Shape, inside: Shape | None) -> bool:
    if not seen.bursts:
        return False
    if inside is None:
        return _enough(seen) and (_all_at_once(seen) or _regular(seen))
    if seen.amount < FEW:
        return False
    if seen.counts != inside.counts:
        inside = replace(inside, counts=seen.counts)  # a coding that cannot be read
    wait, had = seen.wait(inside.first or 0.0), inside.wait(inside.first or 0.0)
    fuller = seen.together >= FULLER * max(1, inside.together)
    return fuller and wait >= SLOWER * had and wait - had >= NOTICED


def _all_at_once(seen: Shape) -> bool:
    """By itself: nothing for a while, then everything. One that answers as fast as it can has no such while."""
    fullest = max(seen.bursts, key=seen.weight)
    return fullest.time >= LONG and 5 * seen.weight(fullest) >= 4 * seen.amount and _brief(seen)


def _brief(seen: Shape) -> bool:
    fullest = max(seen.bursts, key=seen.weight)
    return fullest.until - fullest.time <= max(0.02, 0.1 * fullest.time)


def _regular(seen: Shape) -> bool:
    """By itself: bursts that nobody makes by chance."""
    if seen.together < FEW or seen.wait(seen.first or 0.0) < 2 * NOTICED:
        return False
    marks = signature(seen, 0.0, by_wire=False)
    return marks.kind in {Kind.SIZED, Kind.TIMED}


def _marks(seen: Shape, inside: Shape | None) -> Signature:
    coded = bool(seen.answer.header("content-encoding"))
    gap = median(inside.gaps) if inside is not None else None
    return signature(seen, gap or 0.0, by_wire=coded)


def _enough(seen: Shape) -> bool:
    much = seen.amount >= (ENOUGH if seen.counts == "events" else ENOUGH_TEXT)
    return much and (seen.last or 0.0) >= LONG


def _loses(seen: Shape, inside: Shape | None) -> bool:
    """Fewer events, and a clean end all the same."""
    if inside is None or inside.counts != "events" or seen.answer.end != "clean" or inside.answer.end != "clean":
        return False
    return seen.events < MOST * inside.events and inside.events >= ENOUGH


def _lateness(seen: Shape, inside: Shape | None) -> Change | None:
    """Each event by itself, and all of them later. By a gap, or by a cork's 200 ms, and the end brings the last sooner:
    something waits for the next, or for its time, and the end lets it go. Else the whole way takes longer."""
    if inside is None or seen.counts != "events" or seen.events != inside.events or seen.events < ENOUGH:
        return None
    lags = [late - early for late, early in zip(seen.times, inside.times, strict=True)]
    gap, lag = median(inside.gaps) or 0.0, median(lags) or 0.0
    if sum(abs(one - lag) <= max(0.5 * gap, 0.01) for one in lags) < ALIKE * len(lags):
        return None
    ends = seen.answer.end == inside.answer.end == "clean"
    drawn_in = ends and _tail(inside) - _tail(seen) >= 0.6 * lag
    if drawn_in and gap >= 0.02 and 0.5 * gap <= lag <= 2 * gap:
        return Change(Trouble.BEHIND, seen, inside, period=lag)
    if lag < LATE:
        return None
    return Change(Kind.TIMED if drawn_in and 0.17 <= lag <= 0.26 else Trouble.LATE, seen, inside, period=lag)


def _tail(one: Shape) -> float:
    """From the last event but one to the end: whenever an answer has begun, it is as long."""
    return one.answer.ended - one.times[-2]
