"""One protocol connection, sans-IO: what HTTP/1.1 and HTTP/2 have in common, client and server role alike.

Rules: `receive` takes any bytes and never raises: what breaks the protocol becomes an Abort, or a `Closed`. The verdict
on any input does not depend on how it was cut into reads. Nothing waits and nothing is queued per stream: the driver
asks `allowance` before it sends Data. Write boundaries are the product: `outgoing` returns one byte string per write.
Must not know: sockets, time, the chain, each other.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, Self

from chaosproxy.model.asked import Dribble
from chaosproxy.model.messages import Abort, Event
from chaosproxy.model.vocabulary import Role


@dataclass(slots=True)
class Arrived:
    """Events of one stream, in order. A RequestHead (or a lone Abort, for a head that is malformed) opens it.

    Not frozen, as little as `Data`: one is made for each."""

    stream: int
    events: list[Event]


@dataclass(frozen=True, slots=True)
class Granted:
    """The peer has opened a window: `stream` may send more; 0 = any of them may."""

    stream: int


@dataclass(frozen=True, slots=True)
class Stopped:
    """The peer no longer wants the rest of what we send on `stream` (an early answer, RST_STREAM(NO_ERROR)); what it
    sends still counts."""

    stream: int


@dataclass(frozen=True, slots=True)
class Gone:
    """Server role: the client has left `stream` before its answer was complete, out of band: FIN, RST, RST_STREAM,
    GOAWAY, a lost connection. `abort.cause` is `client:fin`, `client:rst`, `client:stream:CANCEL` ...; after a FIN
    (manner FIN) the client may still be listening, and `send` still works. Not used in a tunnel, where a FIN is an End."""

    stream: int
    abort: Abort


@dataclass(frozen=True, slots=True)
class Closed:
    """Nothing further will arrive on this connection. Streams that it took along have each had their Abort before."""

    detail: str = ""


Signal = Arrived | Granted | Stopped | Gone | Closed


class Slowly(bytes):
    """An element of `outgoing` of which some parts are to be written slowly."""

    segments: tuple[tuple[int, Dribble | None], ...]
    """Its parts in order: their length, and how slowly."""

    @classmethod
    def of(cls, data: bytes, segments: Iterable[tuple[int, Dribble | None]]) -> "Slowly":
        made = cls(data)
        made.segments = tuple(segment for segment in segments if segment[0])
        return made


class Closing(StrEnum):
    """What the driver has to do to the transport once everything outgoing is flushed."""

    FIN = "fin"
    """Shut down for writing (under TLS close_notify first), read and discard until EOF or 2 s, close."""
    AT_ONCE = "at_once"
    """The same, and what the socket has not taken by then is lost."""
    RST = "rst"
    NO_CLOSE_NOTIFY = "no_close_notify"
    SILENCE = "silence"
    """Write nothing more, keep the socket open, go on reading."""
    HALF = "half"
    """Shut down for writing only: the half close of a tunnel."""


class Incoming(Protocol):
    """One stream's body past the session, frame by frame, as long as nothing is to be done but to count it."""

    kind: bytes
    """Octets 4 to 9 of every frame that this is for."""
    stream: int

    def take(self, read: bytes) -> int:
        """Instead of `receive` of a read that is one such frame: where the payload begins. 0: it is more than that, and
        nothing has been taken."""
        ...

    def take_all(self, of: Sequence[tuple[Self, Sequence[bytes]]], size: int) -> bool:
        """The same for a read of `size` bytes that is such frames, also of other streams, and nothing else, with these
        payloads."""
        ...


