"""One heap, one task and one timer for the deadlines of all exchanges.

Deadlines are lazy: an exchange sets the alarm only when its earliest one moves nearer; a ring that finds nothing due sets
it once more. A ring runs synchronously: wake, take, send; whoever is due at the same moment is rung in the same turn, and
the timer is set once behind them all. Must not know: what a ring does.
"""

import heapq
import math
from collections import deque
from typing import Protocol

import trio

from chaosproxy.wire.timer import Timer, timer

TURN = 0.002
"""Seconds of ringing behind which the others have their turn."""
MANY = 8
"""So many turns of ringing, in the time of four times as many that are as far apart as they should be, are left their own
times; from then on, who is due close together is rung together."""
_FEW = 64
"""So many outdated entries are not worth looking for."""


class Ringable(Protocol):
    """What can be woken: `armed` is the earliest time the alarm holds for it (infinite = none)."""

    armed: float

    def ring(self, now: float) -> None:
        """Its time has come. Must not raise."""
        ...


class Alarm:
    """Rings `Ringable`s at their time, never early."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Ringable]] = []
        self._timer: Timer | None = None
        self._next = -math.inf
        """What the timer is set to; -inf while it will be set anyway."""
        self._soonest = -math.inf
        """Not before: what is due until then is rung together."""
        self._turns = deque([-math.inf] * MANY, MANY)
        """When the last of them were."""
        self._count = 0
        self._outdated = 0
        """Entries of the heap that nobody waits for any more."""

    def set(self, who: Ringable, time: float) -> None:
        """Ring `who` at `time`, in the clock of trio.current_time. Call only with `time < who.armed`."""
        if who.armed != math.inf:
            self._leave_behind()
        who.armed = time
        self._count += 1
        heapq.heappush(self._heap, (time, self._count, who))
        if time < self._next > self._soonest and self._timer is not None:
            self._next = max(time, self._soonest)
            self._timer.set(self._next)

    def bring_forward(self, who: Ringable, time: float) -> None:
        """`set`, if it is nearer than what is set."""
        if time < who.armed:
            self.set(who, time)

    def forget(self, who: Ringable) -> None:
        """Never ring `who` again; what was set for it does not keep it in memory."""
        held = -math.inf < who.armed < math.inf
        who.armed = -math.inf
        if held:
            self._leave_behind()

    def _leave_behind(self) -> None:
        self._outdated += 1
        if self._outdated > _FEW + len(self._heap) // 2:
            # Of one that was set to the same far time again and again, each nearer one in between, one entry counts.
            live = {id(entry[2]): entry for entry in self._heap if entry[0] == entry[2].armed}
            self._heap = list(live.values())
            heapq.heapify(self._heap)
            self._outdated = 0

    async def run(self) -> None:
        """The alarm's task; runs until cancelled."""
        self._timer = timer()
        try:
            while True:
                self._next = max(self._heap[0][0], self._soonest) if self._heap else math.inf
                self._timer.set(self._next)
                await self._timer.wait()
                self._next = -math.inf
                now = trio.current_time()
                apart = self._timer.apart
                self._soonest = now + apart if now - self._turns[0] < 4 * MANY * apart else -math.inf
                self._turns.append(now)
                if not self._ring(now):
                    self._soonest = -math.inf
        finally:
            self._timer.close()
            self._timer = None

    def _ring(self, now: float) -> bool:
        """Whether everybody who is due by `now` has been rung; who is rung and due once more has to wait for the others."""
        last = self._count
        while self._heap and self._heap[0][0] <= now:
            if self._heap[0][1] > last or trio.current_time() > now + TURN:
                return False
            time, _, who = heapq.heappop(self._heap)
            if time == who.armed:
                who.armed = math.inf
                who.ring(now)
            else:
                self._outdated -= 1
        return True
