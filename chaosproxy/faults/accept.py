"""`accept`: the machine is slow to take a new connection, takes so many at a time, or sends it away.

Imitates a server whose accept loop is busy, one with so many workers or connections (`max_connections`, a browser's six per
host seen from the other side), a proxy that caps each client (nginx `limit_conn`), a machine that is shut, or restarts. A
connection that nobody has accepted looks open to whoever made it: the kernel has answered. What it sends is taken and not
read, and it hears nothing: no error, no byte. Where the kernel's queue of those is full, connecting itself hangs.
"""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

from chaosproxy.chain.actions import FOREVER, Actions, Finish, Note
from chaosproxy.chain.connection_spec import Admission, ConnectionSpec
from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Context, Fault, register
from chaosproxy.faults.places import Doors
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
    after: Duration = 0.0
    """With `refuse`: only those that come so long after the first connection, or later. Default 0."""
    for_: Duration = math.inf
    """With `refuse`: for how long, from then on; afterwards all are taken again, as by a server that has restarted. Default
    forever."""
    max: Count | None = None
    """So many connections that meet this fault are served at a time; a place is free again when its connection is closed,
    and goes to who has waited longest. Default: no limit."""
    per_client: bool = False
    """`max` and `queue` are counted for each client's IP address by itself. Default false: for all together."""
    queue: Annotated[int, Within(0)] | None = None
    """How many may wait for a place; what is beyond them is reset. Default: as many as like, as in a kernel's backlog that is
    never full."""
    backlog: Annotated[int, Within(0, 65_535)] | None = None
    """In place of `queue`: nobody is accepted while there is no place, so that the kernel keeps who waits, so many of them
    (Linux takes one more); who comes then is not even connected, and tries for as long as its own limit of connecting
    says. It is about the listening sockets: all connections of clients meet it."""

    @property
    def of_all(self) -> bool:
        return self.backlog is not None

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        found = super(Accept, self).problems()
        if self.refuse and (self.delay or self.max is not None):
            found.append((("refuse",), "what is refused is not taken late, nor counted"))
        for key, given in (("after", self.after > 0), ("for", self.for_ < math.inf)):
            if given and not self.refuse:
                found.append(((key,), "it says when connections are refused, and goes with `refuse: true`"))
        for key, given in (("queue", self.queue is not None), ("backlog", self.backlog is not None)):
            if given and self.max is None:
                found.append(((key,), "nobody waits where there is no `max`"))
        if self.backlog is not None and (self.queue is not None or self.per_client):
            other = "queue" if self.queue is not None else "per_client"
            found.append(
                ((other,), "`backlog` leaves waiting to the kernel, which knows no client and counts by itself")
            )
        return found

    def share(self) -> object:
        return Doors(self.max, self.queue, self.backlog, each=self.per_client)

    def admission(self, shared: object) -> Admission | None:
        return shared if self.backlog is not None and isinstance(shared, Doors) else None

    def start(self, context: Context) -> Fault:
        return RunningAccept(self, context)


class RunningAccept(Fault):
    """Awake until the connection is taken: what it says is held."""

    capacity = ROOM
    unfired = "taken at once"

    def __init__(self, spec: Accept, context: Context) -> None:
        shared = context.shared if isinstance(context.shared, Doors) else spec.share()
        assert isinstance(shared, Doors)
        self._doors, self.address = shared, context.address
        self._spec = spec
        self._delay = spec.delay / context.speed
        self._since = context.began
        self._waited = ""
        self._kept: list[Event] = []
        self._refused = ""
        self._waits = self._taken = False
        self._come(context.began, context.speed)

    def _come(self, now: float, speed: float) -> None:
        spec, open_for = self._spec, self._doors.open_for(now)
        shuts = spec.after / speed
        if spec.refuse and shuts <= open_for < shuts + spec.for_ / speed:
            self._refused = "refused"
        elif self._doors.take(self):
            self._taken = True
        elif self._doors.join(self):
            self._waits = True
        else:
            each = " for each client" if spec.per_client else ""
            self._refused = f"refused: {counted(spec.max or 0, 'connection')} at a time{each}"
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
        self._doors.leave(self, now)
        return ()
