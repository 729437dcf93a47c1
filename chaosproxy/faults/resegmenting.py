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
from chaosproxy.model.messages import Abort, Data, End, Event, Trailers

ROOM = 64 * 1024
"""Body bytes that may wait for their turn; then the sender has to."""
GLUE_ROOM = 1024 * 1024


@dataclass(slots=True)
class Turn:
    """The piece whose turn it is, and the cuts in what is left of it."""

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
        self._waiting: deque[Event] = deque()
        self._turn: Turn | None = None
        """Of the first that waits, once some of it has left, or might."""
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
        self._waiting.append(data)

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
        self._turn = None
        self.held, self.due = 0, math.inf
        return (PassOn(),)

    def _go_on(self, now: float) -> Actions:
        """Whatever may leave by now. A pause counts from when the piece has left: one that is late makes the next late."""
        actions: list[Action] = []
        waiting = self._waiting
        while waiting:
            first = waiting[0]
            if not isinstance(first, Data):
                actions.append(waiting.popleft())
                continue
            if self._free > now:
                self._acted = True
                break
            piece, cut = self._next(first)
            actions.append(piece)
            if cut:
                self._free = now + self._pause
            if self._turn is None:
                waiting.popleft()
            else:
                self._acted = True
        self.due = self._free if waiting else math.inf
        return (*self.once(self._detail), *actions) if self._acted else tuple(actions)

    def _next(self, data: Data) -> tuple[Data, bool]:
        """Of the first that waits, what lies before the next cut, or what is left; and whether a cut is behind it."""
        turn = self._turn = self._turn or Turn(Remains(data), self._cuts(data, self.kind))
        cut = next(turn.cuts, 0)
        piece = turn.remains.take(cut - turn.passed if cut else turn.remains.left)
        turn.passed += len(piece.payload)
        self.held -= len(piece.payload)
        if not turn.remains.left:
            if cut:
                next(turn.cuts, 0)  # there are no more: it keeps what it has to know of this piece
            self._turn = None
        return piece, bool(cut)


class RunningGlue(RunningResegment):
    """The same, where so many records become one piece."""

    capacity = GLUE_ROOM

    def __init__(self, events: int, pause: float, detail: str) -> None:
        super().__init__(_behind, pause, detail, needs_records=True)
        self._events = events
        self._payload, self._ends = bytearray(), list[int]()
        """What is glued so far, of however many pieces."""
        self._whole = True

    def _enter(self, data: Data) -> None:
        remains = Remains(data)
        while remains.left:
            missing = self._events - len(self._ends)
            piece = remains.take(remains.end_of(missing) if remains.records >= missing else remains.left)
            self._ends += [len(self._payload) + end for end in piece.ends]
            self._payload += piece.payload
            self._whole = piece.whole
            if len(self._ends) == self._events:
                self._flush()

    def _flush(self) -> None:
        if self._payload:
            self._acted = True
            super()._enter(Data(bytes(self._payload), tuple(self._ends), self._whole))
            self._clear()

    def _clear(self) -> None:
        self._payload.clear()
        self._ends.clear()

    def full(self, now: float) -> Actions:
        self._flush()
        return self._go_on(now)

    def hangup(self, now: float) -> Actions:
        self._clear()
        return super().hangup(now)


def _behind(data: Data, kind: object) -> Iterator[int]:  # noqa: ARG001 - as all cuts
    yield len(data.payload)
