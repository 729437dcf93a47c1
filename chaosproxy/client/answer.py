"""What came, and when: an answer as its client saw it.

Seconds from the request throughout. Must not know: how it was read.
"""

from dataclasses import dataclass, field

from chaosproxy.model.headers import Headers, first
from chaosproxy.model.vocabulary import Framing

GAVE_UP = "gave up"


@dataclass(frozen=True, slots=True)
class Piece:
    """What one chunk, or one DATA frame, or what a read brought of it, added to the body."""

    time: float
    size: int
    """Bytes as they came."""
    text: int
    """Bytes that could be decoded then; those that came before may be among them."""
    events: int
    """Records that ended then."""
    whole: bool = False
    """The last of the text that is there by now ends a record."""


@dataclass(slots=True)
class Answer:
    """One answer."""

    protocol: str
    status: int | None = None
    headers: Headers = ()
    framing: Framing | None = None
    head: float | None = None
    pieces: list[Piece] = field(default_factory=list)
    end: str = GAVE_UP
    """`clean`, `fin`, `rst`, `stream:CODE` ..., `gave up`."""
    ended: float = 0.0
    text: bytes = b""
    """The body, decoded as far as it came."""
    recorded: bool = False
    """Its type has records: where `events` are 0, none came."""
    hidden: str = ""
    """Why some of it could not be decoded."""

    def header(self, name: str) -> str:
        """The first value of `name` (in lower case); empty if there is none."""
        return (first(self.headers, name.encode("latin-1")) or b"").decode("latin-1")

    @property
    def events(self) -> list[tuple[float, int]]:
        """(seconds, how many could be decoded then)"""
        return [(piece.time, piece.events) for piece in self.pieces if piece.events]

    @property
    def traffic(self) -> list[tuple[float, int]]:
        """(seconds, body bytes)"""
        return [(piece.time, piece.size) for piece in self.pieces]
