"""`keepalive`: the connection is said to be kept, and is closed a moment after the answer: the next request finds it shut.

Imitates a server or a balancer whose idle timeout is shorter than its client's (5 s in Node, 75 s in nginx, 60 s in a cloud's
balancer), and the worst of them, which closes at once. Between the close and the client's hearing of it lies the race: a
request that is sent then was not processed, and only a client that knows so may send it again.
"""

from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.chain.connection_spec import ConnectionSpec, Lifetime
from chaosproxy.chain.fault import Context, Fault, Neutral, register
from chaosproxy.model.units import Duration


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Keepalive(ConnectionSpec):
    """Connections of clients on which nothing runs are closed soon."""

    name: ClassVar[str] = "keepalive"
    main: ClassVar[str | None] = "close_after"
    sides: ClassVar[frozenset[str]] = frozenset({"client"})

    close_after: Duration
    """How long behind the end of an answer, if nothing further is asked until then. Over HTTP/1 nobody is told: no `Connection:
    close`, no waiting for what may be under way, so that a request which comes too late is answered by a reset. Over HTTP/2
    a GOAWAY goes before. 0: at once."""

    def start(self, context: Context) -> Fault:
        return Neutral()

    def lifetime(self, context: Context) -> Lifetime:
        """It is for the driver to close it."""
        return Lifetime(self.name, idle=self.close_after / context.speed)
