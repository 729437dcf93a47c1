"""`blackhole`: the machine is gone: power lost, cable pulled, a firewall that has forgotten the connection.

Nobody is told anything, which is what makes it the longest of all failures: neither side sees an end, only silence, and
TCP itself gives up after minutes (RFC 9293 section 3.8.3), an idle connection never. The client's side is neither read nor
written and a FIN from it is not seen; the upstream's neither, so that its writes run into backpressure and its leaving
goes unnoticed. On HTTP/1 and under `connections:` that is the whole connection; on HTTP/2 under a hop it is this stream
alone: no DATA, no window, RST_STREAM ignored, while PINGs are answered.

One way alone is the asymmetric route: the packets of one direction are lost, those of the other arrive. `response`: the
client hears nothing more and the upstream runs into backpressure, but what the client still sends arrives, its leaving
too, so the upstream is told when it gives up. `request`: what the client sends is not read, its leaving neither; the
answer goes on to its end, for nobody if the client has left.

Machines nearer the client live on: their timeouts fire, they see the client leave; only what lies behind the gone machine
hears nothing of it. A machine that comes back (`for`) goes on with what waits in the kernel's buffers, and sees then who
has left. It lasts no longer than its exchange, or than the connection it was put on.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.chain.actions import Actions, Note, Rest, Vanish
from chaosproxy.chain.fault import Context, Fault, FaultSpec, Neutral, register
from chaosproxy.chain.scope import Group, Scope, Together, scope_problems
from chaosproxy.chain.triggered import Triggered
from chaosproxy.model.units import Duration, show_duration
from chaosproxy.model.vocabulary import BothWays, Moment, Way


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Blackhole(FaultSpec):
    """Neither reads nor writes from an exact place on, and tells nobody."""

    name: ClassVar[str] = "blackhole"
    main: ClassVar[str | None] = "for_"
    has_at: ClassVar[bool] = True
    on_connections: ClassVar[bool] = True
    ways: ClassVar[frozenset[Way | BothWays]] = frozenset((*Way, "both"))

    for_: Duration = math.inf
    """How long; then everything goes on. Default forever: the exchange is journalled when the client is let go, which is
    when the proxy ends. 0: nothing happens."""
    way: Way | BothWays = "both"  # type: ignore[assignment] # every other fault has one way, and may count on it
    """`both`: the machine is gone; `at` is counted on the response. `request` or `response`: only what travels in that
    direction is lost; `at` is counted there. Default both."""

    scope: Scope | None = None
    """`all`, or a share of them such as 0.3: at the moment at which the place comes in one, it is gone for the others that
    run too; not for those that begin later. In a hop the exchanges that meet this fault, under `connections:` the
    connections. Default: each by itself."""

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        found = scope_problems(self.scope, self.trigger)
        if self.at is not None and self.at.moment is Moment.AFTER_END:
            found.append((("at",), "behind the end mark nothing is left to be lost; `end` is right before it"))
        return found

    def share(self) -> object:
        return None if self.scope is None else Group(self.scope)

    def start(self, context: Context) -> Fault:
        if not self.for_:
            return Neutral()
        return (RunningBlackhole if context.shared is None else BlackholeTogether)(self, context)


class RunningBlackhole(Triggered):
    """Rests until the place, and again once the chain has stopped there."""

    def __init__(self, spec: Blackhole, context: Context) -> None:
        super().__init__(spec.trigger, context)
        self._ways = frozenset(Way) if spec.way == "both" else frozenset({spec.way})
        self._for = spec.for_ / context.speed
        self._how_long = "" if spec.for_ == math.inf else f" for {show_duration(spec.for_)}"
        self._which = "" if spec.way == "both" else f", {spec.way} only"

    def _next(self, now: float) -> Rest:
        """A time that comes while it is gone passes without it."""
        if not self._fired or self._for == math.inf:
            return super()._next(now)
        return super()._next(now + self._for)

    def fire(self, now: float) -> Actions:
        return (Note("fired", f"gone {self._place}{self._how_long}{self._which}"), Vanish(now + self._for, self._ways))


class BlackholeTogether(Together, RunningBlackhole):
    """Gone for several at one moment."""
