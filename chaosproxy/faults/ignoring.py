"""The running `timeout` that looks through keep-alives: awake behind the head, it reads what may be ignored.

Must not know: the other limits (`timing.py`).
"""

import math

from chaosproxy.chain.actions import WAKE, Actions
from chaosproxy.faults.timing import RunningTimeout
from chaosproxy.framing.blocks import Blocks
from chaosproxy.framing.splitter import RecordKind
from chaosproxy.framing.traffic import KEEP_ALIVES, KeepAlive, traffic
from chaosproxy.model.messages import Data, Event, ResponseHead


class IgnoringTimeout(RunningTimeout):
    """Rests until the head, and behind it too where nothing can be told apart."""

    _asked: float | None = None
    _life: "Life"

    def request_end(self, now: float) -> Actions:
        self._asked = now
        return super().request_end(now)

    def control(self, event: Event, now: float) -> Actions:
        actions = super().control(event, now)
        if not isinstance(event, ResponseHead) or self.kind is None:
            return actions
        self._start_idle()
        self._life = Life(self.kind, self._spec.ignore, now if self._asked is None else self._asked)
        self._plan()
        return (WAKE, event)

    def data(self, data: Data, now: float) -> Actions:
        self._life.feed(data.payload, now)
        if data.ends:
            self._saw_event()
        self._plan()
        return (data,)

    def unblocked(self, since: float, now: float) -> Actions:
        self._life.paused(since, now)
        self._plan()
        return ()

    def wake(self, now: float) -> Actions:
        late = {name: time for name, time in self._limits.items() if time <= now}
        idle = self._life.last + self._idle
        if not self.blocked and idle <= now:
            late["idle"] = idle
        if late:
            return self._earliest(late)
        # Silent because nobody takes anything: the clock stands still until `unblocked`.
        self.due = min(self._limits.values(), default=math.inf)
        return ()

    def _plan(self) -> None:
        self.due = min([self._life.last + self._idle, *self._limits.values()])


LONG = 1024
"""Bytes of a comment beyond which it counts until it has ended: nobody has to look through it at each piece."""


class Life:
    """When a body last said something, keep-alives left out."""

    def __init__(self, kind: RecordKind, ignored: tuple[KeepAlive, ...], since: float) -> None:
        self.said = since
        """When something that counts was last complete."""
        self._begun = since
        self._kind = kind
        self._ignored = {KEEP_ALIVES[name] for name in ignored}
        self._blocks = Blocks(kind)

    @property
    def last(self) -> float:
        """The bytes of a unit count as they come, unless it turns out that it has to be ignored: a comment from its colon
        on, all else at its end."""
        return max(self.said, self._begun) if self._blocks.held and not self._in_comment else self.said

    @property
    def _in_comment(self) -> bool:
        if self._kind != "sse" or "comment" not in self._ignored or self._blocks.held > LONG:
            return False
        return all(line.startswith(b":") for line in self._blocks.unfinished.splitlines())

    def paused(self, since: float, now: float) -> None:
        """The clock has stood still from `since` until now."""
        self.said = now - max(0.0, since - self.said)
        self._begun = now - max(0.0, since - self._begun)

    def feed(self, payload: bytes, now: float) -> None:
        units = [unit for _, unit in self._blocks.feed(payload)]
        if self._blocks.giving_up or any(
            unit is None or traffic(self._kind, unit) not in self._ignored for unit in units
        ):
            self.said = now  # what is too long to be told counts
        self._begun = now
