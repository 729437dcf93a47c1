"""What the faults have in common that are about a connection itself, and stand under `connections:` alone.

What no byte of the connection shows (which certificate a handshake has, how long a connection is kept) such a spec says as
data, and the driver sees to it. Must not know: what any of them does, how it is done.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from chaosproxy.chain.fault import Context, FaultSpec

Flaw = Literal["expired", "wrong_host", "unknown_authority"]
"""What is wrong with a certificate."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionSpec(FaultSpec):
    """No hop has such a fault."""

    on_connections: ClassVar[bool] = True
    in_hops: ClassVar[bool] = False
    sides: ClassVar[frozenset[str]] = frozenset({"client", "upstream"})
    """On which side it can act."""

    @property
    def flaws(self) -> frozenset[Flaw]:
        """What is wrong with the certificate that a client is shown."""
        return frozenset()

    def lifetime(self, context: Context) -> Lifetime | None:
        """How long a connection is kept."""
        return None

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        if self.if_ is not None:
            return [(("if",), "a connection has no head that `if` could look at; narrow it by `match`")]
        return []
