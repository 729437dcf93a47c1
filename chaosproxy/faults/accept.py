"""`accept`: the machine is slow to take a new connection, takes so many at a time, or sends it away.

Imitates a server whose accept loop is busy, one with so many workers or connections (`max_connections`, a browser's six per
host seen from the other side), a machine that is shut. A connection that nobody has accepted looks open to whoever made it:
the kernel has answered. What it sends is taken and not read, and it hears nothing: no error, no byte.
"""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

from chaosproxy.chain.actions import FOREVER, Actions, Finish, Note
from chaosproxy.chain.connection_spec import ConnectionSpec
from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Context, Fault, register
from chaosproxy.model.messages import Data, Event
from chaosproxy.model.units import Count, Duration, Within, counted, show_duration
from chaosproxy.model.vocabulary import BothWays, Way

ROOM = 64 * 1024
_REFUSED = (Ending("rst"),)


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Accept(ConnectionSpec):
    """Takes a connection late, when there is a place, or not at all."""

    name: ClassVar[str] = "accept"
    main: ClassVar[str | None] = "delay"
    ways: ClassVar[frozenset[Way | BothWays]] = frozenset({Way.REQUEST})

    way: Way = Way.REQUEST
    delay: Duration = 0.0
    """How long until it is taken; behind a wait for a place. Under TLS the handshake waits too. Default 0."""
    refuse: bool = False
    """It is reset at once: what comes nearest to a port on which nobody listens, for the kernel has answered already.
    Default false."""
    max: Count | None = None
    """So many connections that meet this fault are served at a time; a place is free again when its connection is closed,
    and goes to who has waited longest. Default: no limit."""
    queue: Annotated[int, Within(0)] | None = None
    """How many may wait for a place; what is beyond them is reset. Default: as many as like, as in a kernel's backlog that is
    never full."""

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        found = super(Accept, self).problems()
        if self.refuse and (self.delay or self.max is not None):
            found.append((("refuse",), "what is refused is not taken late, nor counted"))
        if self.queue is not None and self.max is None:
            found.append((("queue",), "nobody waits where there is no `max`"))
        return found

    def share(self) -> object:
        return Places(self.max, self.queue)

    def start(self, context: Context) -> Fault:
        return RunningAccept(self, context)


class Places:
    """Who is served and who waits: never more than there are connections."""

    def __init__(self, most: int | None, queue: int | None) -> None:
        self._most = math.inf if most is None else most
        self._queue = math.inf if queue is None else queue
        self._served: set[RunningAccept] = set()
        self._waiting: dict[RunningAccept, None] = {}

    def take(self, who: "RunningAccept") -> bool:
        """A place, if one is free."""
        free = len(self._served) < self._most
        if free:
            self._served.add(who)
        return free

    def join(self, who: "RunningAccept") -> bool:
        """Wait for one, if there is room for that: it is given by a ring."""
        has_room = len(self._waiting) < self._queue
        if has_room:
            self._waiting[who] = None
        return has_room

    def leave(self, who: "RunningAccept", now: float) -> None:
        """Neither served nor waiting any more: who has waited longest gets the place."""
        self._waiting.pop(who, None)
        if who not in self._served:
            return
        self._served.remove(who)
        if self._waiting:
            first = next(iter(self._waiting))
            del self._waiting[first]
            self._served.add(first)
            first.ring(now)


class RunningAccept(Fault):
    """Awake until the connection is taken: what it says is held."""

    capacity = ROOM
    unfired = "taken at once"

    def __init__(self, spec: Accept, context: Context) -> None:
        shared = context.shared
        self._places = shared if isinstance(shared, Places) else Places(spec.max, spec.queue)
        self._spec = spec
        self._delay = spec.delay / context.speed
        self._since = context.began
        self._waited = ""
        self._kept: list[Event] = []
        self._refused = ""
        self._waits = self._taken = False
        self._come(context.began)

    def _come(self, now: float) -> None:
        if self._spec.refuse:
            self._refused = "refused"
        elif self._places.take(self):
            self._taken = True
        elif self._places.join(self):
            self._waits = True
        else:
            self._refused = f"refused: {counted(self._spec.max or 0, 'connection')} at a time"
        if self._refused:
            self.due = now
        elif self._taken and self._delay:
            self.due = now + self._delay
        elif self._taken:
            self.rest = FOREVER

    def data(self, data: Data, now: float) -> Actions:
        self._kept.append(data)
        self.held += len(data.payload)
        return ()

    def control(self, event: Event, now: float) -> Actions:
        if self.rest is FOREVER:
            return (event,)
        self._kept.append(event)
        return ()

    def wake(self, now: float) -> Actions:
        self.due = math.inf
        if self._refused:
            return (Finish(_REFUSED, "accept", detail=self._refused),)
        if self._waits:
            self._waits = False
            self._waited = f", and {show_duration(round(now - self._since, 3))} for a place"
            if self._delay:
                self.due = now + self._delay
                return ()
        kept, self._kept, self.held, self.rest = tuple(self._kept), [], 0, FOREVER
        return (Note("fired", f"taken after {show_duration(self._spec.delay)}{self._waited}"), *kept, FOREVER)

    def over(self, now: float) -> Actions:
        self._places.leave(self, now)
        return ()
