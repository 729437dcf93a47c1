"""The decoder of chunked bodies (RFC 9112 section 7.1), strict and fast.

A chunk that lies whole in a read becomes one Data; one that arrives in pieces becomes those pieces, the first of which
carries the announced size, so that the writer can send the same chunk again.
Rules: CRLF only, at most 16 digits of size and below 2**63, extensions skipped up to a limit over the whole body; a
violation is raised with the byte that makes it, behind the good data before it, whatever the cut into reads.
Must not know: heads, the connection, which peer sends.
"""

import re

from chaosproxy.http1.lines import LineBlock, Malformed
from chaosproxy.model.headers import Headers
from chaosproxy.model.messages import Data, Event, Trailers
from chaosproxy.model.units import counted
from chaosproxy.model.validate import fields_problem, permitted_trailers

_PLAIN = re.compile(rb"([0-9A-Fa-f]{1,16})\r\n")
"""A chunk header as nearly everybody sends it; all others take the slow path."""
_HEADER = re.compile(rb"([0-9A-Fa-f]{0,16})([ \t]*)((?:;[^\r\n\0]*)?)(\r?)(\n?)")
"""What may begin a chunk header. Blanks are legal only before an extension (BWS)."""
_LARGEST = 2**63 - 1
EXTENSIONS = 16 * 1024
"""Bytes of chunk extensions in one body."""
_LONGEST_SIZE = 18
"""Bytes of the longest size with its CRLF."""


def whole_chunk(data: bytes) -> int:
    """Where the payload begins, if `data` is one chunk, the way our encoder writes it, and nothing else; 0 if not. So it is
    with most reads where a server writes event by event."""
    start = data.find(b"\r\n", 1, _LONGEST_SIZE) + 2
    size = len(data) - start - 2
    return start if size > 0 and data.startswith(b"%x\r\n" % size) and data.endswith(b"\r\n") else 0


def _canonical(written: bytes) -> int:
    """The size that is written so by our encoder; 0 for anything else."""
    try:
        size = int(written, 16)
    except ValueError:
        return 0
    return size if 0 < size <= _LARGEST and b"%x" % size == written else 0