class Session(Protocol):
    """What the driver needs of a protocol. Streams are small integers; HTTP/1 counts its exchanges 1, 2, 3 ..."""

    role: Role
    protocol: str
    """`http/1.1` or `h2`."""
    multiplexed: bool
    """Streams run side by side, each with a window of its own (HTTP/2); else one after another, and to stop one is to stop
    reading."""

    @property
    def closing(self) -> Closing | None:
        """Set once the session is done with the connection; the driver acts on it after flushing."""
        ...

    @property
    def reusable(self) -> bool:
        """Client role: a further request may be opened on this connection now."""
        ...

    @property
    def hungry(self) -> bool:
        """More bytes may be fed. HTTP/1 server: False while more than 64 KiB of pipelined requests wait."""
        ...

    def receive(self, data: bytes) -> list[Signal]:
        """Feed what one read brought; b"" is the peer's FIN."""
        ...

    @property
    def open_chunk(self) -> int | None:
        """HTTP/1: bytes that the open chunk of the live body lacks, 0 between chunks; None where what comes next is not
        the payload or the head of a chunk."""
        ...

    def scan_chunks(self, data: bytes, *, parts: bool) -> list[tuple[int, int]] | None:
        """Instead of `receive`, while `open_chunk` is a number: where the payloads lie, if `data` is nothing but chunks,
        written as we would, the first and the last perhaps in part if such are allowed. Else None, and nothing has been
        taken."""
        ...

    @property
    def unfinished(self) -> bool:
        """Server role: a request's head, a frame, what a session begins with has begun to come, and is not complete."""
        ...

    def overdue(self) -> list[Signal]:
        """Server role: it has not become complete in time. Nothing else is under way."""
        ...

    def lost(self, how: str, detail: str = "") -> list[Signal]:
        """The connection broke: `how` is "rst" (ECONNRESET, EPIPE) or "no_close_notify" (TLS ended without the alert,
        which counts as FIN). Every live stream gets its Abort, then Closed."""
        ...

    def resume(self) -> list[Signal]:
        """What earlier bytes hold for us now that a message has ended (pipelined requests). Call after each terminal."""
        ...

    def open(self) -> int:
        """Client role: a new stream. Only when `reusable`."""
        ...

    def send(self, stream: int, events: Sequence[Event]) -> None:
        """Queue events of our own way, in the order of the grammar. Data only within `allowance`. Sent to a stream that
        has ended meanwhile: ignored. An Abort here is `abort`."""
        ...

    def repeats_chunks(self, stream: int, left: int) -> bool:
        """What the other side has scanned may be written here as it came, without our being told: our open chunk lacks
        `left` bytes too. HTTP/2: never."""
        ...

    def chunk_is_open(self, left: int) -> None:
        """That is over, and so many bytes are missing of the last chunk."""
        ...

    def incoming(self, stream: int) -> Incoming | None:
        """HTTP/2: what the peer sends on `stream` past the session, until anything but body is told of it."""
        ...

    def framer(self, stream: int) -> Callable[[bytes], bytes] | None:
        """What makes of a payload the bytes that `send` would, for who writes them at once, and counts as that does; b""
        where they may not be, and nothing has happened. For as long as nothing else is sent on `stream`. None: there is
        none here."""
        ...

    @property
    def in_full(self) -> bool:
        """HTTP/1: the message sent last is as long as its head has announced. HTTP/2: nobody looks."""
        ...

    def allowance(self, stream: int) -> int:
        """How many body bytes may be sent on `stream` now (window and frame budget). HTTP/1: a large number."""
        ...

    def grant(self, stream: int, nbytes: int) -> None:
        """`nbytes` body bytes of `stream` were admitted by the chain: credit the peer. (Connection credit is given on
        receipt, so that a stalled stream cannot starve its siblings.)"""
        ...

    def abort(self, stream: int, abort: Abort) -> None:
        """End our way of `stream` without completing it, as the table in `Abort` says; also gives up on what the peer
        still sends there. May set `closing`."""
        ...

    def close(self) -> None:
        """Leave in order: GOAWAY(NO_ERROR) on HTTP/2, nothing on HTTP/1; sets `closing` when no stream is live."""
        ...

    def outgoing(self) -> list[bytes]:
        """What is to be written, one element per write; the caller owns it."""
        ...
