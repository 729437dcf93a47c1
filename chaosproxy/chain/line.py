"""One way through the chain: pushed at the entry, taken at the exit, woken when something is due.

Rules: admission is the only backpressure: the entry takes a Data only while what stands behind it has room, and what
does not fit waits there (one read, or an HTTP/2 window) while `wants` is false. At one instant: what is due leaves,
then timers fire in travelling order, then what is new arrives. `due` is a lower bound; Data at rest never touches it.
What is due but has no room is moved by whoever makes room, never by time.
Must not know: sessions, tasks.
"""

import math
from collections import deque
from collections.abc import Sequence

from chaosproxy.chain.deadlines import NONE, plan, resume
from chaosproxy.chain.exit import Exit
from chaosproxy.chain.neighbours import Node
from chaosproxy.chain.span import Span
from chaosproxy.chain.stage import Stage
from chaosproxy.framing.splitter import RecordKind, Splitter
from chaosproxy.model.messages import Data, End, Event, RequestHead, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Way

EMPTY: deque[Event] = deque()
"""Stands for each that is empty: it would hold 700 bytes. Nothing is ever put into it."""


class Line:
    """The places of one way, in the order it travels."""

    __slots__ = (
        "admitted", "blocked", "bytes_in", "coded", "complete", "completing", "dirty", "due", "entry",
        "exit", "first", "has_head", "kind", "lazy", "moved", "records", "records_in", "rings", "stages", "stopped",
        "unseen", "waiting", "way",
    )  # fmt: skip

    def __init__(self, way: Way, stages: Sequence[Stage], exit_: Exit, *, lazy: bool = True) -> None:
        """`lazy=False` keeps every place awake in the line: the same behaviour, the slow way (tests compare)."""
        self.way = way
        self.lazy = lazy
        self.stages = list(stages)
        self.exit = exit_
        self.waiting: Sequence[Event] = self.exit.events
        """What stands at the exit."""
        self.entry = EMPTY
        self.records: Splitter | None = None
        """Finds record ends at the entry; set by the driver when it has seen the head, before it pushes it."""
        self.coded = False
        """The body is content-coded: nobody can read its records."""
        self.kind: RecordKind | None = None
        """What records the body has; known from the head on."""
        self.completing: Event | None = None
        """What has ended the body while a last line was unfinished: it completes that record."""
        self.has_head = False
        """A head has been pushed; none ever is where the bytes are those of a whole connection."""
        self.complete = False
        """The End has been pushed."""
        self.due = math.inf
        """When something is to be done, at the earliest: before anything else happens that is later."""
        self.rings = math.inf
        """When `wake` is wanted, at the earliest: `due`, unless nobody can tell."""
        self.unseen: list[Stage] = NONE
        """The places whose leavings nobody can tell, in travelling order."""
        self.dirty = False
        """Deadlines may have moved nearer."""
        self.blocked = False
        """Something waits for room."""
        self.bytes_in = self.records_in = 0
        self.moved = True
        """Since `take_admitted` something has been admitted (but by `pass_through`), or has had to wait."""
        self.admitted = 0
        """Body bytes that the sender has not been credited with yet."""
        self.stopped: list[Stage] = NONE
        """Whose idle clock stands still because its output is blocked."""
        for stage in self.stages:
            stage.line = self
        self.first: Node = self._arrange()

    def _arrange(self) -> Node:
        """From the exit backwards: an awake place has a span, empty or not, on both its sides."""
        following: Node = self.exit
        run: list[Stage] = []
        for stage in reversed(self.stages):
            if stage.rest is not None and self.lazy and not stage.fault.looks:
                run.insert(0, stage)
                continue
            stage.next = span = Span(run, following)
            if isinstance(following, Stage):
                following.before = span
            following, run = stage, []
        first = Span(run, following)
        if isinstance(following, Stage):
            following.before = first
        return first

    # ---- in

    def push(self, pieces: Sequence[Data], now: float) -> None:
        """What one read brought of the body."""
        if self.due <= now:
            self.wake(now)
        self._look_at(pieces)
        self.admit(pieces, now)

    def pass_through(self, data: Data, now: float, room: float) -> bool:
        """`push`, and whether it was a `take` of the same Data too: with everything at rest, no limit in it, nothing
        waiting and `room` for all of it, it has gone through, and it is the driver's turn to send it. It saves every
        event the way into the line's queues and out of them again."""
        if self.due <= now:
            self.wake(now)
        size, records, exit_, first = len(data.payload), 0, self.exit, self.first
        if self.records is not None:
            data.ends = ends = self.records.feed(data.payload)
            records = len(ends)
            self.records_in += records
        self.bytes_in += size
        if (
            size > room
            or type(first) is not Span
            or first.next is not exit_
            or exit_.events
            or exit_.closed
            or self.entry
            or self.dirty
            or self.blocked
            or (first.stages and not first.passes(size, records, data.whole, now))
        ):
            self.admit((data,), now)
            return False
        self.admitted += size
        exit_.bytes_out += size
        exit_.records_out += records
        return True

    def _look_at(self, pieces: Sequence[Data]) -> None:
        """Find the records that end in `pieces`, and count."""
        find = self.records.feed if self.records is not None else None
        for data in pieces:
            payload = data.payload
            self.bytes_in += len(payload)
            if find is not None:
                data.ends = ends = find(payload)
                self.records_in += len(ends)

    def admit(self, pieces: Sequence[Data], now: float) -> None:
        """As much as there is room for; the rest waits at the entry. What is in them has been counted."""
        first, entry = self.first, self.entry
        self.moved = True
        for data in pieces:
            if entry or not first.make_room(now):
                self._keep(data)
                entry = self.entry
                self.blocked = True
            else:
                self.admitted += len(data.payload)
                first.data(data, now)
        if self.dirty or self.blocked or self.exit.size >= self.exit.window:
            self.settle(now)

    def _keep(self, event: Event) -> None:
        if not self.entry:
            self.entry = deque()
        self.entry.append(event)

    def push_control(self, event: Event, now: float) -> None:
        """A head, an Interim, Trailers or a terminal."""
        if self.due <= now:
            self.wake(now)
        match event:
            case RequestHead() | ResponseHead():
                self.has_head = True
            case Trailers() | End():
                self.complete = isinstance(event, End)
                if self.records is not None and self.records.pending and self.completing is None:
                    self.completing = event
                    self.records_in += 1
            case _:
                pass
        if self.entry:
            self.entry.append(event)
            self.moved = True
        else:
            self.first.control(event, now)
        self.dirty = True
        self.settle(now)

    def begin_again(self) -> None:
        """Another head comes, though one has come already, or none will have been seen of it."""
        self.records, self.coded, self.completing = None, False, None

    def wants(self) -> bool:
        """The next read is welcome."""
        return not self.entry

    def idle(self, now: float) -> bool:
        """Everything is at rest, nothing is due, and nothing waits to be taken, for room or for an output."""
        first, exit_ = self.first, self.exit
        at_rest = type(first) is Span and first.next is exit_ and now < self.due
        return at_rest and not (exit_.events or self.entry or self.dirty or self.blocked or self.stopped)

    def take_admitted(self) -> int:
        """Body bytes admitted since last asked."""
        admitted, self.admitted = self.admitted, 0
        self.moved = False
        return admitted

    # ---- out

    @property
    def bytes_out(self) -> int:
        return self.exit.bytes_out

    @property
    def records_out(self) -> int:
        return self.exit.records_out

    def take(self, now: float, room: float = math.inf, split: bool = False, most: float = math.inf) -> list[Event]:
        """What has come through, in order; Data up to `room` bytes, at most so many events (see `Exit.take`). What was
        held back for want of room moves up."""
        exit_ = self.exit
        full = not exit_.has_room(now)
        events = exit_.take(room, split=split, most=most)
        if full and exit_.has_room(now):
            self.pump(now)
            resume(self, now)
            plan(self, now)
        if self.completing is not None:
            exit_.records_out += any(event is self.completing for event in events)
        return events

    # ---- what follows

    def settle(self, now: float) -> None:
        """After anything that may have made room or moved a deadline."""
        if self.due <= now:
            self.wake(now)  # planned anew it would be forgotten: what is due has no deadline
            return
        if self.blocked:
            self.pump(now)
        if self.stopped:
            resume(self, now)
        plan(self, now)

    def pump(self, now: float) -> None:
        """Move up whatever has room, nearest the exit first: only what lies nearer the exit can free room."""
        self.blocked = False
        for stage in self.unseen:
            stage.catch_up(now)
        for stage in reversed(self.stages):
            if stage.outbox:
                stage.release(now)
                stage.drowse(now)
        while self.entry:
            event = self.entry[0]
            if isinstance(event, Data):
                if not self.first.make_room(now):
                    self.blocked = True
                    break
                self.admitted += len(event.payload)
            self.moved = True
            self.entry.popleft()
            if isinstance(event, Data):
                self.first.data(event, now)
            else:
                self.first.control(event, now)

    def wake(self, now: float) -> None:
        """Do all that is due at `now`."""
        self.pump(now)
        if self.stopped:
            resume(self, now)
        for stage in self.stages:
            if stage.clocked and (stage.span is None or stage.span.due <= now) and stage.timer_due(now) <= now:
                stage.timer(now)
        if self.blocked:
            self.pump(now)
        if self.stopped:
            resume(self, now)
        plan(self, now)

    def catch_up(self, now: float) -> None:
        """Before somebody outside touches a place."""
        if self.due <= now:
            self.wake(now)

    def due_by(self, time: float) -> None:
        self.due, self.rings = min(self.due, time), min(self.rings, time)

    def start(self, now: float) -> None:
        """The exchange begins."""
        plan(self, now)

    def discard(self, *, keep: bool = False) -> None:
        """Nobody wants what still comes, nor (but with `keep`) what has come through and was not taken."""
        self.exit.close(keep=keep)