class ChunkedDecoder:
    __slots__ = ("_after_data", "_announced", "_extensions", "_left", "_partial", "_trailers")

    ends_with_connection = False

    def __init__(self) -> None:
        self._extensions = EXTENSIONS
        self._left = 0
        """Bytes of the open chunk that have not come yet."""
        self._announced: int | None = None
        """Size of the open chunk while none of it has come."""
        self._after_data = False
        """A chunk's bytes are complete, its CRLF is not."""
        self._partial = b""
        """The beginning of a chunk header, or of the CRLF behind a chunk."""
        self._trailers: LineBlock | None = None

    def feed(self, data: bytes, into: list[Event]) -> bytes | None:
        """See `Decoder.feed`. The loop is the hot path: one match, one slice, one Data a chunk."""
        if self._trailers is not None:
            return self._feed_trailers(data, into)
        size_of, total = _PLAIN.match, len(data)
        if self._partial:
            data = self._partial + data
            self._partial, total = b"", len(data)
        position = 0
        if self._left:
            position = self._continue_chunk(data, into)
        while True:
            if self._after_data:
                position = self._end_chunk(data, position)
                if position < 0:
                    return None
            if position == total:
                return None
            match = size_of(data, position)
            if match is None:
                size, start = self._header(data, position)
                if start < 0:
                    return None
            else:
                size, start = int(match[1], 16), match.end()
            stop = start + size
            if stop + 2 <= total and size:
                into.append(Data(data[start:stop]))
                if data[stop] == 0x0D and data[stop + 1] == 0x0A:
                    position = stop + 2
                    continue
                self._after_data = True
                position = stop
            elif size:
                position = self._open_chunk(data, start, size, into)
            else:
                self._trailers = LineBlock("trailers")
                return self._feed_trailers(data[start:], into) if start < total else None

    @property
    def open_chunk(self) -> int | None:
        """Bytes of payload that the open chunk lacks, 0 between chunks; None where something else is under way."""
        if self._after_data or self._partial or self._announced is not None or self._trailers is not None:
            return None
        return self._left

    def scan(self, data: bytes, *, parts: bool) -> list[tuple[int, int]] | None:
        """Where the payloads lie, if `data` is nothing but chunks, written as our encoder writes them; the first and the
        last perhaps in part, if `parts` are allowed. Then they are taken; else None, and nothing has been. Only while
        `open_chunk` is a number."""
        ranges: list[tuple[int, int]] = []
        position, total, left = 0, len(data), self._left
        if left:
            if left > total:
                self._left -= total
                return [(0, total)]
            if data[left : left + 2] != b"\r\n":
                return None
            ranges.append((0, left))
            position = left + 2
        while position < total:
            end = data.find(b"\r\n", position + 1, position + _LONGEST_SIZE)
            size = _canonical(data[position:end]) if end > 0 else 0
            if not size:
                return None
            start, stop = end + 2, end + 2 + size
            if stop + 2 > total:
                if not parts or start >= total or stop <= total:
                    return None
                ranges.append((start, total))
                self._left = stop - total
                return ranges
            if data[stop : stop + 2] != b"\r\n":
                return None
            ranges.append((start, stop))
            position = stop + 2
        self._left = 0
        return ranges

    def _open_chunk(self, data: bytes, start: int, size: int, into: list[Event]) -> int:
        """A chunk that goes on behind this read, or just ends with it. Answers where the parser stands then."""
        if size > _LARGEST:
            raise Malformed("chunk of 2^63 bytes or more")
        self._left, self._announced = size, size
        return start + self._continue_chunk(data[start:], into) if start < len(data) else start

    def _continue_chunk(self, data: bytes, into: list[Event]) -> int:
        size, self._announced = self._announced, None
        if len(data) < self._left:
            self._left -= len(data)
            into.append(Data(data, whole=False, size=size))
            return len(data)
        stop, self._left = self._left, 0
        self._after_data = True
        into.append(Data(data if stop == len(data) else data[:stop]))
        return stop

    def _end_chunk(self, data: bytes, position: int) -> int:
        """Past the CRLF behind a chunk's bytes; -1 when it is not complete."""
        found = data[position : position + 2]
        if found == b"\r\n":
            self._after_data = False
            return position + 2
        if found not in (b"", b"\r"):
            raise Malformed("no CRLF behind the bytes of a chunk")
        self._partial = found
        return -1

    def _header(self, data: bytes, position: int) -> tuple[int, int]:
        """A chunk header that is not plain, or not complete: its size and where it ends, or (0, -1) to wait."""
        match = _HEADER.match(data, position)
        assert match is not None  # it matches the empty string
        digits, blanks, extension, carriage, feed = match.groups()
        spent = len(blanks) + len(extension)
        if digits and (carriage or spent) and int(digits, 16) > _LARGEST:
            raise Malformed("chunk of 2^63 bytes or more")
        if spent > self._extensions:
            raise Malformed(f"chunk extensions above {EXTENSIONS} bytes in one body")
        missing = not digits and bool(spent or carriage)
        loose = bool(blanks) and not extension and (bool(carriage) or match.end() < len(data))
        if missing or loose or (feed and not carriage) or (match.end() < len(data) and not feed):
            raise Malformed("a chunk header that is not a size, perhaps extensions, and CRLF")
        if not feed:
            self._partial = data[position:]
            return 0, -1
        self._extensions -= spent
        return int(digits, 16), match.end()

    def _feed_trailers(self, data: bytes, into: list[Event]) -> bytes | None:
        assert self._trailers is not None
        behind = self._trailers.feed(data)
        if behind is not None:
            fields = permitted_trailers(_trailer_fields(self._trailers.lines))
            if fields:
                into.append(Trailers(fields))
        return behind


def _trailer_fields(lines: list[bytes]) -> Headers:
    """RFC 9112 section 7.1.2: field lines like a head's, and judged like those."""
    fields = []
    for line in lines:
        name, colon, value = line.partition(b":")
        if not colon:
            raise Malformed(f"a trailer of {counted(len(line), 'byte')} has no colon")
        fields.append((name, value.strip(b" \t")))
    problem = fields_problem(tuple(fields))
    if problem is not None:
        raise Malformed(problem)
    return tuple(fields)
