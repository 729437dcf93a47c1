"""Writes what a head asks to be written slowly: itself, the size line of each chunk behind it, or the last chunk.

Only the marks are made here: `Slowly` says which bytes, and whoever writes keeps to it. Must not know: time, sockets.
"""

from collections.abc import Sequence

from chaosproxy.http1.encoder import BodyEncoder
from chaosproxy.model.headers import Headers
from chaosproxy.model.messages import Data, Dribble
from chaosproxy.model.vocabulary import Framing
from chaosproxy.session import Slowly


class SlowSizes(BodyEncoder):
    """A chunked body whose size lines dribble, that of the last chunk too, or that has its last chunk cut in two."""

    __slots__ = ("_last", "_sizes")

    def __init__(self, sizes: Dribble | None, last: Dribble | None) -> None:
        super().__init__(Framing.CHUNKED)
        self._sizes, self._last = sizes, last

    def data(self, data: Data) -> bytes:
        inside = bool(self._left)
        written = super().data(data)
        return written if inside else self._marked(written, None)

    def end(self, trailers: Headers) -> bytes:
        return self._marked(super().end(trailers), self._last)

    def _marked(self, written: bytes, dribble: Dribble | None) -> bytes:
        line = written.find(b"\r\n") + 2
        if line < 2:
            return written
        return Slowly.of(written, ((line, self._sizes or dribble), (len(written) - line, dribble)))


def slow_head(written: bytes, dribbles: Sequence[Dribble]) -> bytes:
    """The head's bytes, marked if one of `dribbles` is about them; the first is in force."""
    about = next((dribble for dribble in dribbles if dribble.region == "head"), None)
    if about is None:
        return written
    about.written = True
    return Slowly.of(written, ((len(written), about),))


def slow_sizes(encoder: BodyEncoder, dribbles: Sequence[Dribble]) -> BodyEncoder:
    """What writes the body, if it is chunked and some of `dribbles` are about its chunks; the first of each kind is in
    force."""
    by_region = {dribble.region: dribble for dribble in reversed(dribbles) if dribble.region != "head"}
    if not by_region or encoder.framing is not Framing.CHUNKED:
        return encoder
    for dribble in by_region.values():
        dribble.written = True
    return SlowSizes(by_region.get("chunk_size"), by_region.get("last_chunk"))


def joined(parts: Sequence[bytes]) -> bytes:
    """One element of several, the marks kept."""
    whole = b"".join(parts)
    if not any(isinstance(part, Slowly) for part in parts):
        return whole
    segments: list[tuple[int, Dribble | None]] = []
    for part in parts:
        segments.extend(part.segments if isinstance(part, Slowly) else ((len(part), None),))
    return Slowly.of(whole, segments)
