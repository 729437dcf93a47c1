"""`cork`: the machine writes small pieces, and has its kernel put them together.

Imitates HAProxy, which sends an answer in chunks or with a length as long as there may be more of it with MSG_MORE: Linux then
keeps what does not fill a segment for 200 ms (tcp(7), TCP_CORK), so that a stream of small events comes in bursts five times a
second, its head with the first of them. `option http-no-delay` is the way out. Unlike behind a `buffer` every chunk stays the
chunk that it was. Over HTTP/2 it does not do so (`if: {protocol: http/1.1}`). On the loopback interface a segment has 65,483
bytes, and only the time counts.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.chain.actions import FOREVER, WAKE, Action, Actions, PassOn
from chaosproxy.chain.fault import Context, Fault, FaultSpec, Neutral, register
from chaosproxy.faults.buffering import length_of
from chaosproxy.model.messages import Data, Event, ResponseHead, in_chunks
from chaosproxy.model.units import Duration, Size, lasting, show_size
from chaosproxy.model.vocabulary import Framing


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Cork(FaultSpec):
    """Gathers head and chunks of an answer until they fill a segment, or a time is over."""

    name: ClassVar[str] = "cork"
    main: ClassVar[str | None] = "after"

    after: Duration = 0.2
    """So long after the first byte that waits everything leaves. Default 200ms."""
    segment: Size = 1448
    """Everything leaves, too, once so many bytes wait, with the head and the framing of the chunks. Default 1448: the 1460
    of an Ethernet without the timestamps of TCP. At the end nothing waits."""

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        return [] if self.segment else [(("segment",), "a segment has at least one byte")]

    def start(self, context: Context) -> Fault:
        return RunningCork(self, context) if self.after else Neutral()


class RunningCork(Fault):
    """Awake for the whole body, if that is in chunks or has a length."""

    rest = FOREVER

    def __init__(self, spec: Cork, context: Context) -> None:
        self._after = spec.after / context.speed
        self._segment = self.capacity = spec.segment
        self._detail = f"gathers up to {show_size(spec.segment)}, or {lasting(spec.after)}"
        self._old = context.request.version == b"1.0"
        self._in_chunks = False
        self._waiting: list[ResponseHead | Data] = []
        self._pending = 0
        """Bytes on the wire of what waits."""

    def control(self, event: Event, now: float) -> Actions:
        if not isinstance(event, ResponseHead):
            return (*self._release(), event)
        if not self._is_gathered(event):
            self.unfired = "framing"
            return (event,)
        return (WAKE, *self.once(self._detail), *self._add(event, length_of(event), now))

    def _is_gathered(self, head: ResponseHead) -> bool:
        if head.final:
            return False
        self._in_chunks = in_chunks(head)
        if self._in_chunks:
            return head.literal or not self._old
        return head.framing in (Framing.LENGTH, Framing.STREAM)

    def data(self, data: Data, now: float) -> Actions:
        size = len(data.payload)
        self.held += size
        return self._add(data, size + len(b"%x\r\n\r\n" % size) if self._in_chunks else size, now)

    def _add(self, event: ResponseHead | Data, size: int, now: float) -> tuple[Action, ...]:
        self._waiting.append(event)
        self._pending += size
        if self._pending >= self._segment:
            return self._release()
        self.due = min(self.due, now + self._after)
        return ()

    def _release(self) -> tuple[Action, ...]:
        waiting, self._waiting = self._waiting, []
        self.held = self._pending = 0
        self.due = math.inf
        return tuple(waiting)

    def wake(self, now: float) -> Actions:
        return self._release()

    def hangup(self, now: float) -> Actions:
        self._release()
        return (PassOn(),)
