"""What one side of an HTTP/2 session does about the session itself, as far as a fault may have it done otherwise.

A session that is watched says what it is about to do (`Take`, `Pong`, `Acknowledge`, `Credit`, `Heard`, `Admitted`); what is done is
what comes back. Rules: pure data. Must not know: frames, who asks, who does it.
"""

from dataclasses import dataclass
from typing import Literal

from chaosproxy.model.codes import NO_ERROR, REFUSED_STREAM

Last = Literal["0", "first", "current", "max"]
"""Which stream id a GOAWAY names: none, the connection's first, the latest that was opened, the largest there is."""


@dataclass(frozen=True, slots=True)
class Take:
    """A stream has been opened: taken, if this comes back. `live`: how many run already."""

    stream: int
    live: int


@dataclass(frozen=True, slots=True)
class Refuse:
    """RST_STREAM in place of taking it."""

    stream: int
    code: int = REFUSED_STREAM


@dataclass(frozen=True, slots=True)
class Pong:
    """A PING is answered. `useful`: heads or body bytes have passed since the one before."""

    payload: bytes
    useful: bool = False


@dataclass(frozen=True, slots=True)
class Heard:
    """A PING of ours has been answered. Nothing is to be done."""

    payload: bytes


@dataclass(frozen=True, slots=True)
class Acknowledge:
    """The peer's SETTINGS are acknowledged."""

    frame: bytes
    """Ready to be sent."""


@dataclass(frozen=True, slots=True)
class Credit:
    """WINDOW_UPDATE: the peer may send so many bytes more on a stream, or on the connection (0)."""

    stream: int
    nbytes: int


@dataclass(frozen=True, slots=True)
class Admitted:
    """So many body bytes of the peer's have gone further on. Nothing is to be done."""

    nbytes: int


@dataclass(frozen=True, slots=True)
class Ping:
    """A PING of ours."""

    payload: bytes


@dataclass(frozen=True, slots=True)
class Settings:
    """SETTINGS of ours, changed: `(id, value)` (RFC 9113 section 6.5.2)."""

    pairs: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class GoAway:
    """GOAWAY. Streams above the last id are dead. `leave`: the connection closes with the last of the others."""

    code: int = NO_ERROR
    last: Last = "current"
    debug: bytes = b""
    leave: bool = False


@dataclass(frozen=True, slots=True)
class Octets:
    """Bytes as they stand, no frame. `alone`: nothing else is written any more."""

    data: bytes
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Hold:
    """Whatever is written waits, from now on or (False) no longer."""

    on: bool = True


Act = Take | Refuse | Pong | Heard | Acknowledge | Credit | Admitted | Ping | Settings | GoAway | Octets | Hold
