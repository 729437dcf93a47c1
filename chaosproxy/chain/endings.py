"""How a fault can end an exchange (`then:`), as asked for: what each becomes is decided at the place, at the moment.

Rules: pure data. Must not know: how a session writes it.
"""

from dataclasses import dataclass
from typing import Literal

from chaosproxy.model.codes import INTERNAL_ERROR, code_name
from chaosproxy.model.headers import Headers

EndingKind = Literal[
    "abort",
    "clean",
    "end_stream",
    "fin",
    "rst",
    "fin_mid_chunk",
    "no_close_notify",
    "stream",
    "goaway",
    "silence",
    "status",
]


@dataclass(frozen=True, slots=True)
class Ending:
    """One ending. Possible: `clean` behind the head unless a Content-Length is not reached, `end_stream` behind the head over
    HTTP/2, `no_close_notify` under TLS only, `status` only while this fault has passed no head, all others always."""

    kind: EndingKind
    code: int = INTERNAL_ERROR
    """`stream` and `goaway`: the HTTP/2 error code (RFC 9113 section 7)."""
    last: Literal["0", "first", "current", "max"] = "0"
    status: int = 504
    body: bytes = b""
    headers: Headers = ()
    """`status`: those of the answer. `clean`, `end_stream`: the trailers, in place of those that the end would have."""

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
_CLIENTS = ("fin", "rst", "stream")


def not_a_clients_end(then: tuple[Ending, ...]) -> list[tuple[tuple[str, ...], str]]:
    """What is wrong with how a client is to end its upstream's connection, for `FaultSpec.problems`."""
    odd = [ending for ending in then if ending.kind not in _CLIENTS]
    if not odd:
        return []
    return [(("then",), f"`{odd[0].kind}` is not how a client ends; expected fin, rst or {{stream: CODE}}")]
