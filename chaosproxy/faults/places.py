"""The places of `accept`: who is served and who waits, of all clients together or of each one's address.

Never more than there are connections. Must not know: what becomes of who has no place.
"""

import math
from collections import Counter
from collections.abc import Callable
from typing import Protocol


class Comer(Protocol):
    """One connection."""

    address: str
    """Whose it is."""

    def ring(self, now: float) -> None:
        """It has a place now."""
        ...


class Doors:
    """What all connections that meet the fault have in common."""

    def __init__(self, most: int | None, queue: int | None, backlog: int | None = None, *, each: bool = False) -> None:
        self.backlog = backlog
        self.on_free: Callable[[], None] | None = None
        """Called when somebody has left."""
        self._most = math.inf if most is None else most
        self._queue = math.inf if queue is None else queue
        self._each = each
        self._first: float | None = None
        self._served: dict[Comer, None] = {}
        self._waiting: dict[Comer, None] = {}
        self._counts: Counter[str] = Counter()
        """Of those that are served, by whom they are counted together."""
        self._queued: Counter[str] = Counter()

    @property
    def full(self) -> bool:
        """There is no place."""
        return len(self._served) >= self._most

    def open_for(self, now: float) -> float:
        """Seconds since the first came."""
        if self._first is None:
            self._first = now
        return now - self._first

    def _of(self, who: Comer) -> str:
        return who.address if self._each else ""

    def take(self, who: Comer) -> bool:
        """A place, if one is free."""
        key = self._of(who)
        if self._counts[key] >= self._most:
            return False
        self._served[who] = None
        self._counts[key] += 1
        return True

    def join(self, who: Comer) -> bool:
        """Wait for one, if there is room for that: it is given by a ring."""
        key = self._of(who)
        if self._queued[key] >= self._queue:
            return False
        self._waiting[who] = None
        self._queued[key] += 1
        return True

    def leave(self, who: Comer, now: float) -> None:
        """Neither served nor waiting any more: who has waited longest gets the place."""
        key = self._of(who)
        if who in self._waiting:
            self._no_longer_waits(who)
        elif who in self._served:
            del self._served[who]
            _one_less(self._counts, key)
            following = next((one for one in self._waiting if self._of(one) == key), None)
            if following is not None:
                self._no_longer_waits(following)
                self.take(following)
                following.ring(now)
        if self.on_free is not None:
            self.on_free()

    def _no_longer_waits(self, who: Comer) -> None:
        del self._waiting[who]
        _one_less(self._queued, self._of(who))


def _one_less(counts: Counter[str], key: str) -> None:
    """Who has none left is forgotten."""
    counts[key] -= 1
    if not counts[key]:
        del counts[key]
