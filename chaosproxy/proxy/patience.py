"""How long a client may take for what it has begun to say: a request's head, a frame, what its session begins with.

Only while nothing runs on its connection: a stream may be as slow as it likes, and so may a body. Who is silent has begun
nothing, and stays: pools and browsers open connections ahead. Must not know: what is said to one that is too slow.
"""

import math
from typing import Protocol

from chaosproxy.proxy.alarm import Alarm

BEGUN = 30.0
"""Seconds from the first byte of what is not complete."""


class Slow(Protocol):
    """A client's connection."""

    first_byte: float | None
    """When the first byte of what is not complete has come."""

    def overdue(self, now: float) -> None:
        """It has taken too long. Must not raise."""
        ...


class Patience:
    """With one connection; what the alarm rings for it."""

    __slots__ = ("_alarm", "_who", "armed")

    def __init__(self, who: Slow, alarm: Alarm) -> None:
        self.armed = math.inf
        self._who, self._alarm = who, alarm

    def begin(self, began: float) -> None:
        """What began then is not complete."""
        self._alarm.bring_forward(self, began + BEGUN)

    def forget(self) -> None:
        """The connection is gone."""
        self._alarm.forget(self)

    def ring(self, now: float) -> None:
        """What had begun then may have been completed long ago, and something else begun."""
        began = self._who.first_byte
        if began is None:
            return
        if now < began + BEGUN:
            self._alarm.set(self, began + BEGUN)
        else:
            self._who.overdue(now)
