"""The events of one HTTP exchange, the same for every protocol and both ways.

Legal order (`grammar.py`): Interim* Head Data* Trailers? (End | Abort), Abort anywhere, one terminal per way.
Rules: pure data, equal by value, never changed after it was made. Must not know: bytes on the wire, time, the engine.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from chaosproxy.model.asked import Asked
from chaosproxy.model.codes import INTERNAL_ERROR
from chaosproxy.model.headers import Headers, first
from chaosproxy.model.vocabulary import Framing, Manner, Peer, Scope


@dataclass(frozen=True, slots=True)
class RequestHead:
    """A request line with its fields, hop-by-hop fields already taken out (RFC 9110 section 7.6.1).

    `headers` keep order, case and duplicates as received. From HTTP/1 they hold Host and Transfer-Encoding in their
    places; from HTTP/2 the authority stands in `authority` alone. Each session writes what its protocol wants.
    """

    method: bytes
    target: bytes
    """The request target as received: path and query, absolute form, authority (CONNECT) or `*`."""
    headers: Headers = ()
    scheme: bytes = b"http"
    authority: bytes = b""
    framing: Framing = Framing.NONE
    final: bool = False
    """Nothing follows but End: no body, no trailers (END_STREAM on HEADERS)."""
    upgrade: bytes = b""
    """The protocol asked for by Upgrade, or `:protocol` of an extended CONNECT (RFC 8441); lower case."""
    version: bytes = b"1.1"
    """What the client spoke: 1.0, 1.1 or 2."""
    old: bool = False
    """Towards an HTTP/1 upstream it is an HTTP/1.0 request that closes its connection: a fault wants it."""
    asked: tuple[Asked, ...] = field(default=(), hash=False)


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """A final status line with its fields, hop-by-hop fields already taken out."""

    status: int
    headers: Headers = ()
    reason: bytes = b""
    framing: Framing = Framing.LENGTH
    final: bool = False
    asked: tuple[Asked, ...] = field(default=(), hash=False)
    version: bytes = b"1.1"
    """What the status line says on HTTP/1; 1.0 only where a fault wants it."""
    literal: bool = False
    """It is framed as it says, whether or not the client could take it and the body is as it promises."""


@dataclass(frozen=True, slots=True)
class Interim:
    """A 1xx answer other than 101, passed on as it comes (RFC 9110 section 15.2)."""

    status: int
    headers: Headers = ()
    reason: bytes = b""


@dataclass(slots=True)
class Data:
    """A piece of body: an HTTP/1 chunk, a DATA frame, or what one read brought of it. Never empty.

    Not frozen only because a frozen dataclass costs three times as much to make, and one is made per event; treat it
    as frozen.
    """

    payload: bytes
    ends: tuple[int, ...] = ()
    """Offsets just behind each record that ends inside; found once, where the body enters the chain."""
    whole: bool = True
    """False where the chunk that this piece belongs to goes on behind it."""
    size: int | None = None
    """What the chunk's header announces, on the first piece of a chunk that is longer than this piece. Else None:
    the piece is a chunk of its own, or goes on with the chunk that the writer has open."""

    def split(self, at: int) -> tuple["Data", "Data"]:
        """Cut in two at byte `at`, 0 < at < len(payload). The cut makes chunks of both: no announced size survives."""
        ends, payload = self.ends, self.payload
        if not ends:
            return Data(payload[:at], whole=False), Data(payload[at:], whole=self.whole)
        within = bisect_right(ends, at)
        return (
            Data(payload[:at], ends[:within], whole=False),
            Data(payload[at:], tuple([end - at for end in ends[within:]]), whole=self.whole),
        )


def join(pieces: Sequence[Data]) -> Data:
    """One Data with the bytes of all `pieces` (at least one), their record ends in place."""
    if len(pieces) == 1:
        return pieces[0]
    ends: list[int] = []
    offset = 0
    for piece in pieces:
        ends.extend(offset + end for end in piece.ends)
        offset += len(piece.payload)
    return Data(b"".join([piece.payload for piece in pieces]), tuple(ends), whole=pieces[-1].whole)


@dataclass(frozen=True, slots=True)
class Trailers:
    """Trailer fields (RFC 9110 section 6.5)."""

    headers: Headers = ()


@dataclass(frozen=True, slots=True)
class End:
    """The clean end of a message: last chunk, full length, END_STREAM."""


@dataclass(frozen=True, slots=True)
class Abort:
    """The message ends here and is not whole. Travels in band, behind the data it follows.

    | scope, manner               | HTTP/1                                   | HTTP/2                                  |
    |-----------------------------|------------------------------------------|-----------------------------------------|
    | STREAM, RESET or FIN        | FIN, no last chunk                       | RST_STREAM(code); siblings live         |
    | STREAM, AT_ONCE             | the same, and what was not sent is lost  | the same                                |
    | STREAM, MID_CHUNK           | chunk announced longer than sent, FIN    | RST_STREAM(code)                        |
    | STREAM, SILENCE             | nothing more, socket open                | nothing more on that stream             |
    | CONNECTION, FIN             | FIN, no last chunk                       | FIN of the whole connection             |
    | CONNECTION, RESET           | TCP RST                                  | TCP RST; every stream                   |
    | CONNECTION, NO_CLOSE_NOTIFY | under TLS a FIN without the alert        | same, whole connection                  |
    | CONNECTION, GOAWAY          | as CONNECTION, FIN                       | GOAWAY(code, last); streams above die   |
    """

    cause: str
    """As the journal names it: a fault, `timeout:idle`, `upstream:fin`, `client:rst`, `malformed`, `shutdown` ..."""
    origin: Peer
    scope: Scope = Scope.STREAM
    manner: Manner = Manner.RESET
    code: int = INTERNAL_ERROR
    """HTTP/2 error code (RFC 9113 section 7); INTERNAL_ERROR unless something better is known."""
    last: int = 0
    """GOAWAY only: the last stream id that still counts."""
    status: int = 502
    """What to answer if no response head has gone out yet."""
    detail: str = ""
    """One line for a person: the rule broken, the error seen."""
    overtakes: bool = False
    """It waits for no room: what stands in front of it and was not taken is lost."""


@dataclass(frozen=True, slots=True)
class Goaway:
    """A GOAWAY that this stream survives: an announcement to the client's session, in band, not a terminal."""

    code: int
    last: int


Event = RequestHead | ResponseHead | Interim | Data | Trailers | End | Abort | Goaway


def in_chunks(head: ResponseHead) -> bool:
    """Whether HTTP/1.1 carries the body in chunks, over whatever protocol the head has come."""
    if head.framing is Framing.STREAM:
        return not head.final and first(head.headers, b"content-length") is None
    return head.framing is Framing.CHUNKED


H = TypeVar("H", bound=RequestHead | ResponseHead)


def without_length(head: H) -> H:
    """The head with Content-Length taken out and, from HTTP/1, the body chunked, for a body whose length a fault may
    change. A request without a body stays as it is: nothing can be put into it."""
    if isinstance(head, ResponseHead) and head.literal:
        head = replace(head, literal=False, version=b"1.1")  # whoever changes the body frames it anew, and knows how
    elif head.framing not in (Framing.LENGTH, Framing.STREAM) or (isinstance(head, RequestHead) and head.final):
        return head
    headers = tuple(pair for pair in head.headers if pair[0].lower() != b"content-length")
    if head.framing is Framing.STREAM:
        return head if headers == head.headers else replace(head, headers=headers)
    framing = Framing.CHUNKED if head.framing is Framing.LENGTH else head.framing
    return replace(head, headers=headers, framing=framing)
