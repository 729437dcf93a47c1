"""What narrows a fault to some exchanges (`if:`), as asked for.

Rules: pure data. Must not know: how it is decided (`conditions.py`).
"""

from dataclasses import dataclass

from chaosproxy.model.vocabulary import BodyFraming


@dataclass(frozen=True, slots=True)
class Condition:
    """`if:` narrows a fault to some exchanges. Strings are globs (`*`, `?`); values compare as in `match`."""

    content_type: str | tuple[str, ...] | None = None
    status: int | str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    without_headers: tuple[tuple[str, str], ...] = ()
    client_headers: tuple[tuple[str, str], ...] = ()
    without_client_headers: tuple[tuple[str, str], ...] = ()
    method: str | tuple[str, ...] | None = None
    protocol: str | None = None
    framing: BodyFraming | tuple[BodyFraming, ...] | None = None
