"""What the faults have in common that are about a connection itself, and stand under `connections:` alone.

Must not know: what any of them does.
"""

from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.chain.fault import FaultSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionSpec(FaultSpec):
    """No hop has such a fault."""

    on_connections: ClassVar[bool] = True
    in_hops: ClassVar[bool] = False

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        if self.if_ is not None:
            return [(("if",), "a connection has no head that `if` could look at; narrow it by `match`")]
        return []
