"""NDJSON and its kin: where records end, and what one says.

A record is a line that holds more than JSON's white space (RFC 8259 section 2); it ends behind its LF, and a CR before
that belongs to the line end. The last line needs no LF: `pending` says that the body's end completes it.
Must not know: JSON, HTTP.
"""

_BLANKS = b" \t\r"


class LineSplitter:
    """Finds the records of a body of lines; with `every_line` the end of every line, empty ones included."""

    __slots__ = ("_every_line", "pending")

    def __init__(self, *, every_line: bool = False) -> None:
        self.pending = False  # the unfinished line holds something: all that needs to be remembered
        self._every_line = every_line

    def feed(self, payload: bytes) -> tuple[int, ...]:
        """Offsets in `payload` just behind each record that ends inside it, ascending."""
        size = len(payload)
        stop = payload.find(b"\n")
        if stop == size - 1 and payload[:1] > b" ":  # one whole line: a single memchr
            self.pending = False
            return (size,)
        ends: list[int] = []
        start = 0
        while stop >= 0:
            if self.pending or self._every_line or _says_something(payload, start, stop):
                ends.append(stop + 1)
                self.pending = False
            start = stop + 1
            stop = payload.find(b"\n", start)
        if not self.pending and _says_something(payload, start, size):
            self.pending = True
        return tuple(ends)


def _says_something(payload: bytes, start: int, stop: int) -> bool:
    """Whether there is more than blanks between two places; looks no further than it must."""
    if start >= stop:
        return False
    return payload[start] > 0x20 or bool(payload[start:stop].strip(_BLANKS))


def content(raw: bytes) -> bytes | None:
    """The line of a record, without its line end and the empty lines before it; None if all is empty."""
    line = raw.rstrip(b" \t\r\n")
    return line[line.rfind(b"\n") + 1 :] or None
