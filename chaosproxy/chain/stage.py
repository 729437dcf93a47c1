"""A fault's place on one way: it counts, cuts at the exact byte, keeps order and holds back what may not leave yet.

Rules: one FIFO; what leaves does so at max(its time, the floor), never before what stood in front of it. The fault
neither counts nor cuts. An action is the only thing that can wake a fault or lay it to rest.
Must not know: what the fault does, what stands elsewhere in the line.
"""

import math
from collections import deque
from typing import TYPE_CHECKING, Protocol

from chaosproxy.chain.actions import FOREVER as ALWAYS
from chaosproxy.chain.actions import At, Cancel, Finish, Floor, Note, PassOn, Reply, Rest, Wake
from chaosproxy.chain.conditions import holds_for_head
from chaosproxy.chain.fault import Fault
from chaosproxy.chain.placed import Placed
from chaosproxy.errors import FaultBug
from chaosproxy.model.messages import (
    Abort,
    Data,
    End,
    Event,
    Goaway,
    Interim,
    RequestHead,
    ResponseHead,
    Trailers,
    without_length,
)
from chaosproxy.model.places import Moment, Way

if TYPE_CHECKING:
    from chaosproxy.chain.actions import Action, Actions
    from chaosproxy.chain.line import Line
    from chaosproxy.chain.span import Node, Span


class Director(Protocol):
    """The chain, as a place needs it: what reaches beyond the place."""

    def note(self, stage: "Stage", kind: str, detail: str, now: float) -> None: ...
    def passed_on(self, stage: "Stage", now: float) -> None: ...
    def cancel(self, stage: "Stage", cause: str, now: float) -> None: ...
    def finish(self, stage: "Stage", finish: Finish, now: float) -> None: ...
    def reply(self, stage: "Stage", reply: Reply, now: float) -> None: ...


