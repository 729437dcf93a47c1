"""Takes the coding off a body, and finds its records.

Rules: a coding that is broken or not known, or unpacks without measure, hides what follows; nothing raises, or grows. Must not
know: where time comes from.
"""

import zlib

from chaosproxy.client.answer import Piece
from chaosproxy.framing.choose import kind_of, splitter_for
from chaosproxy.framing.splitter import RecordKind
from chaosproxy.model.headers import first
from chaosproxy.model.messages import ResponseHead

CODED = {b"gzip": zlib.MAX_WBITS + 16, b"x-gzip": zlib.MAX_WBITS + 16, b"deflate": zlib.MAX_WBITS}

KEPT = 4 * 1024 * 1024
"""Bytes of text; also of what a single piece may unpack to."""


class Body:
    """One body, fed as it comes."""

    def __init__(self, head: ResponseHead, other: RecordKind | None = None) -> None:
        """`other`: the records of a text whose type has none."""
        coding = (first(head.headers, b"content-encoding") or b"").strip().lower()
        self._decoder = zlib.decompressobj(CODED[coding]) if coding in CODED else None
        self._readable = self._decoder is not None or coding in {b"", b"identity"}
        content_type = first(head.headers, b"content-type")
        kind = kind_of(content_type)
        if kind is None and (content_type or b"text/").lower().startswith(b"text/"):
            kind = other
        readable = kind if self._readable else None
        self._records = splitter_for(readable) if readable is not None else None
        self._units = splitter_for(readable, every_unit=True) if readable is not None else None
        self.recorded = readable is not None
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

    def _decoded(self, payload: bytes) -> bytes:
        if not self._readable:
            return b""
        if self._decoder is None:
            return payload
        try:
            text = self._decoder.decompress(payload, KEPT)
        except zlib.error:
            self._readable = False
            return b""
        self._readable = not self._decoder.unconsumed_tail
        return text
