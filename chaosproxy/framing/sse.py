"""Server-Sent Events: where records end, and what one says (WHATWG HTML section 9.2.6, "interpreting an event stream").

A record is a block with at least one `data` field, whatever its value; comments and blocks with only `event`, `id` or
`retry` are traffic, not records. Lines end in LF, CRLF or CR, mixed too; one byte order mark may stand in front.
How many records there are never depends on the chunking. Where one ends does in a single case, because nothing is held:
a blank line that ends in CR at the very end of a payload, with perhaps a LF to come. The end is reported at once, and a
late LF leads the next record, where it means nothing. Only while every line so far has ended in CRLF is the LF waited
for and the end reported one byte later (`pending` meanwhile), so that such a stream is never cut between CR and LF;
if its style changes just there, the end is still reported behind that one byte (of every block: in front of it).
Must not know: HTTP, what the data means.
"""

from dataclasses import dataclass

BOM = b"\xef\xbb\xbf"
_HEAD = len(BOM) + len(b"data:")
"""As much of a line's beginning as is ever looked at."""
_LONGEST_RETRY = 15
"""Digits; more is no time anybody meant, and a cost to convert."""


class SseSplitter:
    """Finds the records of an event stream; with `every_block` the end of every block, lone blank lines included.

    Remembers the beginning of an unfinished line, whether the block has data, and how lines end, nothing else: memory is
    constant, and time is linear also where no line ever ends.
    """

    __slots__ = ("_after_cr", "_all_crlf", "_every_block", "_fast", "_first", "_has_data", "_head", "pending")

    def __init__(self, *, every_block: bool = False) -> None:
        self.pending = False
        self._every_block = every_block
        self._first = True  # no line has ended yet: this one may begin with a byte order mark
        self._head = b""  # the beginning of the unfinished line; empty at the start of a line
        self._has_data = False
        self._after_cr = False  # the last byte was a CR: a LF now is the second half of that line end
        self._all_crlf = True
        self._fast = False  # at the start of a line, with nothing special to remember

    def feed(self, payload: bytes) -> tuple[int, ...]:
        """Offsets in `payload` just behind each record that ends inside it, ascending."""
        if self._fast:
            # What nearly every payload is: `data`, or one other field and `data`, and the blank line. A few memchr.
            size = len(payload)
            first = stop = payload.find(b"\n")
            if 0 < first < size - 3 and payload.startswith(b"data:", first + 1):
                stop = payload.find(b"\n", first + 1)
            elif not payload.startswith(b"data:"):
                stop = size  # no such event
            if stop == size - 2 and payload.endswith(b"\n") and b"\r" not in payload:
                self._has_data = self._all_crlf = False
                return (size,)
            if stop == size - 3 and _is_crlf_event(payload, first, stop):
                self._has_data = False
                return (size,)
        if not payload:
            return ()
        ends: list[int] = []
        start = self._finish_cr(payload, ends) if self._after_cr else 0
        if self._fast and b"\r" not in payload and not self._all_crlf:
            start = self._lines_lf(payload, ends)
        else:
            start = self._lines(payload, start, ends)
        if len(self._head) < _HEAD:
            self._head += payload[start : start + _HEAD - len(self._head)]
        self._fast = not (self._head or self._after_cr)
        return tuple(ends)

    def _finish_cr(self, payload: bytes, ends: list[int]) -> int:
        """The payload before ended in CR: report an end that waited for its LF, and answer where the next line starts."""
        self._after_cr = False
        if self.pending:
            self.pending = False
            ends.append(1 if payload.startswith(b"\n") or not self._every_block else 0)
        if payload.startswith(b"\n"):
            return 1
        self._all_crlf = False
        return 0

    def _lines(self, payload: bytes, start: int, ends: list[int]) -> int:
        """Go through the lines that end in `payload`; answers where the unfinished one starts."""
        find = payload.find
        lf, cr = find(b"\n", start), find(b"\r", start)
        while lf >= 0 or cr >= 0:
            if cr < 0 or 0 <= lf < cr:
                stop, behind = lf, lf + 1
                lf = find(b"\n", behind)
                self._all_crlf = False
            else:
                stop, behind = cr, cr + 1
                if lf == behind:
                    behind += 1
                    lf = find(b"\n", behind)
                elif behind < len(payload):
                    self._all_crlf = False
                else:
                    self._after_cr = True
                cr = find(b"\r", behind)
            self._line(payload[start:stop] if stop - start < _HEAD else payload[start : start + _HEAD], behind, ends)
            start = behind
        return start

    def _lines_lf(self, payload: bytes, ends: list[int]) -> int:
        """As `_lines`, for many events in one read: no CR inside, at the start of a line, nothing else to watch."""
        find, startswith = payload.find, payload.startswith
        has_data, every_block = self._has_data, self._every_block
        start, stop = 0, find(b"\n")
        while stop >= 0:
            if stop == start:
                if has_data or every_block:
                    ends.append(stop + 1)
                    has_data = False
            elif not has_data and startswith(b"data", start):
                has_data = payload[start + 4] in b":\n"
            start = stop + 1
            stop = find(b"\n", start)
        self._has_data = has_data
        return start

    def _line(self, line: bytes, behind: int, ends: list[int]) -> None:
        """One line has ended; `line` is what this payload has of its beginning, the next one starts at `behind`."""
        if self._head:
            line = self._head + line
            self._head = b""
        if self._first:
            line = line.removeprefix(BOM)
            self._first = False
        if line:
            if line.startswith(b"data:") or line == b"data":
                self._has_data = True
            return
        if self._has_data or self._every_block:
            if self._after_cr and self._all_crlf:
                self.pending = True
            else:
                ends.append(behind)
        self._has_data = False


def _is_crlf_event(payload: bytes, first: int, stop: int) -> bool:
    """Whether lines that end in LF at `first` and `stop`, perhaps the same, and a blank one behind all end in CRLF, with
    no other CR about and no blank line in front."""
    lines = 2 if first == stop else 3
    return first > 1 and payload[first - 1] == 0x0D and payload.endswith(b"\r\n\r\n") and payload.count(b"\r") == lines


@dataclass(frozen=True, slots=True)
class SseEvent:
    """What a block says. Bytes as they came: the standard decodes them as UTF-8, and not every sender encodes so."""

    event: bytes = b""
    """Empty where the standard says `message`."""
    data: bytes | None = None
    """The `data` fields, joined by LF; None = there is none, so the block is no record."""
    id: bytes | None = None
    """The last event id that this text sets, with the blocks before the record."""
    retry: int | None = None
    """Milliseconds."""
    comments: tuple[bytes, ...] = ()


def parse(raw: bytes) -> SseEvent:
    """Read one record with the traffic before it; without a record, the last block. The blank line may be missing."""
    event, data = b"", list[bytes]()
    last_id, retry = None, None
    comments: list[bytes] = []
    fresh = False  # a block has ended: the next field begins another
    for line in raw.removeprefix(BOM).splitlines():  # of bytes: at LF, CRLF and CR only
        if not line:
            if data:
                break
            fresh = True
            continue
        if fresh:
            event, fresh = b"", False
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match name:
            case b"":
                comments.append(value)
            case b"data":
                data.append(value)
            case b"event":
                event = value
            case b"id" if b"\0" not in value:
                last_id = value
            case b"retry" if value.isdigit() and len(value) <= _LONGEST_RETRY:
                retry = int(value)
            case _:
                pass
    return SseEvent(event, b"\n".join(data) if data else None, last_id, retry, tuple(comments))
