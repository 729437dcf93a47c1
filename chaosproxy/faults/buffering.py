"""The running `buffer`: the pieces it holds, and when they leave as one.

Rules: it is credited for what it holds; a piece is cut where a threshold lies in it. Must not know: why it holds.
"""

import math
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING

from chaosproxy.chain.actions import FOREVER, Actions, Note, PassOn
from chaosproxy.chain.fault import Context, Fault
from chaosproxy.chain.pieces import Remains
from chaosproxy.model.headers import first, without
from chaosproxy.model.messages import Abort, Data, End, Event, ResponseHead, Trailers, join
from chaosproxy.model.units import counted
from chaosproxy.model.vocabulary import Framing, Manner, Scope

if TYPE_CHECKING:
    from chaosproxy.faults.buffer import Buffer

MANY = 256
"""So many pieces are held as they came before they become one."""
HINT = b"x-accel-buffering"


class RunningBuffer(Fault):
    """Awake for the whole body."""

    def __init__(self, spec: "Buffer", context: Context) -> None:
        self._spec = spec
        self._every = None if spec.every is None or spec.until_end else spec.every / context.speed
        self._sizes = deque(() if spec.until_end else spec.sizes)
        self._events = 0 if spec.until_end else spec.events or 0
        self._pieces: deque[Data] = deque()
        self._joined = 0
        """So many of the first pieces are made of several."""
        self._records = 0
        self._heads: tuple[ResponseHead, ...] = ()
        """The head, while it waits."""
        self.capacity = spec.room

    def data(self, data: Data, now: float) -> Actions:
        actions: list[ResponseHead | Data | Note] = []
        remains = Remains(data)
        while remains.left:
            piece = remains.take(self._up_to_next_threshold(remains))
            if not self._pieces and self._every is not None:
                self.due = min(self.due, now + self._every)
            self._pieces.append(piece)
            if len(self._pieces) - self._joined > MANY:
                self._join()
            self.held += len(piece.payload)
            self._records += len(piece.ends)
            if self._threshold_met():
                actions.extend(self._release())
        return tuple(actions)

    def _join(self) -> None:
        """Of the latest pieces make one: of single bytes the pieces would cost a hundred times what they hold."""
        latest = [self._pieces.pop() for _ in range(len(self._pieces) - self._joined)]
        self._pieces.append(join(latest[::-1]))
        self._joined += 1

    def _up_to_next_threshold(self, remains: Remains) -> int:
        """How many bytes belong into the present filling."""
        cut = remains.left
        if self._sizes:
            cut = min(cut, self._sizes[0] - self.held)
        missing = self._events - self._records
        if self._events and remains.records >= missing:
            cut = min(cut, remains.end_of(missing))
        return cut

    def _threshold_met(self) -> bool:
        return bool(self._sizes and self.held >= self._sizes[0]) or bool(self._events and self._records >= self._events)

    def _release(self) -> tuple[ResponseHead | Data | Note, ...]:
        self.due = math.inf
        heads, self._heads = self._heads, ()
        if not self._pieces:
            return heads
        if len(self._sizes) > 1 and self.held >= self._sizes[0]:
            self._sizes.popleft()
        whole = join(list(self._pieces))
        self._pieces.clear()
        self.held = self._records = self._joined = 0
        return (*self.once(f"held {counted(len(whole.payload), 'byte')}"), *heads, whole)

    def wake(self, now: float) -> Actions:
        return self._release()

    def full(self, now: float) -> Actions:
        return self._release() if self._spec.until_end else ()

    def control(self, event: Event, now: float) -> Actions:
        match event:
            case ResponseHead():
                return self._hold(self._head(event), now)
            case Trailers() | End():
                return (*self._release(), event)
            case Abort():
                held = self._drop() if self._is_lost_with(event) else self._release()
                return (*held, event)
            case _:
                return (event,)

    def hangup(self, now: float) -> Actions:
        """Something nearer the client has ended: the content is discarded."""
        return (*self._drop(), PassOn())

    def _is_lost_with(self, abort: Abort) -> bool:
        if self._spec.on_abort == "drop_on_rst":
            return abort.scope is Scope.CONNECTION and abort.manner is Manner.RESET
        return self._spec.on_abort == "drop"

    def _head(self, head: ResponseHead) -> Actions:
        if self._spec.counts_head and self._sizes:
            self._sizes.appendleft(max(1, self._sizes[0] - length_of(head)))
        hint = first(head.headers, HINT) if self._spec.hint else None
        if hint is None:
            return (head,)
        stripped = replace(head, headers=without(head.headers, (HINT,)))
        if hint.strip().lower() != b"no":
            return (stripped,)
        self.unfired = "hint"
        return (FOREVER, stripped)

    def _hold(self, actions: Actions, now: float) -> Actions:
        """What becomes of the head: it passes, or waits with the body."""
        head = actions[-1]
        if not self._spec.holds_head or len(actions) > 1 or not isinstance(head, ResponseHead) or not has_body(head):
            return actions
        self._heads = (head,)
        if self._every is not None:
            self.due = now + self._every
        return ()

    def _drop(self) -> tuple[Note, ...]:
        dropped = self.held
        self._pieces.clear()
        self._heads = ()
        self.held = self._records = self._joined = 0
        self.due = math.inf
        return self.once(f"dropped {counted(dropped, 'byte')}") if dropped else ()


def has_body(head: ResponseHead) -> bool:
    """A body follows, and no tunnel begins."""
    return not head.final and head.framing not in (Framing.NONE, Framing.TUNNEL)


def length_of(head: ResponseHead) -> int:
    """Its bytes on an HTTP/1 connection, without what is the connection's."""
    fields = sum(len(name) + len(value) + len(b": \r\n") for name, value in head.headers)
    return len(b"HTTP/1.1 200 \r\n\r\n") + len(head.reason) + fields
