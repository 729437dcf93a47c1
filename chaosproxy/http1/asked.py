"""Writes heads and chunks as a head asks for it: spelt in another way, or slowly.

Only the marks are made here of what is to be slow: `Slowly` says which bytes, and whoever writes keeps to it.
Must not know: why, time, sockets.
"""

from collections.abc import Sequence

from chaosproxy.http1.encoder import BodyEncoder
from chaosproxy.http1.writer import field_lines
from chaosproxy.model.asked import Asked, ChunkSyntax, Dribble
from chaosproxy.model.headers import Headers
from chaosproxy.model.messages import Data
from chaosproxy.model.validate import permitted_trailers
from chaosproxy.model.vocabulary import Framing
from chaosproxy.session import Slowly

_PLAIN = ChunkSyntax()


class AskedChunks(BodyEncoder):
    """A chunked body, of which a fault asks something: so each piece is a chunk, and one that is announced longer than it is
    has nothing behind it."""

    __slots__ = ("_chunks", "_eol", "_last", "_sizes", "_syntax")

    def __init__(self, syntax: ChunkSyntax, sizes: Dribble | None, last: Dribble | None) -> None:
        super().__init__(Framing.CHUNKED)
        self._syntax, self._sizes, self._last = syntax, sizes, last
        self._eol = b"\n" if syntax.bare_lf else b"\r\n"
        self._chunks = 0

    def data(self, data: Data) -> bytes:
        payload = data.payload
        size = max(data.size or 0, len(payload))
        self._left = size - len(payload)
        self._chunks += 1
        line = self._size_line(size, self._chunks)
        return _marked(line, payload if self._left else payload + self._eol, self._sizes, None)

    def end(self, trailers: Headers) -> bytes:
        self.ended = True
        fields = field_lines((*permitted_trailers(trailers), *self._syntax.trailers)).replace(b"\r\n", self._eol)
        return _marked(self._size_line(0, 0), fields + self._eol, self._sizes or self._last, self._last)

    def broken_off(self) -> bytes:
        if self._left or not self._syntax.on_abort:
            return b""
        self._syntax.written = True
        return self._syntax.on_abort

    def _size_line(self, size: int, number: int) -> bytes:
        syntax = self._syntax
        if number == syntax.empty_size:
            return self._eol
        extension = b";" + syntax.extension if syntax.extension else b""
        return b"%b%x%b%b%b" % (b"0" * syntax.zeros, size, b" " * syntax.spaces, extension, self._eol)


def _marked(line: bytes, behind: bytes, of_line: Dribble | None, of_rest: Dribble | None) -> bytes:
    if of_line is None and of_rest is None:
        return line + behind
    return Slowly.of(line + behind, ((len(line), of_line), (len(behind), of_rest)))


def encoder_asked(encoder: BodyEncoder, asked: Sequence[Asked]) -> BodyEncoder:
    """What writes the body, if it is chunked and something of what is `asked` is about its chunks; the first of each kind is
    in force."""
    syntax = next((one for one in asked if isinstance(one, ChunkSyntax)), None)
    sizes, last = _dribble(asked, "chunk_size"), _dribble(asked, "last_chunk")
    if encoder.framing is not Framing.CHUNKED or not (syntax or sizes or last):
        return encoder
    for one in (sizes, last):
        if one is not None:
            one.written = True
    if syntax is not None:
        syntax.written = syntax.spells
    return AskedChunks(syntax or _PLAIN, sizes, last)


def slow_head(written: bytes, asked: Sequence[Asked]) -> bytes:
    """The head's bytes, marked if something of what is `asked` is about them; the first is in force."""
    about = _dribble(asked, "head")
    if about is None:
        return written
    about.written = True
    return Slowly.of(written, ((len(written), about),))


def _dribble(asked: Sequence[Asked], region: str) -> Dribble | None:
    return next((one for one in asked if isinstance(one, Dribble) and one.region == region), None)


def joined(parts: Sequence[bytes]) -> bytes:
    """One element of several, the marks kept."""
    whole = b"".join(parts)
    if not any(isinstance(part, Slowly) for part in parts):
        return whole
    segments: list[tuple[int, Dribble | None]] = []
    for part in parts:
        segments.extend(part.segments if isinstance(part, Slowly) else ((len(part), None),))
    return Slowly.of(whole, segments)
