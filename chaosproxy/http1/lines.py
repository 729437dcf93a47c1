"""A block of CRLF lines up to an empty one: a head, or the trailers of a chunked body.

Rules: bytes are judged strictly in their order and the first violation wins, so that the verdict and its reason do not
depend on how the bytes were cut into reads; every violation is seen with the byte that makes it, never later, so that
no wrong line can make us wait. Bare CR, bare LF and folded lines are refused.
Must not know: what the lines mean, which peer sent them.
"""

from collections.abc import Callable

from chaosproxy.errors import Error

LARGEST_HEAD = 64 * 1024
"""Bytes of a head, or of trailers. Our own limits, for no library's is independent of the cut."""
LONGEST_LINE = 16 * 1024
"""Bytes of a request line."""
MOST_FIELDS = 200

_OTHERS = {
    0x16: ", as TLS does, where plain HTTP is expected",  # a hello (RFC 8446 section 5.1)
    0x15: ", as TLS does, where plain HTTP is expected",  # an alert, to whoever sent no hello
    0x00: ", as HTTP/2 does, where HTTP/1.1 is expected",  # a frame (RFC 9113 section 4.1)
}
"""What begins with these bytes."""


class Malformed(Error):
    """What a peer sent breaks the protocol. `status` is what a client is told; the text is the rule, for a person."""

    def __init__(self, detail: str, status: int = 400) -> None:
        super().__init__(detail)
        self.detail, self.status = detail, status


class LineBlock:
    """Takes lines until the empty one. `feed` it whatever comes; `lines` are complete once it answers bytes."""

    __slots__ = ("_check_first", "_partial", "_scanned", "_size", "_skip", "_what", "lines")

    def __init__(self, what: str, *, skip: int = 0, check_first: Callable[[bytes], None] | None = None) -> None:
        """`what` names the block in a message. `skip` empty lines may stand before it. `check_first` may raise
        Malformed as soon as the first line is complete; with it the first line has its own limit (a request line)."""
        self.lines: list[bytes] = []
        self._what, self._skip, self._check_first = what, skip, check_first
        self._partial = b""
        self._scanned = 0
        self._size = 0

    def forget(self) -> None:
        """What came has been read, and is not wanted any more."""
        self.lines = []

    @property
    def untouched(self) -> bool:
        """Not a byte of the block itself has come (skipped empty lines do not count)."""
        return not self.lines and not self._partial.strip(b"\r\n")

    def feed(self, data: bytes) -> bytes | None:
        """None while the block goes on, else the bytes behind its empty line. Malformed as the grammar says."""
        if self._partial:
            data = self._partial + data
        start = 0
        while True:
            end = self._end_of_line(data, start)
            if end < 0:
                self._partial = data[start:]
                self._scanned = max(0, len(self._partial) - 1)
                return None
            self._scanned = 0
            line = data[start:end]
            start = end + 2
            if line:
                self._take(line)
            elif self.lines or not self._check_first:
                self._partial = b""
                return data[start:]
            elif self._skip > 0:  # RFC 9112 section 2.2: an empty line or two before a request line
                self._skip -= 1
            else:
                raise Malformed(f"an empty line where the {self._what} should begin")

    def _end_of_line(self, data: bytes, start: int) -> int:
        """Where the CRLF of the line at `start` begins, or -1. Only its first CR or LF counts: that keeps the verdict
        independent of the cut."""
        scan = start + self._scanned
        feed = data.find(b"\n", scan)
        carriage = data.find(b"\r", scan, feed if feed >= 0 else len(data))
        end = carriage if carriage >= 0 else feed
        length = (end if end >= 0 else len(data)) - start
        if length and not self._scanned:
            self._check_opening(data[start])
        if self._check_first is not None and not self.lines and length > LONGEST_LINE:
            raise Malformed(f"request line above {LONGEST_LINE} bytes", 414)
        if self._size + length > LARGEST_HEAD:
            raise Malformed(f"{self._what} above {LARGEST_HEAD} bytes", 431)
        if end < 0:
            return -1
        if carriage < 0:  # RFC 9112 section 2.2: a bare LF may be taken for a line's end; we do not
            raise Malformed(f"bare LF in the {self._what}")
        if carriage + 1 == len(data):
            return -1
        if data[carriage + 1] != 0x0A:  # RFC 9112 section 2.2
            raise Malformed(f"bare CR in the {self._what}")
        return end

    def _check_opening(self, byte: int) -> None:
        """The first byte of a line. RFC 9112 section 5.2 lets us refuse a fold, and joining one has been a smuggler's
        tool; what does not begin in visible ASCII (a TLS hello) need not be waited for."""
        if byte in b" \t":
            raise Malformed(f"folded line in the {self._what}" if self.lines else f"blank before the {self._what}")
        if self._check_first is not None and not self.lines and not 0x21 <= byte <= 0x7E:
            raise Malformed(f"no {self._what}: it begins with the byte 0x{byte:02x}{_OTHERS.get(byte, '')}")

    def _take(self, line: bytes) -> None:
        first = not self.lines
        self._size += len(line) + 2
        self.lines.append(line)
        if first and self._check_first is not None:
            self._check_first(line)
        elif len(self.lines) - (self._check_first is not None) > MOST_FIELDS:
            raise Malformed(f"more than {MOST_FIELDS} fields in the {self._what}", 431)
