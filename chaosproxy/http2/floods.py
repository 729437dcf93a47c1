"""How much useless work a peer may cause: a bucket of points that refills with time.

Rules: every frame that costs us more than it can be worth to an honest peer takes points; an honest peer never gets near
the bottom, whoever does is cut with ENHANCE_YOUR_CALM and the cause `flood:NAME`. The clock is handed in; without one no
time passes and nothing refills. Must not know: frames, streams.
"""

from collections.abc import Callable

from chaosproxy.http2.mistakes import ConnectionFault
from chaosproxy.model.codes import ENHANCE_YOUR_CALM

POINTS = 1000
PER_SECOND = 100

RESET = 10
"""A stream reset before it was answered (CVE-2023-44487), or by us for the peer's mistake (CVE-2025-8671)."""
SETTINGS = 5
MANY_SETTINGS = 50
"""More pairs in one frame than there are settings worth naming."""
SMALL = 1
"""PING, PRIORITY, an empty DATA frame, an interim answer: cheap, and sometimes useful."""
UNKNOWN = 1 / 16
WIDER = 1 / 4
"""A window that is opened further than it began, and than it ever was, again: an honest peer gives back what it has taken."""
FIELD = 1 / 16
"""A field of a head that has more than a head may have."""
LATE_FIELD = 1 / 64
"""A field of a block behind the end of its stream: it is decoded for nothing, and may have been under way."""


class Bucket:
    """The points that one connection has left."""

    __slots__ = ("_clock", "_level", "_now")

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._level: float = POINTS
        self._now = clock()

    def charge(self, name: str, points: float) -> None:
        """Take `points` for `name`. ConnectionFault once there are none left."""
        now = self._clock()
        self._level = min(POINTS, self._level + (now - self._now) * PER_SECOND) - points
        self._now = now
        if self._level < 0:
            raise ConnectionFault(ENHANCE_YOUR_CALM, f"too many: {name}", cause=f"flood:{name}")
