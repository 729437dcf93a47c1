"""The encoders of the content codings: what each gathers, what it gives when it is flushed, how it ends.

| coding  | format                                             | gathers, unless it is flushed          | memory      |
|---------|----------------------------------------------------|----------------------------------------|-------------|
| gzip    | RFC 1952                                           | 16 Ki symbols: some 140 KiB of events  | 0.3 MiB     |
| deflate | the zlib format, RFC 1950 (RFC 9110 section 8.4.1.2) | as gzip                                | 0.3 MiB     |
| br      | RFC 7932, a window of 512 KiB as ngx_brotli has it | one block: up to 1 MiB                 | some MiB    |
| zstd    | RFC 8878, its window within RFC 9659's 8 MiB       | one block: 128 KiB                     | 4 MiB, more above level 10 |

Rules: an encoder gives nothing, not even its own header, before it is flushed or a block is full; after `flush` all that
was fed can be decoded. The memory is fixed when the body begins, whatever its length. Must not know: faults, events.
"""

import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Literal, assert_never

Coding = Literal["gzip", "deflate", "br", "zstd"]

LEVELS: dict[Coding, tuple[int, int, int]] = {
    "gzip": (0, 9, 6),
    "deflate": (0, 9, 6),
    "br": (2, 11, 6),
    "zstd": (1, 19, 3),
}
"""The lowest, the highest and the default. brotli below 2 gathers nothing; zstd above 19 has windows beyond 8 MiB."""
TRAILERS: dict[Coding, int] = {"gzip": 8, "deflate": 4, "br": 0, "zstd": 0}
"""Bytes of checksum and length behind the last block (RFC 1952 section 2.3.1, RFC 1950 section 2.2)."""
SHORTEST_ENDS: dict[Coding, int] = {"gzip": 10, "deflate": 6, "br": 1, "zstd": 3}
"""The fewest bytes that `finish` gives: an empty last block and the trailer."""
_HEADERS: dict[Coding, int] = {"gzip": 10, "deflate": 2}
_WINDOWS: dict[Coding, int] = {"gzip": 31, "deflate": 15}
"""zlib's `wbits`: 32 KiB, and the format."""
_BROTLI_WINDOW = 19
_LIBRARIES: dict[Coding, str] = {
    "br": "brotli",
    "zstd": "backports.zstd" if sys.version_info < (3, 14) else "compression.zstd",
}


@dataclass(frozen=True, slots=True)
class Encoder:
    """One body's."""

    feed: Callable[[bytes], bytes]
    """Takes a piece; what comes of it, mostly nothing."""
    flush: Callable[[], bytes]
    """Everything fed so far, decodable from here on."""
    finish: Callable[[], bytes]
    """The rest, last block and trailer included."""


def missing(coding: Coding) -> str:
    """The extra that has to be installed for `coding`; empty if nothing is missing. What is there is loaded: the first
    body that is coded should not hold up everything else."""
    library = _LIBRARIES.get(coding)
    if library is None:
        return ""
    if find_spec(library.partition(".")[0]) is None or find_spec(library) is None:
        return coding
    import_module(library)
    return ""


def encoder(coding: Coding, level: int | None) -> Encoder:
    """A fresh one; None is the default level."""
    level = LEVELS[coding][2] if level is None else level
    match coding:
        case "gzip" | "deflate":
            return _zlib(coding, level)
        case "br":
            return _brotli(level)
        case "zstd":
            return _zstd(level)
        case _:
            assert_never(coding)


def _zlib(coding: Coding, level: int) -> Encoder:
    coder = zlib.compressobj(level, zlib.DEFLATED, _WINDOWS[coding])
    return _headed(coder.compress, lambda: coder.flush(zlib.Z_SYNC_FLUSH), coder.flush, _HEADERS[coding])


def _headed(
    feed: Callable[[bytes], bytes], flush: Callable[[], bytes], finish: Callable[[], bytes], size: int
) -> Encoder:
    """The header, of `size` bytes, which zlib gives with the first piece, is kept back until something follows it, as
    nginx does."""
    header = b""

    def take(coded: bytes, least: int) -> bytes:
        nonlocal header, size
        header += coded
        if len(header) < least:
            return b""
        coded, header, size = header, b"", 0
        return coded

    return Encoder(lambda piece: take(feed(piece), size + 1), lambda: take(flush(), 0), lambda: take(finish(), 0))


def _brotli(level: int) -> Encoder:
    import brotli  # noqa: PLC0415 - an extra

    coder = brotli.Compressor(quality=level, lgwin=_BROTLI_WINDOW)
    return Encoder(coder.process, coder.flush, coder.finish)


def _zstd(level: int) -> Encoder:
    if sys.version_info >= (3, 14):
        from compression import zstd  # noqa: PLC0415 - as its other half
    else:
        from backports import zstd  # noqa: PLC0415 - an extra, and 20 ms
    coder = zstd.ZstdCompressor(level=level)
    return Encoder(coder.compress, lambda: coder.flush(coder.FLUSH_BLOCK), coder.flush)
