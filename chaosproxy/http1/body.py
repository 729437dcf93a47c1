"""Decoders of received bodies whose end is a count or the connection's own: length, close, tunnel; and the choice.

Rules: a decoder appends Data to a list of events, one for each read, never empty, and answers what lies behind the body
once that is complete. It says nothing of End: the session does.
Must not know: heads, the connection, which peer sends.
"""

from typing import Protocol

from chaosproxy.http1.chunked import ChunkedDecoder
from chaosproxy.model.messages import Data, Event
from chaosproxy.model.vocabulary import Framing


class Decoder(Protocol):
    ends_with_connection: bool
    """A FIN is this body's clean end (RFC 9112 section 6.3, last rule)."""

    def feed(self, data: bytes, into: list[Event]) -> bytes | None:
        """Append what `data` (not empty) holds. None: the body goes on; else the bytes behind its end. Raises
        Malformed, with what was good before already appended."""
        ...


class LengthDecoder:
    __slots__ = ("_left",)

    ends_with_connection = False

    def __init__(self, length: int) -> None:
        """`length` > 0; a body without bytes needs no decoder."""
        self._left = length

    def feed(self, data: bytes, into: list[Event]) -> bytes | None:
        if len(data) < self._left:
            self._left -= len(data)
            into.append(Data(data))
            return None
        into.append(Data(data[: self._left]))
        return data[self._left :]


class RawDecoder:
    """Close-delimited bodies and tunnels: all there is until the FIN."""

    __slots__ = ()

    ends_with_connection = True

    def feed(self, data: bytes, into: list[Event]) -> bytes | None:
        into.append(Data(data))
        return None


def decoder(framing: Framing, length: int) -> Decoder:
    """For a message that is not over with its head."""
    if framing is Framing.CHUNKED:
        return ChunkedDecoder()
    if framing is Framing.LENGTH:
        return LengthDecoder(length)
    return RawDecoder()
