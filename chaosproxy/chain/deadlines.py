"""When a line wants to be woken: because something leaves a place, or a timer of one fires.

Rules: a ring is for what somebody could tell. A piece of body that leaves one place for another, where it waits again
(`Fault.delays`), with nothing in between that could act on it, changes nothing that anybody sees: it is moved at the next
ring, or before whatever else happens, with the time at which it should have been. Must not know: who rings.
"""

import math
from typing import TYPE_CHECKING

from chaosproxy.chain.place import FEW
from chaosproxy.chain.span import Span
from chaosproxy.chain.stage import Stage

if TYPE_CHECKING:
    from chaosproxy.chain.line import Line

NONE: list[Stage] = []
"""Stands for each that is empty. Nothing is ever put into it."""


def plan(line: "Line", now: float) -> None:
    """Find the next deadlines of `line`, and whose idle clock has to stand still."""
    line.dirty = False
    due = rings = math.inf
    unseen = NONE
    coming = events = 0
    """Of what leaves the place before unseen: it comes here, and may be let go in the same ring."""
    span: Span | None = None
    for stage in line.stages:
        if not stage.clocked:
            continue
        if stage.span is not None:
            if stage.span is span:
                continue  # seen to
            span = stage.span
            rings = min(rings, span.plan_timers(now))
            if span.idles and not span.next.has_room(now):
                for one in span.stages:
                    _stop_clock(one, line, now)
            continue
        rings = min(rings, stage.timer_due(now))
        if stage.outbox:
            time = max(stage.outbox[0][0], stage.floor)
            if time > now:  # else it has no room, which is no deadline: who makes room moves it
                coming, events = coming + stage.out_bytes, events + len(stage.outbox)
                if delays := _delays_behind(stage, line, coming, events):
                    unseen = [*unseen, stage]
                    due = min(due, time)
                else:
                    coming = events = 0
                rings = min(rings, time + delays)
        if (stage.rest is not None or stage.hears_of_room) and stage.idles and not stage.next.has_room(now):
            _stop_clock(stage, line, now)
            rings = min(rings, stage.timer_due(now))
    line.unseen, line.rings, line.due = unseen, rings, min(rings, due)


def resume(line: "Line", now: float) -> None:
    """Start the idle clocks again that stood still and whose output has room."""
    waiting, line.stopped = line.stopped, NONE
    for stage in waiting:
        if stage.behind.has_room(now):
            stage.hears_room(now)
        else:
            line.stopped = [*line.stopped, stage]


def _stop_clock(stage: Stage, line: "Line", now: float) -> None:
    """The output of `stage` is blocked: silence does not count, if it counts at all."""
    if stage.stopped is None and stage.idles:
        stage.stopped = now
        if stage.rest is None:
            stage.fault.blocks(now)
        line.stopped = [*line.stopped, stage]


def _delays_behind(stage: Stage, line: "Line", size: int, events: int) -> float:
    """For how long nobody can tell whether what waits at `stage`, or will by then, has left it: so many bytes in so many
    pieces. 0 if somebody can at once."""
    span = stage.next
    following = span.next if type(span) is Span else None
    if type(span) is not Span or type(following) is not Stage:
        return 0.0
    fault = following.fault
    if (
        not fault.delays
        or following.rest is not None
        or following.closed
        or following.away
        or stage.away
        or stage.controls
        or not line.lazy
        or line.blocked
        or line.entry
        or line.stopped
        or following.out_bytes + fault.held + size >= fault.capacity
        or len(following.outbox) + events >= FEW
        or not span.is_far(size)
    ):
        return 0.0
    return fault.delays
