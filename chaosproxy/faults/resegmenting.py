"""The running `resegment`: pieces, cut or glued, each behind a cut no sooner than the pause allows.

Rules: it holds the pieces whole, and what ends the message behind them; a cut is made when its turn has come, so that a long
piece costs nothing in advance. Must not know: where the cuts are (`cutting.py`).
"""

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from chaosproxy.chain.actions import Action, Actions, PassOn
from chaosproxy.chain.fault import Fault
from chaosproxy.chain.pieces import Remains
from chaosproxy.faults.cutting import Cuts
from chaosproxy.model.messages import Abort, Data, End, Event, Trailers, join

ROOM = 64 * 1024
"""Body bytes that may wait for their turn; then the sender has to."""
GLUE_ROOM = 1024 * 1024


@dataclass(slots=True)
class Waiting:
    """One piece, and the cuts in what is left of it."""

    remains: Remains
    cuts: Iterator[int]
    passed: int = 0
    """How many of its bytes have left."""


class RunningResegment(Fault):
    """Awake for the body."""

    capacity = ROOM

    def __init__(self, cuts: Cuts, pause: float, detail: str, *, needs_records: bool) -> None:
        self._cuts = cuts
        self._pause = pause
        self._detail = detail
        self._needs_records = needs_records
        self._waiting: deque[Waiting | Event] = deque()
        self._free = -math.inf
        """When the next piece may leave."""
        self._acted = False

    def data(self, data: Data, now: float) -> Actions:
        if self._needs_records and self.kind is None:
            return (data,)
        self.held += len(data.payload)
        self._enter(data)
        return self._go_on(now)

    def _enter(self, data: Data) -> None:
        self._waiting.append(Waiting(Remains(data), self._cuts(data, self.kind)))

    def _flush(self) -> None:
        """Nothing more comes: what waits for more is a piece as it is."""

    def control(self, event: Event, now: float) -> Actions:
        if not isinstance(event, Trailers | End | Abort):
            return (event,)
        self._flush()
        self._waiting.append(event)
        return self._go_on(now)

    def wake(self, now: float) -> Actions:
        return self._go_on(now)

    def hangup(self, now: float) -> Actions:
        self._waiting.clear()
        self.held, self.due = 0, math.inf
        return (PassOn(),)

    def _go_on(self, now: float) -> Actions:
        """Whatever may leave by now. A pause counts from when the piece has left: one that is late makes the next late."""
        actions: list[Action] = []
        waiting = self._waiting
        while waiting:
            first = waiting[0]
            if isinstance(first, Waiting):
                if self._free > now:
                    self._acted = True
                    break
                piece, cut = self._next(first)
                actions.append(piece)
                if cut:
                    self._free = now + self._pause
                if first.remains.left:
                    self._acted = True
                    continue
            else:
                actions.append(first)
            waiting.popleft()
        self.due = self._free if waiting else math.inf
        return (*self.once(self._detail), *actions) if self._acted else tuple(actions)

    def _next(self, waiting: Waiting) -> tuple[Data, bool]:
        """Up to the next cut, or what is left; and whether a cut is behind it."""
        cut = next(waiting.cuts, 0)
        piece = waiting.remains.take(cut - waiting.passed if cut else waiting.remains.left)
        waiting.passed += len(piece.payload)
        self.held -= len(piece.payload)
        if cut and not waiting.remains.left:
            next(waiting.cuts, 0)  # there are no more: it keeps what it has to know of this piece
        return piece, bool(cut)


class RunningGlue(RunningResegment):
    """The same, where so many records become one piece."""

    capacity = GLUE_ROOM

    def __init__(self, events: int, pause: float, detail: str) -> None:
        super().__init__(_behind, pause, detail, needs_records=True)
        self._events = events
        self._pieces: list[Data] = []
        self._records = 0

    def _enter(self, data: Data) -> None:
        remains = Remains(data)
        while remains.left:
            missing = self._events - self._records
            piece = remains.take(remains.end_of(missing) if remains.records >= missing else remains.left)
            self._pieces.append(piece)
            self._records += len(piece.ends)
            if self._records == self._events:
                self._flush()

    def _flush(self) -> None:
        if self._pieces:
            self._acted = True
            pieces, self._pieces, self._records = self._pieces, [], 0
            super()._enter(join(pieces))

    def full(self, now: float) -> Actions:
        self._flush()
        return self._go_on(now)

    def hangup(self, now: float) -> Actions:
        self._pieces.clear()
        return super().hangup(now)


def _behind(data: Data, kind: object) -> Iterator[int]:  # noqa: ARG001 - as all cuts
    yield len(data.payload)
