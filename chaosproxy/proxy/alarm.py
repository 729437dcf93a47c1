"""One heap and one task for the deadlines of all exchanges.

Timers are lazy: an exchange sets the alarm only when its earliest deadline moves nearer; a ring that finds nothing due
sets it once more. A ring runs synchronously: wake, take, send. Must not know: what a ring does.
"""

import heapq
import math
from typing import Protocol

import trio


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
        self._scope = trio.CancelScope()
        self._count = 0

    def set(self, who: Ringable, time: float) -> None:
        """Ring `who` at `time`, in the clock of trio.current_time. Call only with `time < who.armed`."""
        who.armed = time
        self._count += 1
        heapq.heappush(self._heap, (time, self._count, who))
        self._scope.deadline = min(self._scope.deadline, time)

    async def run(self) -> None:
        """The alarm's task; runs until cancelled."""
        while True:
            self._scope = trio.CancelScope(deadline=self._heap[0][0] if self._heap else math.inf)
            with self._scope:
                await trio.sleep_forever()
            now = trio.current_time()
            while self._heap and self._heap[0][0] <= now:
                time, _, who = heapq.heappop(self._heap)
                if time == who.armed:  # else an earlier ring has replaced it
                    who.armed = math.inf
                    who.ring(now)
