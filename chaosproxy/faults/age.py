"""`age`: a connection may live so long, then its client is asked to leave, and after a grace it is ended.

Imitates what spreads long-lived connections over new replicas: gRPC's `max_connection_age` with its grace and its ten per cent
of jitter (proposal A8), Envoy's `max_connection_duration`, nginx's `keepalive_time`. Over HTTP/2 a GOAWAY of everything to
come, a PING, the real GOAWAY, and streams go on until the grace is over. Over HTTP/1 nothing can be said in the middle: the
next answer has `Connection: close`.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.chain.connection_spec import ConnectionSpec, Lifetime
from chaosproxy.chain.fault import Context, Fault, Neutral, register
from chaosproxy.chain.session_fault import SessionFault
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults.goaway import Goaway, RunningGoaway
from chaosproxy.model.units import Duration


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Age(ConnectionSpec):
    """Connections of clients grow no older than this."""

    name: ClassVar[str] = "age"
    main: ClassVar[str | None] = "max"
    sides: ClassVar[frozenset[str]] = frozenset({"client"})
    on_sessions: ClassVar[bool] = True

    max: Duration
    """How long from the beginning of the connection until its client is asked to leave."""
    grace: Duration = math.inf
    """How long what runs may still run; then the connection is ended with a FIN, whatever runs on it. Default forever."""
    jitter: float = 0.0
    """A share of `max` by which each connection's own is longer or shorter at most, drawn from the seed: 0.1 is what gRPC's
    servers do. Default 0."""

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        found = super(Age, self).problems()
        if not 0 <= self.jitter <= 1:
            found.append((("jitter",), f"found the number {self.jitter:g}; expected a share of `max`, from 0 to 1"))
        return found

    def _drawn(self, context: Context) -> float:
        """The own one of a connection, in the scenario's time."""
        return self.max * (1 + self.jitter * (2 * context.random.random() - 1)) if self.jitter else self.max

    def start(self, context: Context) -> Fault:
        return Neutral()

    def conduct(self, context: Context) -> SessionFault:
        grace = None if self.grace == math.inf else self.grace
        return RunningGoaway(Goaway(at=Trigger(time=self._drawn(context)), double=True, grace=grace), context)

    def lifetime(self, context: Context) -> Lifetime:
        """What `conduct` cannot see to, which is HTTP/1."""
        return Lifetime(self.name, age=self._drawn(context) / context.speed, grace=self.grace / context.speed)
