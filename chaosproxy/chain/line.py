"""One way through the chain: pushed at the entry, taken at the exit, woken when something is due.

Rules: admission is the only backpressure: the entry takes a Data only while what stands behind it has room, and what
does not fit waits there (one read, or an HTTP/2 window) while `wants` is false. At one instant: what is due leaves,
then timers fire in travelling order, then what is new arrives. `due` is a lower bound; Data at rest never touches it.
Must not know: sessions, tasks.
"""

import math
from collections import deque
from collections.abc import Sequence

from chaosproxy.chain.exit import WINDOW, Exit
from chaosproxy.chain.span import Node, Span
from chaosproxy.chain.stage import Stage
from chaosproxy.framing.splitter import RecordKind, Splitter
from chaosproxy.model.messages import Data, End, Event
from chaosproxy.model.places import Way


class Line:
    """The places of one way, in the order it travels."""

    def __init__(self, way: Way, stages: Sequence[Stage], *, window: int = WINDOW, lazy: bool = True) -> None:
        """`lazy=False` keeps every place awake in the line: the same behaviour, the slow way (tests compare)."""
        self.way = way
        self.lazy = lazy
        self.stages = list(stages)
        self.exit = Exit(window)
        self.entry: deque[Event] = deque()
        self.records: Splitter | None = None
        """Finds record ends at the entry; set by the driver when it has seen the head, before it pushes it."""
        self.kind: RecordKind | None = None
        self.coded = False
        """The body is content-coded: nobody can read its records."""
        self.pending_record = False
        self.due = math.inf
        self.dirty = False
        self.bytes_in = self.records_in = self.chunks_in = 0
        self._admitted = 0
        for stage in self.stages:
            stage.line = self
        self.first = self._first_span()
        for stage in list(self.stages):
            if stage.rest is None or not lazy:
                stage.rouse()
        self._plan()

    def _first_span(self) -> Span:
        resting = [stage for stage in self.stages if stage.rest is not None]
        if len(resting) == len(self.stages):
            return Span(list(self.stages), self.exit)
        # Build from the exit backwards: an awake place has an empty or resting span on both its sides.
        following: Node = self.exit
        run: list[Stage] = []
        for stage in reversed(self.stages):
            if stage.rest is not None:
                run.insert(0, stage)
                continue
            stage.next = behind = Span(run, following)
            if isinstance(following, Stage):
                following.before = behind
            following, run = stage, []
        first = Span(run, following)
        assert isinstance(following, Stage)
        following.before = first
        return first

    # ---- in

    def push(self, pieces: Sequence[Data], now: float) -> None:
        """What one read brought of the body."""
        if self.due <= now:
            self.wake(now)
        find = self.records.feed if self.records is not None else None
        first, entry = self.first, self.entry
        for data in pieces:
            size = len(data.payload)
            if find is not None:
                data.ends = find(data.payload)
                self.records_in += len(data.ends)
            self.bytes_in += size
            self.chunks_in += data.whole
            if entry or not first.make_room(now):
                entry.append(data)
            else:
                self._admitted += size
                first.data(data, now)
        if self.dirty:
            self._plan()

    def push_control(self, event: Event, now: float) -> None:
        """A head, an Interim, Trailers or a terminal."""
        if self.due <= now:
            self.wake(now)
        if isinstance(event, End) and self.records is not None and self.records.pending:
            self.pending_record = True  # a last line without its line feed is a record too
            self.records_in += 1
        if self.entry:
            self.entry.append(event)
        else:
            self.first.control(event, now)
        self._plan()

    def wants(self) -> bool:
        """The next read is welcome."""
        return not self.entry

    def take_admitted(self) -> int:
        """Body bytes admitted since last asked."""
        admitted, self._admitted = self._admitted, 0
        return admitted

    # ---- out

    @property
    def waiting(self) -> bool:
        """Something stands at the exit."""
        return bool(self.exit.events)

    @property
    def bytes_out(self) -> int:
        return self.exit.bytes_out

    @property
    def records_out(self) -> int:
        return self.exit.records_out

    def take(self, now: float, room: float = math.inf, split: bool = False) -> list[Event]:
        """What has come through, as `Exit.take`; what was held back for want of room moves up."""
        full = not self.exit.make_room(now)
        events = self.exit.take(room, split=split)
        if self.pending_record and events and isinstance(events[-1], End):
            self.exit.records_out += 1
        if full and self.exit.make_room(now):
            self._restart_idle(now)
            self.pump(now)
        return events

    def _restart_idle(self, now: float) -> None:
        """The receiver reads again: silence counts from here."""
        for stage in self.stages:
            if stage.span is not None:
                stage.span.last = now
            stage.last = max(stage.last, now)

    def pump(self, now: float) -> None:
        """Move up whatever has room, nearest the exit first: only what lies nearer the exit can free room."""
        for stage in reversed(self.stages):
            if stage.outbox:
                stage.release(now)
        entry = self.entry
        while entry:
            event = entry[0]
            if isinstance(event, Data):
                if not self.first.make_room(now):
                    break
                entry.popleft()
                self._admitted += len(event.payload)
                self.first.data(event, now)
            else:
                entry.popleft()
                self.first.control(event, now)
        if self.dirty:
            self._plan()

    # ---- time

    def wake(self, now: float) -> None:
        """Do all that is due at `now`."""
        for stage in self.stages:
            if stage.span is not None:
                stage.span.settle()
        self.pump(now)
        for stage in self.stages:
            if stage.due <= now:
                stage.timer(now)
        self.pump(now)
        self._plan()

    def _plan(self) -> None:
        self.dirty = False
        due = math.inf
        blocked = not self.exit.make_room(0.0)
        for stage in self.stages:
            if stage.span is not None and stage.span.last > stage.last:
                stage.last = stage.span.last
            time = stage.due
            if blocked and stage.outbox and stage.rest is not None and time <= stage.floor:
                continue
            due = min(due, time)
        self.due = due

    def clear(self) -> None:
        """Nobody takes anything any more; what has come through is discarded."""
        self.exit.events.clear()
        self.exit.size = 0
