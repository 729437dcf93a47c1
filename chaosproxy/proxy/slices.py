"""How much of a read to handle at once where faults look at every record: so many lines, and the others have their turn.

Nobody knows what a record costs before the first has been handled, nor whether the next will cost as much: a read may be
one record, and the one behind it thousands. A chunk of HTTP/1.1 that was cut would travel as two, so it is cut behind what
looks like the end of one, or of an event, where there is such a place.
Must not know: connections, time.
"""

LINES = 1024
"""Lines that are handled at once at most: a tenth of a second of what costs most, and more than an honest chunk has."""
_ENDS = (b"\n\r\n", b"\n\n", b"\r\n\r\n", b"\n", b"\r")
"""Where to cut: an event's chunk ends, an event, a line."""


def beginning(data: bytes) -> int:
    """How many of the bytes to handle now; all of them, unless they are more than `LINES`."""
    limit = min(_end_of_lines(data, b"\n"), _end_of_lines(data, b"\r"))
    if limit >= len(data):
        return len(data)
    for end in _ENDS:
        at = data.rfind(end, limit // 2, limit)
        if at >= 0:
            return at + len(end)
    return limit


def _end_of_lines(data: bytes, end: bytes) -> int:
    """Behind the last line that is still handled."""
    at = 0
    for _ in range(LINES):
        at = data.find(end, at) + 1
        if not at:
            return len(data)
    return at
