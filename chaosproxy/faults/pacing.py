"""The running `pace` over the body, and `slow_reader`: so much in each turn.

Rules: it holds the pieces whole, and what ends the message behind them; a turn cuts what it needs, so that a long piece
costs nothing in advance. Must not know: heads and size lines (`asking.py`).
"""

import math
from collections import deque

from chaosproxy.chain.actions import Action, Actions, PassOn
from chaosproxy.chain.fault import Fault
from chaosproxy.chain.pieces import Remains
from chaosproxy.model.messages import Abort, Data, End, Event, Trailers

ROOM = 64 * 1024
"""Body bytes that may wait for their turn; then the sender has to."""
STOOD_STILL = 1.0
"""Seconds by which a turn that comes late is still made up for; who is later stood still, and so did the schedule."""


class RunningPace(Fault):
    """Awake for the body."""

    capacity = ROOM

    def __init__(self, most: int, every: float, detail: str, *, events: bool = False) -> None:
        """`most` bytes, or events, in each turn, `every` so many seconds."""
        self._most, self._every, self._detail = most, every, detail
        self._events = events
        self._waiting: deque[Remains | Event] = deque()
        self._next = -math.inf
        """When the present turn is over."""
        self._used = 0
        """Bytes or records that have left in it."""

    def data(self, data: Data, now: float) -> Actions:
        if self._events and self.kind is None:
            return (data,)
        self.held += len(data.payload)
        if not self._waiting and now >= self._next:
            self._next, self._used = now + self._every, 0
        self._waiting.append(Remains(data))
        return self._go_on(now)

    def control(self, event: Event, now: float) -> Actions:
        if self._waiting and isinstance(event, Trailers | End | Abort):
            self._waiting.append(event)
            return ()
        return (event,)

    def wake(self, now: float) -> Actions:
        return self._go_on(now)

    def hangup(self, now: float) -> Actions:
        self._waiting.clear()
        self.held, self.due = 0, math.inf
        return (PassOn(),)

    def _go_on(self, now: float) -> Actions:
        """Whatever has its turn by now; several turns if the alarm was late."""
        actions: list[Action] = []
        waiting = self._waiting
        while waiting:
            first = waiting[0]
            if isinstance(first, Remains):
                if self._used >= self._most:
                    if self._next > now:
                        break
                    began = now if now - self._next > max(STOOD_STILL, self._every) else self._next
                    self._next, self._used = began + self._every, 0
                actions.append(self._what_fits(first))
                if first.left:
                    continue
            else:
                actions.append(first)
            waiting.popleft()
        self.due = self._next if waiting else math.inf
        if waiting:
            actions += self.once(self._detail)
        return tuple(actions)

    def _what_fits(self, data: Remains) -> Data:
        """What of a piece the present turn carries, which is at least something."""
        cut = data.left
        left = self._most - self._used
        if not self._events:
            cut = min(cut, left)
        elif data.records >= left:
            cut = data.end_of(left)
        piece = data.take(cut)
        self._used += len(piece.payload) if not self._events else len(piece.ends)
        self.held -= len(piece.payload)
        return piece
