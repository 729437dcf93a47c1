"""What the faults have in common that are about a connection itself, and stand under `connections:` alone.

What no byte of the connection shows (which certificate a handshake has, how long a connection is kept) such a spec says as
data, and the driver sees to it. Must not know: what any of them does, how it is done.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

from chaosproxy.chain.fault import Context, FaultSpec

Flaw = Literal["expired", "wrong_host", "unknown_authority"]
"""What is wrong with a certificate."""
NO_ALPN = "no_alpn"
"""Nothing is: no protocol is chosen."""


@dataclass(frozen=True, slots=True)
class Lifetime:
    """How long a client's connection is kept, in seconds; infinite: as long as it likes."""

    fault: str
    """Who says so."""
    age: float = math.inf
    """From its beginning until it is asked to leave."""
    grace: float = math.inf
    """From then until it is ended."""
    idle: float = math.inf
    """From the end of an answer until it is closed, though nobody has said that it would be."""


class Admission(Protocol):
    """Who decides whether a further connection is accepted; while it is not, the kernel keeps it."""

    backlog: int | None
    """How many of them the kernel is to keep."""
    on_free: Callable[[], None] | None
    """Called when it may be so again."""

    @property
    def full(self) -> bool:
        """None is."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionSpec(FaultSpec):
    """No hop has such a fault."""

    on_connections: ClassVar[bool] = True
    in_hops: ClassVar[bool] = False
    sides: ClassVar[frozenset[str]] = frozenset({"client", "upstream"})
    """On which side it can act."""

    @property
    def flaws(self) -> frozenset[str]:
        """What is wrong with the handshake: each a `Flaw` of the certificate, or `NO_ALPN`."""
        return frozenset()

    @property
    def of_all(self) -> bool:
        """It is about whatever listens, so that it cannot be narrowed to some connections of clients."""
        return False

    def admission(self, shared: object) -> Admission | None:
        """Who decides whether connections are accepted; `shared` is what `share` has made."""
        return None

    def lifetime(self, context: Context) -> Lifetime | None:
        """How long a connection is kept."""
        return None

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        if self.if_ is not None:
            return [(("if",), "a connection has no head that `if` could look at; narrow it by `match`")]
        return []
