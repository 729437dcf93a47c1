"""The running `timeout` of what is `blocked`: awake, it passes everything on, and counts while nothing is taken.

Must not know: the limits of silence (`timing.py`).
"""

import math
from typing import TYPE_CHECKING

from chaosproxy.chain.actions import FOREVER, Actions, Finish
from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Context, Fault
from chaosproxy.model.units import show_duration

if TYPE_CHECKING:
    from chaosproxy.faults.timeout import Timeout


class UnreadTimeout(Fault):
    """Its place tells it when the other side stops taking, and when it goes on."""

    def __init__(self, spec: "Timeout", context: Context) -> None:
        assert spec.blocked is not None
        self._then = spec.then
        self._upstream: tuple[Ending, ...] | None = None if spec.side == "client" else ()
        self._limit = spec.blocked / context.speed
        self._detail = f"after {show_duration(spec.blocked)} (blocked)"

    def blocks(self, now: float) -> None:
        self.due = now + self._limit

    def unblocked(self, since: float, now: float) -> Actions:
        self.due = math.inf
        return ()

    def wake(self, now: float) -> Actions:
        self.due = math.inf
        return (FOREVER, Finish(self._then, "timeout:blocked", self._upstream, self._detail, overtakes=True))
