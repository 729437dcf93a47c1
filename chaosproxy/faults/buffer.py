"""`buffer`: the machine gathers body bytes before it passes them on.

Imitates nginx's `proxy_buffering` (a buffer of one memory page, 4 or 8 KiB, that is passed on when it is full), gateways
that read the whole answer first, and writers that flush by a timer. The upstream is credited for what is held though
the client has nothing: that is what hides the delay from it.
"""

import math
from collections import deque
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from chaosproxy.chain.actions import FOREVER, Actions, Note, PassOn
from chaosproxy.chain.fault import Context, Fault, FaultSpec, register
from chaosproxy.chain.pieces import Remains
from chaosproxy.model.headers import first, without
from chaosproxy.model.messages import Abort, Data, End, Event, ResponseHead, Trailers, join
from chaosproxy.model.places import Way
from chaosproxy.model.units import Count, Duration, Size, counted, show_size

DEFAULT_LIMIT = 1024 * 1024
WHOLE_LIMIT = 16 * 1024 * 1024
MANY = 256
"""So many pieces are held as they came before they become one."""
HINT = b"x-accel-buffering"


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer(FaultSpec):
    """Holds the body until a threshold; whichever of bytes, events and every is reached first releases."""

    name: ClassVar[str] = "buffer"
    main: ClassVar[str | None] = "bytes"
    ways: ClassVar[frozenset[Way]] = frozenset(Way)

    bytes: Size | tuple[Size, ...] | None = None
    """Releases exactly this many body bytes as one chunk, the rest stays. A list: these sizes in turn, the last
    repeats."""
    events: Count | None = None
    """Releases everything when this many records are held."""
    every: Duration | None = None
    """Releases everything this long after the first byte held."""
    until_end: bool = False
    """Holds the whole body; the three above are ignored."""
    limit: Size | None = None
    """The room in bytes; full = backpressure, with `until_end` everything held leaves and holding goes on. Default: the
    largest of `bytes`, else 1MiB; with `until_end` 16MiB."""
    on_abort: Literal["flush", "drop"] = "flush"
    """What becomes of the content when the side it fills from ends without completing."""
    hint: bool = False
    """`X-Accel-Buffering: no` in the response disables it, and is removed."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """The thresholds in bytes, in turn."""
        if self.bytes is None:
            return ()
        return self.bytes if isinstance(self.bytes, tuple) else (self.bytes,)

    @property
    def room(self) -> int:
        """The limit in force."""
        if self.limit is not None:
            return self.limit
        if self.until_end:
            return WHOLE_LIMIT
        return max(self.sizes, default=DEFAULT_LIMIT)

    @property
    def reads_records(self) -> bool:
        return self.events is not None and not self.until_end

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        found: list[tuple[tuple[str, ...], str]] = []
        if not (self.sizes or self.events is not None or self.every is not None or self.until_end):
            found.append(((), "buffer needs one of bytes, events, every, until_end"))
        if min(self.sizes, default=1) < 1:
            found.append((("bytes",), "a threshold is at least one byte"))
        if self.limit is not None and not self.until_end and max(self.sizes, default=0) > self.limit:
            largest = show_size(max(self.sizes))
            found.append(
                (("limit",), f"a threshold of {largest} can never be reached with a limit of {show_size(self.limit)}")
            )
        return found

    def start(self, context: Context) -> "RunningBuffer":
        return RunningBuffer(self, context)


class RunningBuffer(Fault):
    """Awake for the whole body."""

    def __init__(self, spec: Buffer, context: Context) -> None:
        self._spec = spec
        self._every = None if spec.every is None or spec.until_end else spec.every / context.speed
        self._sizes = deque(() if spec.until_end else spec.sizes)
        self._events = 0 if spec.until_end else spec.events or 0
        self._pieces: deque[Data] = deque()
        self._joined = 0
        """So many of the first pieces are made of several."""
        self._records = 0
        self._noted = False
        self.capacity = spec.room

    def data(self, data: Data, now: float) -> Actions:
        actions: list[Data | Note] = []
        remains = Remains(data)
        while remains.left:
            piece = remains.take(self._up_to_next_threshold(remains))
            if not self._pieces and self._every is not None:
                self.due = now + self._every
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

    def _release(self) -> tuple[Data | Note, ...]:
        self.due = math.inf
        if not self._pieces:
            return ()
        if len(self._sizes) > 1 and self.held >= self._sizes[0]:
            self._sizes.popleft()
        whole = join(list(self._pieces))
        self._pieces.clear()
        self.held = self._records = self._joined = 0
        return (*self._note(f"held {counted(len(whole.payload), 'byte')}"), whole)

    def _note(self, detail: str) -> tuple[Note, ...]:
        """Once an exchange: a busy buffer would fill the journal."""
        if self._noted:
            return ()
        self._noted = True
        return (Note("fired", detail),)

    def wake(self, now: float) -> Actions:
        return self._release()

    def full(self, now: float) -> Actions:
        return self._release() if self._spec.until_end else ()

    def control(self, event: Event, now: float) -> Actions:
        match event:
            case ResponseHead():
                return self._head(event)
            case Trailers() | End():
                return (*self._release(), event)
            case Abort():
                held = self._release() if self._spec.on_abort == "flush" else self._drop()
                return (*held, event)
            case _:
                return (event,)

    def hangup(self, now: float) -> Actions:
        """Something nearer the client has ended: the content is discarded."""
        return (*self._drop(), PassOn())

    def _head(self, head: ResponseHead) -> Actions:
        hint = first(head.headers, HINT) if self._spec.hint else None
        if hint is None:
            return (head,)
        stripped = replace(head, headers=without(head.headers, (HINT,)))
        if hint.strip().lower() != b"no":
            return (stripped,)
        self.unfired = "hint"
        return (FOREVER, stripped)

    def _drop(self) -> tuple[Note, ...]:
        dropped = self.held
        self._pieces.clear()
        self.held = self._records = self._joined = 0
        self.due = math.inf
        return self._note(f"dropped {counted(dropped, 'byte')}") if dropped else ()
