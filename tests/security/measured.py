"""What an attack over real sockets has cost the others."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from chaosproxy.model import codes
from tests.security.beside import Cost
from tests.security.rows import Row

AS_IT_MUST = "as it must"
P99, MEMORY, STAYS = 0.25, 32, 5
"""Seconds, MiB: what an attacker may cost the others. What is there of it when it is gone: STAYS is for what an allocator
keeps; of more a second run of the same attack must not add more than that."""
TRIES = 4
CUT = frozenset({codes.ENHANCE_YOUR_CALM})
LATE = "honest events late"


@dataclass(frozen=True, slots=True)
class Measured:
    """What came of one attack: the last of its runs."""

    name: str
    without: float
    cost: Cost
    lost: int
    wanted: Collection[int] = CUT
    """Each of its ends is one of these: the code of a GOAWAY, the status of an answer."""
    again: float | None = None
    """MiB that are left of a second attack on the same proxy, where more than STAYS was of the first."""
    runs: int = 1

    @property
    def ends(self) -> Sequence[float]:
        """Seconds from the first part until each of them."""
        return self.cost.said["cut"]

    @property
    def after(self) -> float:
        """Milliseconds until it ended, in the middle."""
        return sorted(self.ends)[len(self.ends) // 2] * 1000 if self.ends else math.inf

    @property
    def stays(self) -> float:
        """MiB that count as kept of it."""
        return self.cost.left if self.again is None else self.again

    @property
    def wrong(self) -> list[str]:
        """What was not as it must be."""
        found = {
            LATE: self.cost.beside > P99,
            "memory grows": self.cost.grown > MEMORY,
            "memory stays": self.stays > STAYS,
            f"descriptors {self.cost.descriptors:+d}": self.cost.descriptors != 0,
            f"threads {self.cost.threads:+d}": self.cost.threads != 0,
            "honest streams lost": self.lost > 0,
            "does not end as it must": not self.ends or not set(self.cost.said["codes"]) <= set(self.wanted),
        }
        return [f"{self.name}: {what}" for what, so in found.items() if so]

    @property
    def only_late(self) -> bool:
        """Which a neighbour on the machine can cause; anything else is our own doing."""
        return self.wrong == [f"{self.name}: {LATE}"]

    def __str__(self) -> str:
        cost = self.cost
        late = f"99 of 100 events within {cost.beside * 1000:.1f} ms ({self.without * 1000:.1f} without)"
        memory = f"{cost.grown:+.1f} MiB, of which {cost.left:+.1f} stay"
        if self.again is not None:
            memory += f" ({self.again:+.1f} of a second attack)"
        ended = f"ended {len(self.ends)} times, after {self.after:.0f} ms"
        return f"{self.name}: {cost.said['parts']:,} parts, {late}, {memory}, {ended}; {self.wrong or AS_IT_MUST}"


def row(title: str, found: Sequence[Measured], ends: str, seconds: float) -> Row:
    """The worst of all attacks of a kind, each of which must end as `ends` says."""
    late = max(found, key=lambda one: one.cost.beside)
    grown, stays = max(found, key=lambda one: one.cost.grown), max(found, key=lambda one: one.stays)
    again = sum(one.runs > 1 for one in found)
    return Row(
        name=f"real sockets: {title}",
        tried=len(found),
        must=f"99 of 100 honest events within {P99 * 1000:.0f} ms, in one of up to {TRIES} runs of {seconds:g} s, for the "
        f"machine is shared; in each run at most {MEMORY} MiB, {ends}; behind it at most {STAYS} MiB are left, or added by "
        "the same attack again, and descriptors and threads are as before",
        happens=", ".join([what for one in found for what in one.wrong]) or AS_IT_MUST,
        figure=f"{late.cost.beside * 1000:.0f} ms ({late.name}; {late.without * 1000:.0f} without), "
        f"{grown.cost.grown:+.1f} MiB ({grown.name}), of which {stays.stays:+.1f} at most stay ({stays.name}), ended after "
        f"{min(one.after for one in found):.0f} to {max(one.after for one in found):.0f} ms; {again} run more than once",
        by="python -m tests.security.attack",
    )
