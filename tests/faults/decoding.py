"""Decodes a coded body as it comes, as a client would: what can be read after each piece."""

import zlib

import brotli

try:
    from compression import zstd
except ImportError:
    from backports import zstd

CODINGS = ("gzip", "deflate", "br", "zstd")


class Decoder:
    """One body's, of whatever coding."""

    def __init__(self, coding: str) -> None:
        self._brotli = brotli.Decompressor() if coding == "br" else None
        self._other = None
        if coding == "zstd":
            self._other = zstd.ZstdDecompressor()
        elif coding != "br":
            self._other = zlib.decompressobj(31 if coding == "gzip" else 15)

    def feed(self, piece: bytes) -> bytes:
        """All that can be read now."""
        return self._other.decompress(piece) if self._brotli is None else self._brotli.process(piece)

    @property
    def finished(self) -> bool:
        """The coded body is whole, its checksum right."""
        return self._other.eof if self._brotli is None else self._brotli.is_finished()


def decoded(played, coding: str) -> list[tuple[float, bytes]]:
    """What became readable when; at one instant it is one piece."""
    decoder = Decoder(coding)
    read: list[tuple[float, bytes]] = []
    for time, piece in played.body:
        text = decoder.feed(piece)
        if text and read and read[-1][0] == time:
            read[-1] = (time, read[-1][1] + text)
        elif text:
            read.append((time, text))
    return read
