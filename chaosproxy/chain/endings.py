"""How a fault can end an exchange (`then:`), as asked for: what each becomes is decided at the place, at the moment.

Rules: pure data. Must not know: how a session writes it.
"""

from dataclasses import dataclass
from typing import Literal

from chaosproxy.model.codes import INTERNAL_ERROR, code_name
from chaosproxy.model.headers import Headers

EndingKind = Literal[
    "abort", "clean", "fin", "rst", "fin_mid_chunk", "no_close_notify", "stream", "goaway", "silence", "status"
]


@dataclass(frozen=True, slots=True)
class Ending:
    """One ending. Possible: `clean` unless a Content-Length is not reached, `no_close_notify` under TLS only, `status`
    only while this fault has passed no head, all others always."""

    kind: EndingKind
    code: int = INTERNAL_ERROR
    """`stream` and `goaway`: the HTTP/2 error code (RFC 9113 section 7)."""
    last: Literal["0", "first", "current", "max"] = "0"
    status: int = 504
    body: bytes = b""
    headers: Headers = ()
    """`status`: those of the answer. `clean`: the trailers, in place of those that the end would have."""

    def __str__(self) -> str:
        """For a person: `rst`, `504`, `stream:CANCEL`."""
        match self.kind:
            case "status":
                return str(self.status)
            case "stream" | "goaway":
                return f"{self.kind}:{code_name(self.code)}"
            case _:
                return self.kind


ABORT = Ending("abort")
CLEAN = Ending("clean")
