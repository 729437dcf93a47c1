"""What a stall that says something meanwhile has to know: whether it stands between two records, and when to speak.

Must not know: how a stall is carried out, what is said.
"""

import math
from collections import deque

from chaosproxy.chain.trigger import Trigger
from chaosproxy.framing.choose import splitter_for
from chaosproxy.framing.splitter import RecordKind, Splitter
from chaosproxy.model.messages import Data
from chaosproxy.model.vocabulary import Moment


class Between:
    """Whether a place is between two records, where a keep-alive can stand, or inside one."""

    def __init__(self, at: Trigger) -> None:
        counted = at.bytes is not None or at.chunk is not None
        by_clock = at.time is not None or at.idle is not None
        self.must_look = counted or by_clock or at.moment is Moment.END
        """It takes a look at the body to know; all other places are where one record ends and the next begins."""
        self._units: Splitter | None = None
        self._now = True
        self._stalled = True

    def saw(self, data: Data, kind: RecordKind | None) -> None:
        """So much more has passed."""
        if kind is None:
            return
        if self._units is None:
            self._units = splitter_for(kind, every_unit=True)
        ends = self._units.feed(data.payload)
        self._now = bool(ends) and ends[-1] == len(data.payload)

    def records(self, *, stalled: bool) -> bool:
        """Here. With `stalled` a stall lasts already: its place counts, not what has come since."""
        if not stalled:
            self._stalled = self._now
        return self._stalled


class Beats:
    """When to speak: every so long, counted from where each stall begins."""

    def __init__(self, every: float) -> None:
        self._every = every
        self._stalls: deque[tuple[float, float]] = deque()
        """The first is the present one, or was."""
        self._said = 0

    def add(self, begin: float, until: float, *, extends: bool) -> None:
        """A further stall; or the last one goes on longer."""
        if extends and self._stalls:
            begin, _ = self._stalls.pop()
        self._stalls.append((begin, until))

    @property
    def due(self) -> float:
        """When next; infinite if never."""
        while len(self._stalls) > 1 and self._next >= self._stalls[0][1]:
            self._stalls.popleft()
            self._said = 0
        return self._next if self._next < self._stalls[0][1] else math.inf

    def beaten(self, now: float) -> None:
        """It has been said; what was missed is not made up for."""
        begin, _ = self._stalls[0]
        self._said = max(self._said + 1, int((now - begin) / self._every))

    @property
    def _next(self) -> float:
        return self._stalls[0][0] + (self._said + 1) * self._every
