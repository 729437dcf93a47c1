"""`pace`: the machine lets so much pass every so often, however much there is.

Imitates a model that makes a token every 20 ms, a server that writes on a timer, a writer that dribbles byte by byte (with
`way: request` and `region: head` it is the attack called Slowloris, or a very old phone). Unlike
`bandwidth` it knows no fractions: a turn comes every `every`, and what a turn may carry leaves in it, at once. The turns
stand on a schedule that is computed and never added up from sleeps; where nothing was waiting it begins anew.
"""

import math
from collections import deque
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from chaosproxy.chain.actions import FOREVER, Action, Actions, Note, PassOn
from chaosproxy.chain.fault import Context, Fault, FaultSpec, register
from chaosproxy.chain.pieces import Remains
from chaosproxy.faults.dribbling import RunningDribble
from chaosproxy.model.messages import Abort, Data, Dribble, End, Event, Trailers
from chaosproxy.model.places import Way
from chaosproxy.model.units import FOREVER as WITHOUT_END
from chaosproxy.model.units import Count, Duration, Size, counted, show_duration

Region = Literal["body", "head", "chunk_size"]

ROOM: Final = 64 * 1024
"""Body bytes that may wait for their turn; then the sender has to."""


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Pace(FaultSpec):
    """Lets a number of bytes or events pass every so often."""

    name: ClassVar[str] = "pace"
    main: ClassVar[str | None] = "bytes"
    ways: ClassVar[frozenset[Way]] = frozenset(Way)

    bytes: Size | None = None
    """So many bytes in each turn; what is longer is cut."""
    events: Count | None = None
    """So many records in each turn; the bytes of a record that is not complete yet have the turn of that record."""
    every: Duration
    """From one turn to the next. The first turn is the arrival of what finds nobody waiting. 0: no pace at all."""

    region: Region = "body"
    """`body`: the bytes of the body, without their framing. `head` and `chunk_size` are about HTTP/1 alone: the bytes of
    the head with its start line, or those of the size line of each chunk. The first one goes at once. Default body."""

    @property
    def reads_records(self) -> bool:
        return self.events is not None

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        found: list[tuple[tuple[str, ...], str]] = []
        if (self.bytes is None) == (self.events is None):
            found.append(((), "pace needs one of bytes and events, which says what a turn carries"))
        if self.bytes == 0:
            found.append((("bytes",), "a turn that carries nothing is a stall; at least 1"))
        if self.region != "body" and self.events is not None:
            found.append((("events",), f"there are no events in a {self.region}; count its bytes"))
        if self.every == WITHOUT_END:
            found.append((("every",), "a turn that never comes is a stall"))
        return found

    def start(self, context: Context) -> "RunningPace | RunningDribble":
        if self.region == "body":
            return RunningPace(self, context)
        dribble = Dribble(self.region, self.bytes or 1, self.every / context.speed)
        detail = f"{self.region}: {counted(dribble.nbytes, 'byte')} every {show_duration(self.every)}"
        return RunningDribble(dribble, detail, possible=self.way is Way.REQUEST or context.protocol != "h2")


class RunningPace(Fault):
    """Awake for the body. It holds the pieces whole, and what ends the message behind them; a turn cuts what it needs, so
    that a long piece costs nothing in advance."""

    capacity = ROOM

    def __init__(self, spec: Pace, context: Context) -> None:
        self._events = spec.events
        self._most = spec.events or spec.bytes or 1
        self._every = spec.every / context.speed
        turn = counted(self._most, "byte" if spec.events is None else "event")
        self._detail = f"{turn} every {show_duration(spec.every)}"
        self._waiting: deque[Remains | Event] = deque()
        self._turn = -math.inf
        """When the present turn began."""
        self._used = 0
        """Bytes or records that have left in it."""
        self._noted = False
        if not self._every:
            self.rest, self.sees = FOREVER, ()

    def data(self, data: Data, now: float) -> Actions:
        if self._events is not None and self.kind is None:
            return (data,)
        self.held += len(data.payload)
        if not self._waiting and now >= self._turn + self._every:
            self._turn, self._used = now, 0
        self._waiting.append(Remains(data))
        return self._go_on(now)

    def control(self, event: Event, now: float) -> Actions:
        if self._waiting and isinstance(event, Trailers | End | Abort):
            self._waiting.append(event)
            return ()
        return (event,)

    def wake(self, now: float) -> Actions:
        return self._go_on(now)

    def hangup(self, now: float) -> Actions:
        self._waiting.clear()
        self.held, self.due = 0, math.inf
        return (PassOn(),)

    def _go_on(self, now: float) -> Actions:
        """Whatever has its turn by now; several turns if the alarm was late."""
        actions: list[Action] = []
        waiting = self._waiting
        while waiting:
            first = waiting[0]
            if isinstance(first, Remains):
                if self._used >= self._most:
                    if self._turn + self._every > now:
                        break
                    self._turn, self._used = self._turn + self._every, 0
                actions.append(self._what_fits(first))
                if first.left:
                    continue
            else:
                actions.append(first)
            waiting.popleft()
        self.due = self._turn + self._every if waiting else math.inf
        if waiting and not self._noted:
            self._noted = True
            actions.append(Note("fired", self._detail))
        return tuple(actions)

    def _what_fits(self, data: Remains) -> Data:
        """What of a piece the present turn carries, which is at least something."""
        cut = data.left
        left = self._most - self._used
        if self._events is None:
            cut = min(cut, left)
        elif data.records >= left:
            cut = data.end_of(left)
        piece = data.take(cut)
        self._used += len(piece.payload) if self._events is None else len(piece.ends)
        self.held -= len(piece.payload)
        return piece
