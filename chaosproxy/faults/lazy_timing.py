"""The running `timeout` with a `lazy` timer: awake behind the head, it sees whether the timer is moved at all.

Must not know: what traffic says (`ignoring.py`), the other limits (`timing.py`).
"""

import math
from typing import TYPE_CHECKING

from chaosproxy.chain.actions import WAKE, Actions
from chaosproxy.chain.fault import Context
from chaosproxy.faults.timing import RunningTimeout
from chaosproxy.model.messages import Data, Event, ResponseHead

if TYPE_CHECKING:
    from chaosproxy.faults.timeout import Timeout

TIMER = "between_bytes"
_EXACTLY = 1e-9
"""Seconds: what sums of times may be off by."""


class LazyTimeout(RunningTimeout):
    """Rests until the head."""

    def __init__(self, spec: "Timeout", context: Context) -> None:
        super().__init__(spec, context)
        self._lazy = (spec.lazy or 0.0) / context.speed - _EXACTLY
        self._limit = (spec.between_bytes or math.inf) / context.speed

    def request_end(self, now: float) -> Actions:
        actions = super().request_end(now)
        if not self._head:
            return actions
        self.due = min(self._limits.values())  # an answer may be early
        return ()

    def control(self, event: Event, now: float) -> Actions:
        set_before = self._limits.get("first_byte", -math.inf)
        actions = super().control(event, now)
        if not isinstance(event, ResponseHead):
            return actions
        self._limits[TIMER] = set_before  # it is one timer, which has waited for the head before
        self._move(now)
        return (WAKE, event)

    def data(self, data: Data, now: float) -> Actions:
        if data.ends:
            self._saw_event()
        self._move(now)
        return (data,)

    def _move(self, now: float) -> None:
        if abs(now + self._limit - self._limits[TIMER]) >= self._lazy:
            self._limits[TIMER] = now + self._limit
        self.due = min(self._limits.values())

    def unblocked(self, since: float, now: float) -> Actions:
        """The clock has stood still."""
        self._limits[TIMER] += now - since
        self.due = min(self._limits.values())
        return ()

    def wake(self, now: float) -> Actions:
        late = {name: time for name, time in self._limits.items() if time <= now}
        if self.blocked:
            late.pop(TIMER, None)
        if late:
            return self._earliest(late)
        others = (time for name, time in self._limits.items() if name != TIMER)
        self.due = min(others, default=math.inf)
        return ()
