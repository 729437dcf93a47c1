"""Changes one block of an event stream line by line: what is not changed keeps its bytes, line ends included.

Rules: `raw` is one unit as `Blocks` reads it, its blank line behind it, or the unfinished last one; a byte
order mark stays in front. A block of which no field is left is empty. Must not know: what the data means.
"""

from collections.abc import Iterator

from chaosproxy.framing.sse import BOM


def _lines(raw: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Each line with its end, and the name of its field: empty for a comment and for a blank line."""
    for line in raw.splitlines(keepends=True):  # of bytes: at LF, CRLF and CR only
        yield line, line.rstrip(b"\r\n").partition(b":")[0]


def without_field(raw: bytes, name: bytes) -> bytes:
    """The block without the fields called `name`; without its comments if `name` is empty."""
    mark = raw[: len(BOM)] if raw.startswith(BOM) else b""
    kept: list[bytes] = []
    left = dropped = False
    for line, field in _lines(raw.removeprefix(mark)):
        blank = not line.rstrip(b"\r\n")
        if field == name and not blank:
            dropped = True
        else:
            kept.append(line)
            left = left or not blank
    if not dropped:
        return raw
    return mark + b"".join(kept) if left else b""


def with_data(raw: bytes, data: bytes) -> bytes:
    """The block with `data`, its lines joined by LF, in the place of what it has."""
    mark = raw[: len(BOM)] if raw.startswith(BOM) else b""
    kept: list[bytes] = []
    put = False
    for line, field in _lines(raw.removeprefix(mark)):
        if field != b"data":
            kept.append(line)
        elif not put:
            end = line[len(line.rstrip(b"\r\n")) :]
            blank = b" " if line.startswith(b"data: ") else b""
            kept.append((end or b"\n").join([b"data:" + blank + one for one in data.split(b"\n")]) + end)
            put = True
    return mark + b"".join(kept)
