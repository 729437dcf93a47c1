"""Takes the coding off a body, and finds its records.

Rules: a coding that is broken or not known, or unpacks without measure, hides what follows, and `hidden` says why; nothing
raises, or grows. Must not know: where time comes from.
"""

import zlib

from chaosproxy.client.answer import Piece
from chaosproxy.framing.choose import kind_of, splitter_for
from chaosproxy.framing.splitter import RecordKind
from chaosproxy.model.headers import first, values
from chaosproxy.model.messages import ResponseHead

CODED = {b"gzip": zlib.MAX_WBITS + 16, b"x-gzip": zlib.MAX_WBITS + 16, b"deflate": zlib.MAX_WBITS}
_MEMBER = b"\x1f\x8b"
"""How a further member of gzip begins (RFC 1952 section 2.2)."""

KEPT = 4 * 1024 * 1024
"""Bytes of text; also of what a single piece may unpack to."""
MOST_UNPACKED = 64 * 1024 * 1024
"""Bytes that a coded body may unpack to in all, and"""
MOST_RATIO = 200
"""times its own length, where that is more than"""
FREE = 1024 * 1024
"""so many bytes: text that is said over and over is small at first."""


class Unpacking:
    """One coded body, of one or more members."""

    def __init__(self, wbits: int) -> None:
        self._wbits = wbits
        self._decoder = zlib.decompressobj(wbits)
        self._coded = self._unpacked = 0
        self.broken = ""
        """Why nothing more is unpacked."""

    @property
    def whole(self) -> bool:
        """It could end here; so could one that has not begun, for the answer to HEAD has none."""
        return self._decoder.eof or not self._coded

    def feed(self, payload: bytes) -> bytes:
        """What can be read now, at most `KEPT` bytes."""
        parts: list[bytes] = []
        room, rest = KEPT, payload
        self._coded += len(payload)
        while rest and not self.broken:
            if self._decoder.eof and not self._begins(rest):
                self.broken = "something else stands behind its end"
                break
            try:
                parts.append(self._decoder.decompress(rest, room))
            except zlib.error:
                self.broken = "its coding is broken"
                break
            room -= len(parts[-1])
            rest = self._decoder.unused_data if self._decoder.eof else self._decoder.unconsumed_tail
            if rest and room <= 0:
                self.broken = "it unpacks without measure"
        text = b"".join(parts)
        self._unpacked += len(text)
        if self._unpacked > MOST_UNPACKED or self._unpacked > max(FREE, MOST_RATIO * self._coded):
            self.broken = "it unpacks without measure"
        return text

    def _begins(self, rest: bytes) -> bool:
        """Whether this begins another member; then it is made ready for."""
        another = self._wbits > zlib.MAX_WBITS and rest[:2] == _MEMBER[: len(rest)]
        if another:
            self._decoder = zlib.decompressobj(self._wbits)
        return another


class Body:
    """One body, fed as it comes."""

    def __init__(self, head: ResponseHead, other: RecordKind | None = None) -> None:
        """`other`: the records of a text whose type has none."""
        coding = b", ".join(values(head.headers, b"content-encoding")).strip().lower()
        self._unpacking = Unpacking(CODED[coding]) if coding in CODED else None
        readable = self._unpacking is not None or coding in {b"", b"identity"}
        self.hidden = "" if readable else "its coding is not known here"
        """Why no more of it can be read."""
        content_type = first(head.headers, b"content-type")
        kind = kind_of(content_type)
        if kind is None and (content_type or b"text/").lower().startswith(b"text/"):
            kind = other
        self._records = splitter_for(kind) if kind is not None and readable else None
        self._units = splitter_for(kind, every_unit=True) if kind is not None and readable else None
        self.recorded = self._records is not None
        self._text = bytearray()
        self._whole = False

    @property
    def text(self) -> bytes:
        """Everything decoded so far, up to `KEPT`."""
        return bytes(self._text)

    def feed(self, payload: bytes, time: float) -> Piece:
        """What `payload` adds."""
        text = self._decoded(payload)
        events = 0
        if text:
            self._text += text[: KEPT - len(self._text)]
            if self._records is not None and self._units is not None:
                events = len(self._records.feed(text))
                self._whole = (0, *self._units.feed(text))[-1] == len(text)
        return Piece(time, len(payload), len(text), events, self._whole)

    def hidden_at(self, end: str) -> str:
        """The same for a body that is over, and how."""
        cut = end == "clean" and self._unpacking is not None and not self._unpacking.whole
        return self.hidden or ("its coding ends too soon" if cut else "")

    def _decoded(self, payload: bytes) -> bytes:
        if self.hidden:
            return b""
        if self._unpacking is None:
            return payload
        text = self._unpacking.feed(payload)
        self.hidden = self._unpacking.broken
        return text
