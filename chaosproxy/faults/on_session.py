"""What the faults of a whole HTTP/2 session have in common as specs: where they stand, and the place at which one acts.

Must not know: what any of them does.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from chaosproxy.chain.connection_spec import ConnectionSpec
from chaosproxy.model.codes import CodeName
from chaosproxy.model.units import Count, Within

Code = CodeName | Annotated[int, Within(0, 2**32 - 1)]
"""An error code, by its name (RFC 9113 section 7) or as a number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSpec(ConnectionSpec):
    """Acts on connections that speak HTTP/2, above their bytes."""

    on_connections: ClassVar[bool] = False
    on_sessions: ClassVar[bool] = True

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        return []  # what it may not have there is asked where it stands


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedSpec(SessionSpec):
    """Acts once, at a place of the connection."""

    has_at: ClassVar[bool] = True
    without_at: ClassVar[str] = "the beginning of the connection; a place is a time since then: `at: {time: 2s}`"

    stream: Count | None = None
    """In place of `at`: when so many streams have been opened on the connection."""

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        found = super(PlacedSpec, self).problems()
        if self.at is not None and self.stream is not None:
            found.append((("stream",), "`at` says already where; leave one out"))
        return found