class Stage:
    """The place of one fault on one line."""

    __slots__ = (
        "before",
        "bytes",
        "chunks",
        "closed",
        "director",
        "ended",
        "fault",
        "floor",
        "has_control",
        "head",
        "index",
        "inert",
        "last",
        "line",
        "mute",
        "next",
        "out_bytes",
        "outbox",
        "placed",
        "records",
        "rest",
        "sealed",
        "span",
        "told",
    )  # fmt: skip

    def __init__(self, index: int, placed: Placed, fault: Fault, director: Director) -> None:
        self.index = index
        self.placed = placed
        self.fault = fault
        self.director = director
        self.rest: Rest | None = fault.rest
        self.bytes = self.records = self.chunks = 0
        """What has entered this place."""
        self.last = -math.inf
        """When a body byte last entered, or what else restarts the idle clock."""
        self.outbox: deque[tuple[float, Event]] = deque()
        self.out_bytes = 0
        self.floor = -math.inf
        self.head: ResponseHead | RequestHead | None = None
        """The head that has passed."""
        self.closed = False
        """Nothing enters any more and no timer fires; what was emitted still flows."""
        self.ended = False
        """The terminal has entered: body timers are over."""
        self.mute = False
        """What is emitted is discarded: the receiver is gone."""
        self.told = False
        """It has been told that the client is gone."""
        self.sealed = False
        """A terminal has been emitted: nothing may follow it."""
        self.inert = False
        self.has_control = type(fault).control is not Fault.control or placed.spec.edits_body
        self.span: Span | None = None
        self.before: Span | None = None
        self.next: Node
        self.line: Line

    # ---- what enters

    def make_room(self, now: float) -> bool:
        """Whether a Data is admitted now; a fault that is full is asked to release first."""
        if self.closed or self.mute:
            return True
        fault = self.fault
        if fault.capacity == 0 or (self.rest is not None and not self.outbox and self.floor <= now):
            return not self.outbox and self.next.make_room(now)
        if fault.held + self.out_bytes < fault.capacity:
            return True
        if fault.held >= fault.capacity:
            self.act(self._ask("full", now), now)
        return self.closed or fault.held + self.out_bytes < fault.capacity

    def data(self, data: Data, now: float) -> None:
        """A piece of body enters, whole; a limit that lies in it is met at its exact byte."""
        rest_of: Data | None = data
        while rest_of is not None and not self.closed:
            self.last = now
            if self.rest is None:
                piece, rest_of = rest_of, None
                self._count(piece)
                self.act(self._ask("data", piece, now), now)
            else:
                rest_of = self._pass_resting(rest_of, now)
        self.drowse(now)

    def _pass_resting(self, data: Data, now: float) -> Data | None:
        """Pass `data` up to the nearest limit of the rest, and meet it; what is left behind the limit."""
        rest = self.rest
        assert rest is not None
        if rest.moment is Moment.BODY:
            self.reach("moment", now)
            return data
        cut, limit = self._limit_in(data, rest)
        if limit is None:
            self._count(data)
            self.emit(data, now)
            return None
        size = len(data.payload)
        if cut == 0:
            self.reach(limit, now)
            return data
        left, right = data.split(cut) if cut < size else (data, None)
        self._count(left)
        self.rest = None
        actions = self._ask("reached", limit, now)
        if right is not None and any(isinstance(one, Finish) and _mid_chunk(one) for one in actions):
            left.size = size  # the chunk that the cut falls into keeps the size it announces
        self.emit(left, now)
        self.act(actions, now)
        return right

    def _limit_in(self, data: Data, rest: Rest) -> tuple[int, str | None]:
        """The offset of the nearest limit in `data` and its name; None if there is none."""
        size = len(data.payload)
        cut, limit = size, None
        missing = rest.bytes - self.bytes
        if missing <= size:
            cut, limit = max(0, int(missing)), "bytes"
        wanted = rest.records - self.records
        if wanted <= len(data.ends) and (data.ends or wanted <= 0):
            end = data.ends[int(wanted) - 1] if wanted > 0 else 0
            if limit is None or end < cut:
                cut, limit = end, "records"
        if data.whole and rest.chunks - self.chunks <= 1 and limit is None:
            cut, limit = size, "chunks"
        return cut, limit

    def _count(self, data: Data) -> None:
        self.bytes += len(data.payload)
        self.records += len(data.ends)
        self.chunks += data.whole

    def cares(self, event: Event) -> bool:
        """Whether a control event must be shown to this place though it rests."""
        if self.closed or self.inert:
            return False
        rest = self.rest
        if isinstance(event, Interim):
            return False
        if isinstance(event, ResponseHead | RequestHead):
            self.head = event
            self.fault.kind = self.line.kind
            if self.placed.spec.if_ is not None and isinstance(event, ResponseHead):
                return True
        moment = rest is not None and rest.moment is not None
        last_record = self.line.pending_record and rest is not None and rest.records != math.inf
        return self.has_control or moment or last_record

    def control(self, event: Event, now: float) -> None:
        """A head, trailers or terminal enters, in its place behind the data before it."""
        if self.closed:
            return
        if isinstance(event, Interim | Goaway):
            self.emit(event, now)
            return
        if isinstance(event, ResponseHead | RequestHead):
            self.head = event
            self.fault.kind = self.line.kind
            if isinstance(event, ResponseHead) and not holds_for_head(self.placed.spec.if_, event):
                self.make_inert()
            elif self.placed.spec.edits_body and isinstance(event, ResponseHead):
                event = self.head = without_length(event)
        if isinstance(event, Trailers | End) and not self.ended:
            self._last_moment(now)
            if self.closed:
                return
        if isinstance(event, End | Abort):
            self.ended = True
        self.act((event,) if self.inert else self._ask("control", event, now), now)
        rest = self.rest
        if rest is not None and not self.closed and rest.moment is not None:
            head = isinstance(event, ResponseHead | RequestHead)
            if (head and rest.moment is Moment.HEADERS) or (isinstance(event, End) and rest.moment is Moment.AFTER_END):
                self.reach("moment", now)
                self.closed = self.closed or isinstance(event, End)
        self.drowse(now)

    def _last_moment(self, now: float) -> None:
        """The body has ended: its last, unterminated line counts, and `end` has come."""
        rest = self.rest
        if self.line.pending_record and not self.ended:
            self.records += 1
            if rest is not None and self.records >= rest.records:
                self.reach("records", now)
                rest = self.rest
        if rest is not None and rest.moment is Moment.END and not self.closed:
            self.reach("moment", now)

    # ---- what the fault answers

    def _ask(self, handler: str, *arguments: object) -> "Actions":
        try:
            answer: Actions = getattr(self.fault, handler)(*arguments)
        except Exception as error:
            raise FaultBug(self.placed.hop, self.placed.spec.name, arguments[0], error) from error
        return answer

    def reach(self, limit: str, now: float) -> None:
        """A limit of the rest is met: the fault is awake unless it answers a new Rest."""
        self.rest = None
        self.fault.blocked = not self.next.make_room(now)
        self.act(self._ask("reached", limit, now), now)

    def act(self, actions: "Actions", now: float) -> None:
        """Carry out what the fault has answered, in order."""
        self.line.dirty = True
        for action in actions:
            self._act_on(action, now)

    def _act_on(self, action: "Action", now: float) -> None:
        match action:
            case At(time, event):
                self.emit(event, now, time)
            case Floor(time):
                self.floor = max(self.floor, time)
            case Rest():
                self.rest = action
            case Wake():
                self.rest = None
            case Note(kind, detail):
                self.director.note(self, kind, detail, now)
            case Cancel():
                self.director.cancel(self, self.placed.spec.name, now)
            case PassOn():
                self.director.passed_on(self, now)
            case Reply():
                self.director.reply(self, action, now)
            case Finish():
                self.director.finish(self, action, now)
            case _:
                self.emit(action, now)

    def make_inert(self, reason: str = "if") -> None:
        """It does not apply to this exchange."""
        self.inert = True
        self.fault.unfired = reason
        self.rest = ALWAYS

    # ---- what leaves

    def emit(self, event: Event, now: float, time: float = -math.inf) -> None:
        """Let `event` leave at `time` or as soon as order, floor and room allow."""
        if self.mute or self.sealed or (isinstance(event, Data) and not event.payload):
            return
        if isinstance(event, End | Abort):
            self.sealed = True
        release = max(time, self.floor)
        if not self.outbox and release <= now and (not isinstance(event, Data) or self.next.make_room(now)):
            self._deliver(event, now)
            return
        self.outbox.append((release, event))
        self.line.dirty = True
        if isinstance(event, Data):
            self.out_bytes += len(event.payload)

    def _deliver(self, event: Event, now: float) -> None:
        if isinstance(event, Data):
            self.next.data(event, now)
        else:
            if isinstance(event, End | Abort) and not self._waits_for_after_end():
                self.closed = True
            self.next.control(event, now)

    def _waits_for_after_end(self) -> bool:
        return self.rest is not None and self.rest.moment is Moment.AFTER_END

    def release(self, now: float) -> bool:
        """Let go of what is due and has room; whether anything left."""
        moved = False
        while self.outbox:
            time, event = self.outbox[0]
            if max(time, self.floor) > now or (isinstance(event, Data) and not self.next.make_room(now)):
                break
            self.outbox.popleft()
            if isinstance(event, Data):
                self.out_bytes -= len(event.payload)
            self._deliver(event, now)
            moved = True
        if moved:
            self.line.dirty = True
            self.drowse(now)
        return moved

    # ---- time

    def timer(self, now: float) -> None:
        """Fire what is due here."""
        if self.closed:
            return
        rest = self.rest
        if rest is None:
            if self.fault.due <= now:
                self.fault.blocked = not self.next.make_room(now)
                self.act(self._ask("wake", now), now)
                self.drowse(now)
            return
        if self.ended:
            return
        if rest.time <= now:
            self.rouse()
            self.reach("time", now)
        elif self.last + rest.idle <= now:
            if not self.next.make_room(now):
                self.last = now  # silent because the receiver does not read: the clock stands still
                self.line.dirty = True
                return
            self.rouse()
            self.reach("idle", now)
        else:
            return
        self.drowse(now)

    @property
    def due(self) -> float:
        """When this place next wants `timer` or `release`; a span must have settled."""
        due = math.inf
        if self.outbox:
            due = max(self.outbox[0][0], self.floor)
        if self.closed:
            return due
        if self.rest is None:
            return min(due, self.fault.due)
        if self.ended:
            return due
        return min(due, self.rest.time, self.last + self.rest.idle)

    # ---- rest and waking

    def rouse(self) -> None:
        """Have a place of its own in the line."""
        if self.span is not None:
            self.span.rouse(self)

    def drowse(self, now: float) -> None:
        """Go back into the span, if the fault rests and holds nothing."""
        if (
            self.span is None
            and self.before is not None
            and self.rest is not None
            and not self.outbox
            and self.fault.held == 0
            and self.floor <= now
            and not self.mute
            and not self.closed  # it must stay in the way, to swallow what still comes
            and self.line.lazy
        ):
            self.before.absorb(self)
            self.before = None

    @property
    def way(self) -> Way:
        return self.line.way


def _mid_chunk(finish: Finish) -> bool:
    return any(ending.kind == "fin_mid_chunk" for ending in finish.endings)
