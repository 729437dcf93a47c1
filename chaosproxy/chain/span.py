"""A run of places whose faults rest: one counter for all, and the distance to the nearest limit of any.

Rules: only Data passes a resting fault unseen; the span never cuts. A Data in which a limit lies first wakes the fault
concerned: the span splits into span, stage, span, and the stage cuts. Counters are credited to the places when the span
settles, and limits, being distances, shrink by the same amounts in the same method.
Must not know: what faults do.
"""

import math

from chaosproxy.chain.actions import FOREVER
from chaosproxy.chain.neighbours import Node
from chaosproxy.chain.stage import Stage
from chaosproxy.model.messages import Abort, Data, End, Event
from chaosproxy.model.vocabulary import Moment


class Span:
    """The places at rest between two awake ones, in travelling order."""

    __slots__ = (
        "bytes",
        "chunks",
        "due",
        "idles",
        "last",
        "max_bytes",
        "max_chunks",
        "max_records",
        "next",
        "records",
        "stages",
        "wants_body",
    )

    def __init__(self, stages: list[Stage], following: Node) -> None:
        self.stages = stages
        self.next = following
        self.bytes = self.records = self.chunks = 0
        self.last = -math.inf
        self.max_bytes = self.max_records = self.max_chunks = math.inf
        self.wants_body = self.idles = False
        self.due = -math.inf
        for stage in stages:
            stage.span = self
        self.plan()

    def plan(self) -> None:
        """The distances to the nearest limits. Only right behind `settle`."""
        self.max_bytes = self.max_records = self.max_chunks = math.inf
        self.wants_body = self.idles = False
        self.due = -math.inf
        for stage in self.stages:
            rest = stage.rest
            assert rest is not None
            stage.clocked = stage.fault.due != math.inf or rest.time != math.inf or rest.idle != math.inf
            self.idles = self.idles or rest.idle != math.inf
            if rest is FOREVER:
                continue
            self.max_bytes = min(self.max_bytes, rest.bytes - stage.bytes)
            self.max_records = min(self.max_records, rest.records - stage.records)
            self.max_chunks = min(self.max_chunks, rest.chunks - stage.chunks)
            self.wants_body = self.wants_body or rest.moment is Moment.BODY

    def settle(self) -> None:
        """Credit the counters to the places."""
        if not self.bytes:
            return  # nothing has passed since
        for stage in self.stages:
            stage.bytes += self.bytes
            stage.let_go += self.bytes
            stage.records += self.records
            stage.chunks += self.chunks
            stage.last = max(stage.last, self.last)
        self.max_bytes -= self.bytes
        self.max_records -= self.records
        self.max_chunks -= self.chunks
        self.bytes = self.records = self.chunks = 0

    def plan_timers(self, now: float) -> float:
        """When the first timer of a place fires, at the earliest. At rest nothing moves a deadline nearer: what has been
        found holds until it has come, or a place is woken; but of a clock that stands still nothing is known."""
        if not now < self.due < math.inf:
            self.due = min(stage.timer_due(now) for stage in self.stages if stage.clocked)
        return self.due

    def is_far(self, size: int) -> bool:
        """No limit lies in so many bytes, whatever is in them."""
        return (
            self.bytes + size < self.max_bytes
            and self.records + size < self.max_records
            and self.chunks + size < self.max_chunks
            and not self.wants_body
        )

    def has_room(self, now: float) -> bool:
        return self.next.has_room(now)

    def make_room(self, now: float) -> bool:
        return self.next.make_room(now)

    def passes(self, size: int, records: int, chunks: int, now: float) -> bool:
        """Count so much as passed, unless a limit lies in it. Asked only where there are places."""
        if (
            self.bytes + size >= self.max_bytes
            or self.records + records >= self.max_records
            or self.chunks + chunks >= self.max_chunks
            or self.wants_body
        ):
            return False
        self.bytes += size
        self.records += records
        self.chunks += chunks
        self.last = now
        return True

    def left(self) -> tuple[float, float, float]:
        """The bytes, records and chunks at which the nearest limit lies."""
        return self.max_bytes - self.bytes, self.max_records - self.records, self.max_chunks - self.chunks

    def data(self, data: Data, now: float) -> None:
        if self.stages:
            size, records = len(data.payload), len(data.ends)
            if (
                self.bytes + size >= self.max_bytes
                or self.records + records >= self.max_records
                or self.chunks + data.whole >= self.max_chunks
                or self.wants_body
            ):
                self._rouse_for(data)
            self.bytes += size
            self.records += records
            self.chunks += data.whole
            self.last = now
        self.next.data(data, now)

    def _rouse_for(self, data: Data) -> None:
        """Wake the first place whose limit lies in `data`; later ones are found by the spans behind."""
        self.settle()
        self.rouse(next(stage for stage in self.stages if stage.meets_limit(data)))

    def control(self, event: Event, now: float) -> None:
        for stage in self.stages:
            if stage.cares(event):
                self.rouse(stage)
                break
            if isinstance(event, End | Abort):
                stage.closed = stage.ended = stage.sealed = True  # its timers die with the terminal
                self.due = -math.inf
        self.next.control(event, now)

    def rouse(self, stage: Stage) -> None:
        """Take `stage` out of the span: this span ends before it, a new one begins behind it."""
        self.settle()
        place = self.stages.index(stage)
        behind = Span(self.stages[place + 1 :], self.next)
        if isinstance(self.next, Stage):
            self.next.before = behind
        del self.stages[place:]
        self.plan()
        self.next = stage
        stage.span, stage.before, stage.next, stage.clocked = None, self, behind, True

    def absorb(self, stage: Stage) -> None:
        """`stage`, which stands right behind this span, rests again: the spans on both its sides become one."""
        behind = stage.next
        assert isinstance(behind, Span)
        self.settle()
        behind.settle()
        self.last = -math.inf
        self.stages += [stage, *behind.stages]
        self.next = behind.next
        if isinstance(self.next, Stage):
            self.next.before = self
        for one in self.stages:
            one.span = self
        self.plan()
