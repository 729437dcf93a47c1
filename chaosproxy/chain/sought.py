"""Which records a trigger means: the Nth, those that hold something, the last, the first from a byte or a time on; and
which of those by `every` and `times`.

Must not know: where a record lies in its pieces, what is done with it.
"""

import math

from chaosproxy.chain.patterns import Pattern, compiled
from chaosproxy.chain.trigger import Trigger
from chaosproxy.framing.records import payload as carried_by
from chaosproxy.framing.records import terminal
from chaosproxy.framing.splitter import RecordKind
from chaosproxy.model.json_values import holds, parse


class Sought:
    """One body's records, asked one by one."""

    def __init__(self, at: Trigger, kind: RecordKind, began: float = 0.0, speed: float = 1.0) -> None:
        """`began`, `speed`: those of the `Context`, for a place that is a time."""
        self._at = at
        self._kind = kind
        self._pattern: Pattern | None = compiled(at.match) if at.match is not None else None
        self._began = began
        self._speed = speed
        self._goal: float = at.event or at.chunk or at.bytes or at.time or (at.time is None)
        """The next that is meant: which of those that fit, or from which byte or second on."""
        self._fitted = 0
        self._fired = 0
        self.number = 0
        """Records so far."""

    @property
    def spent(self) -> bool:
        """None is meant any more."""
        at, turn = self._at, self._fired
        return turn > 0 and (at.every is None or (at.times is not None and turn >= at.times))

    @property
    def before(self) -> float:
        """How many records come before the next that may be meant; infinite: none is."""
        if self.spent:
            return math.inf
        return max(0.0, self._goal - self.number - 1) if self._counts else 0.0

    @property
    def _counts(self) -> bool:
        return self._at.event is not None or self._at.chunk is not None

    def skip_to_the_next(self) -> None:
        """All the records `before` it have passed, and were not asked for."""
        self.number += int(self.before)

    def miss(self) -> None:
        """A record has passed that nobody could read."""
        self.number += 1
        if self._counts and self.number >= self._goal:
            self._goal = self._goal + self._at.every if self._at.every is not None else math.inf

    def means(self, raw: bytes, end: int = 0, now: float = 0.0) -> bool:
        """Whether this unit is one; asked once for each, in order. `end`: the byte of the body behind it."""
        carried = carried_by(self._kind, raw)
        if carried is not None:
            self.number += 1
        if self.spent or not self._fits(raw, carried):
            return False
        reached = self._reached(end, now)
        if reached < self._goal:
            return False
        if self._at.every is not None:  # what was missed is not made up for
            self._goal += (1 + (reached - self._goal) // self._at.every) * self._at.every
        self._fired += 1
        return True

    def _reached(self, end: int, now: float) -> float:
        at = self._at
        if at.bytes is not None:
            return end
        if at.time is not None:
            return round((now - self._began) * self._speed, 9)
        if self._counts:
            return self.number
        self._fitted += 1
        return self._fitted

    def _fits(self, raw: bytes, carried: bytes | None) -> bool:
        if self._at.terminal is not None:
            return terminal(self._kind, raw)
        if carried is None:
            return False
        if self._pattern is not None:
            return self._pattern.search(raw) is not None
        return self._at.json is None or holds(parse(carried), self._at.json)
