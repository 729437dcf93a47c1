"""Where a fault stands on one line: the queue of what it has let go, its room, its deadlines.

Rules: one FIFO; what leaves does so at max(its time, the floor), never before what stood in front of it. A place at
rest has no room of its own, else "neutral" would not be neutral: it admits what the next place admits.
Must not know: what enters (`stage.py`), what the fault does, what stands elsewhere.
"""

import math
from abc import ABC, abstractmethod
from collections import deque
from typing import TYPE_CHECKING

from chaosproxy.chain.actions import Actions, Rest
from chaosproxy.chain.fault import Fault
from chaosproxy.chain.neighbours import Director, Node
from chaosproxy.chain.placed import Placed
from chaosproxy.model.messages import Abort, Data, End, Event, Interim, RequestHead, ResponseHead
from chaosproxy.model.vocabulary import Framing

if TYPE_CHECKING:
    from chaosproxy.chain.line import Line
    from chaosproxy.chain.span import Span


FEW, SMALL = 4096, 16
"""So many pieces have room where their bytes have; where there are more, each takes up that many bytes at least."""


class Place(ABC):
    """The state of one fault's place, and what leaves it."""

    __slots__ = (
        "away", "before", "bytes", "chunks", "clocked", "closed", "controls", "director", "ended", "fault", "floor", "head", "hears_of_room", "index",
        "inert", "last", "let_go", "line", "mute", "next", "out_bytes", "outbox", "passed_head", "pause", "placed",
        "records", "rest", "sealed", "span", "stopped", "told", "undecided",
    )  # fmt: skip

    def __init__(self, index: int, placed: Placed, fault: Fault, director: Director) -> None:
        self.index = index
        """Which of the chain's faults; the same on both lines."""
        self.placed = placed
        self.fault = fault
        self.director = director
        self.hears_of_room = type(fault).unblocked is not Fault.unblocked or type(fault).blocks is not Fault.blocks
        self.rest: Rest | None = fault.rest
        self.bytes = self.records = self.chunks = 0
        """What has entered."""
        self.let_go = 0
        """Body bytes that have left, or will as soon as they may."""
        self.last = -math.inf
        """When a body byte last entered, or what else started the idle clock; -inf = it has not been started."""
        self.stopped: float | None = None
        """Since when the idle clock stands still, because the output is blocked."""
        self.outbox: deque[tuple[float, Event]] = deque()
        self.out_bytes = 0
        self.controls = 0
        """Events in the outbox that are no Data."""
        self.floor = -math.inf
        self.pause = -math.inf
        """The floor of what is emitted from now on."""
        self.clocked = True
        """It may have a deadline: it is awake, or its rest has a time."""
        self.away = 0.0
        """Until when the machine is gone; 0 = it is there."""
        self.head: ResponseHead | RequestHead | None = None
        """The head that has entered; then the one that has been let go, which the fault may have made itself."""
        self.passed_head = False
        """A head has been let go."""
        self.closed = False
        """Nothing enters any more and no timer fires; what was emitted still flows."""
        self.ended = False
        """The terminal has entered: the timers of the body are over."""
        self.mute = False
        """What is emitted is discarded: the receiver is gone."""
        self.told = False
        """It has been told that the client is gone."""
        self.sealed = False
        """A terminal has been emitted: nothing may follow it."""
        self.inert = False
        """`if` does not hold for this exchange."""
        self.undecided = False
        """Whether it does is known at the head; until then it does nothing."""
        self.span: Span | None = None
        self.before: Span | None = None
        self.next: Node
        self.line: Line

    @property
    def behind(self) -> Node:
        """What stands behind it, also while it stands in a span."""
        return self.next if self.span is None else self.span.next

    @property
    def in_tunnel(self) -> bool:
        """The End of this way is not that of the exchange: the upstream may still be told something."""
        return isinstance(self.head, ResponseHead) and self.head.framing is Framing.TUNNEL

    # ---- room

    def has_room(self, now: float) -> bool:
        """Whether a Data would be admitted now."""
        if self.closed or self.mute:
            return True  # it swallows: else it would block what stands before it
        if self._is_open(now):
            return self.next.has_room(now)
        return not self.away and self._takes_more()

    def make_room(self, now: float) -> bool:
        """Whether the Data that wants to enter now is admitted; a fault that is full is asked to release first."""
        if self.closed or self.mute:
            return True
        if self._is_open(now):
            return self.next.make_room(now)
        if self.away:
            return False
        fault = self.fault
        if fault.held + self.out_bytes >= fault.capacity and fault.held >= fault.capacity > 0:
            self.asked_full(now)
        return self.closed or self.mute or self._takes_more()

    def _takes_more(self) -> bool:
        """It has room in bytes; and many small pieces, which cost more than they hold, are fewer than would fill it."""
        capacity, count = self.fault.capacity, len(self.outbox)
        return self.fault.held + self.out_bytes < capacity and (count < FEW or count * SMALL < capacity)

    def _is_open(self, now: float) -> bool:
        """It holds nothing and adds no room: the next place decides."""
        if self.outbox or self.away:
            return False
        return self.fault.capacity == 0 or (self.rest is not None and max(self.floor, self.pause) <= now)

    @abstractmethod
    def act(self, actions: Actions, now: float) -> None:
        """Carry out what the fault has answered, in order."""

    @abstractmethod
    def hears_again(self, now: float) -> None:
        """The upstream is asked once more, as the fault has wanted it."""

    @abstractmethod
    def asked_full(self, now: float) -> None:
        """More wants to enter than the fault has room for."""

    # ---- what enters and leaves

    def count(self, data: Data) -> None:
        """`data` has entered."""
        self.bytes += len(data.payload)
        self.records += len(data.ends)
        self.chunks += data.whole

    def emit(self, event: Event, now: float, time: float = -math.inf) -> None:
        """Let `event` leave at `time`, or as soon as order, floor and room allow."""
        if self.mute or self.sealed:
            return
        release = max(time, self.floor, self.pause)
        if isinstance(event, Data):
            if not event.payload or (not self.passed_head and self.director.has_heads):
                return  # empty it would be a last chunk; in front of the head it has no place
            self.let_go += len(event.payload)
            if not self.outbox and release <= now and self.next.make_room(now):
                self.next.data(event, now)
                return
            self.out_bytes += len(event.payload)
        else:
            if isinstance(event, End | Abort):
                self.sealed = True
            elif isinstance(event, RequestHead | ResponseHead):
                self.head, self.passed_head = event, True
            if not self.outbox and release <= now:
                self._leave(event, now)
                return
            self.controls += 1
        self.outbox.append((release, event))
        self.line.dirty = True
        if release <= now:
            self.line.blocked = True

    def emit_ahead(self, data: Data, now: float) -> None:
        """Let `data` leave now, in front of what waits; if it cannot, it is dropped."""
        waits_for = self.outbox[0][1] if self.outbox else None
        if (
            self.mute
            or self.closed
            or not self.passed_head
            or isinstance(waits_for, RequestHead | ResponseHead | Interim)
        ):
            return
        if self.next.make_room(now):
            self.let_go += len(data.payload)
            self.next.data(data, now)

    def _leave(self, event: Event, now: float) -> None:
        if isinstance(event, End | Abort):
            self.closed = True  # no timer fires behind a terminal
        self.next.control(event, now)

    def release(self, now: float) -> None:
        """Let go of what is due and has room."""
        outbox = self.outbox
        while outbox:
            time, event = outbox[0]
            if max(time, self.floor) > now:
                return
            if isinstance(event, Data):
                if not self.next.make_room(now):
                    self.line.blocked = True
                    return
                if not outbox:
                    return  # asking for room has ended this place
                outbox.popleft()
                self.out_bytes -= len(event.payload)
                self.next.data(event, now)
            else:
                outbox.popleft()
                self.controls -= 1
                self._leave(event, now)

    def catch_up(self, now: float) -> None:
        """Let go of what has been due by `now` and whose leaving nobody could tell (`Line.unseen`), each at its own time."""
        outbox, moment = self.outbox, -math.inf
        while outbox and (time := max(outbox[0][0], self.floor)) <= now:
            moment = max(moment, time)
            _, event = outbox.popleft()
            assert isinstance(event, Data)
            self.out_bytes -= len(event.payload)
            self.next.data(event, moment)

    def abandon(self) -> None:
        """Its receiver is gone and it has nothing more to do: what it holds is discarded."""
        self.closed = True
        self.away = 0.0
        self.silence()

    def silence(self) -> None:
        """Discard what has been emitted, and whatever will be."""
        self.mute = True
        self.outbox.clear()
        self.out_bytes = self.controls = 0

    # ---- time

    def timer_due(self, now: float) -> float:
        """When the fault's own timer fires."""
        if self.away:
            return self.away  # also when what waited here has closed it just before
        if self.closed or self.inert or self.undecided:
            return math.inf
        rest = self.rest
        if rest is None or self.ended:
            return self.fault.due
        if self.span is not None:
            self.span.settle()
        due = min(rest.time, self.fault.due)
        # The idle clock stands still while the output is blocked.
        if rest.idle != math.inf and self.last != -math.inf and self.behind.has_room(now):
            due = min(due, self.last + rest.idle)
        return due
