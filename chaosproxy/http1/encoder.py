"""Writes bodies: each Data as the chunk it is, or raw where the body is not chunked.

Where no chunk is open a Data becomes a chunk of its own; with an announced `size` it opens a chunk of that size, the
following pieces go into it raw, and the CRLF stands behind the last: exactly the peer's chunk again.
Rules: what cannot be completed honestly is left incomplete, and `complete` says so; nothing is repaired.
Must not know: heads, the connection.
"""

from chaosproxy.http1.writer import field_lines
from chaosproxy.model.headers import Headers
from chaosproxy.model.messages import Data
from chaosproxy.model.validate import permitted_trailers
from chaosproxy.model.vocabulary import Framing

HALF_CHUNK = b"10\r\n"
"""A chunk of 16 bytes is announced, and none of them sent."""


def chunk(payload: bytes) -> bytes:
    """A chunk of its own."""
    return b"%x\r\n%b\r\n" % (len(payload), payload)


class BodyEncoder:
    """One body. `framing` is how it is written, `length` what a Content-Length has promised."""

    __slots__ = ("_left", "ended", "framing", "length", "sent")

    def __init__(self, framing: Framing, length: int | None = None) -> None:
        self.framing, self.length = framing, length
        self.sent = 0
        """Body bytes written where the framing is LENGTH."""
        self.ended = False
        self._left = 0
        """Bytes that the open chunk still lacks."""

    def data(self, data: Data) -> bytes:
        """The bytes to write; empty only where the message can have no body."""
        payload = data.payload
        if self.framing is Framing.CHUNKED:
            if not self._left:
                size = data.size
                if size is None or size <= len(payload):
                    return b"%x\r\n%b\r\n" % (len(payload), payload)  # `chunk`, without the call
                self._left = size - len(payload)
                return b"%x\r\n%b" % (size, payload)
            return self._continue(payload)
        if self.framing is Framing.NONE:
            return b""
        self.sent += len(payload)
        return payload

    def _continue(self, payload: bytes) -> bytes:
        """Into the open chunk; what is more than it has room for becomes a chunk of its own."""
        left = self._left
        if len(payload) < left:
            self._left -= len(payload)
            return payload
        self._left = 0
        rest = payload[left:]
        return b"%b\r\n%x\r\n%b\r\n" % (payload[:left], len(rest), rest) if rest else payload + b"\r\n"

    def is_in_chunk(self, left: int) -> bool:
        """The body is chunked, and the open chunk lacks `left` bytes; 0: none is open."""
        return self.framing is Framing.CHUNKED and self._left == left and not self.ended

    def chunk_is_open(self, left: int) -> None:
        """Somebody else has written the upstream's chunks: of the last, `left` bytes are missing."""
        self._left = left

    def end(self, trailers: Headers) -> bytes:
        """The end mark. Trailers have a place only behind chunks (RFC 9112 section 7.1.2)."""
        self.ended = True
        if self.framing is not Framing.CHUNKED or self._left:
            return b""
        return b"0\r\n%b\r\n" % field_lines(permitted_trailers(trailers)) if trailers else b"0\r\n\r\n"

    def half_chunk(self) -> bytes:
        """What makes the body break off inside a chunk."""
        return HALF_CHUNK if self.is_in_chunk(0) else b""

    def broken_off(self) -> bytes:
        """What stands where the body breaks off; nothing, unless a fault has asked for it."""
        return b""

    @property
    def complete(self) -> bool:
        """The peer can see that the message has ended, and where."""
        match self.framing:
            case Framing.NONE:
                return True
            case Framing.LENGTH:
                return self.sent == self.length
            case Framing.CHUNKED:
                return self.ended and not self._left
            case _:
                return self.ended
