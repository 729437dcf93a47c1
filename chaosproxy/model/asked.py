"""What a fault asks of whoever writes a message on a connection: what no chain sees, because it is framing or the connection's.

It travels in the head, and whoever does it sets `written`; in a protocol or a message where there is no such thing nobody does.
Rules: pure data, but for that mark. Must not know: who asks, how it is done.
"""

from dataclasses import dataclass, field, replace
from typing import Literal

from chaosproxy.model.headers import Headers


@dataclass(slots=True)
class Dribble:
    """How slowly the bytes of a head, or of the framing of the chunks behind it, are to be written on HTTP/1."""

    region: Literal["head", "chunk_size", "last_chunk"]
    """`chunk_size`: the size line of each chunk. `last_chunk`: its size line at one time, and what is behind it."""
    nbytes: int
    """So many at a time."""
    every: float
    """Seconds from one time to the next."""
    written: bool = field(default=False, compare=False)


@dataclass(slots=True)
class Linger:
    """How long the connection stays open behind the answer's clean end before it is closed."""

    seconds: float
    written: bool = field(default=False, compare=False)


@dataclass(slots=True)
class ChunkSyntax:
    """How the framing of chunks is spelt (RFC 9112 section 7.1)."""

    zeros: int = 0
    """In front of each size."""
    spaces: int = 0
    """Behind each size."""
    extension: bytes = b""
    """Behind that, and a semicolon, where it is not empty."""
    trailers: Headers = ()
    """Behind those that the message has."""
    empty_size: int | None = None
    """The number of the chunk whose size is left out; 0: the last chunk's."""
    bare_lf: bool = False
    """Line feeds in place of CRLF."""
    on_abort: bytes = b""
    """In front of the FIN where the body breaks off behind a chunk."""
    written: bool = field(default=False, compare=False)

    @property
    def spells(self) -> bool:
        """Something of it is about the chunks of a whole body."""
        return replace(self, on_abort=b"") != ChunkSyntax()


@dataclass(slots=True)
class FrameSyntax:
    """How an answer is put into frames on HTTP/2 (RFC 9113 sections 6.1, 6.10)."""

    data: int = 0
    """Body bytes of a DATA frame at most; 0: as they came."""
    padding: int = 0
    """Of each DATA frame, as far as the windows have room for it."""
    block: int = 0
    """Bytes of the head's block in its first frame and in each CONTINUATION; 0: as many as fit."""
    reset: int | None = None
    """The code of an RST_STREAM behind END_STREAM."""
    written: bool = field(default=False, compare=False)


Asked = Dribble | Linger | ChunkSyntax | FrameSyntax
