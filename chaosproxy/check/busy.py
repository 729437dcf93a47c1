"""How busy the machine is, by how late a clock of our own comes. Must not know: what else runs."""

from collections import deque

import trio

TICK = 0.05
KEPT = 20_000


class Lateness:
    """Ticks that came late, with the time at which they did; the last thousand seconds of them."""

    def __init__(self) -> None:
        self._late: deque[tuple[float, float]] = deque(maxlen=KEPT)

    async def run(self) -> None:
        """Tick, until it is cancelled."""
        while True:
            due = trio.current_time() + TICK
            await trio.sleep_until(due)
            now = trio.current_time()
            self._late.append((now, now - due))

    def since(self, time: float) -> float:
        """By how much the latest one was late, of those since then."""
        worst = 0.0
        for when, late in reversed(self._late):
            if when < time:
                break
            worst = max(worst, late)
        return worst
