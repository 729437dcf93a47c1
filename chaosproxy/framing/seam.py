"""Where a body may be continued by somebody else: what has to stand between the bytes so far and a record of one's own.

Rules: it remembers the last four bytes and what a splitter does; any bytes are taken. Nothing is taken back: a record that
was left unfinished is closed as it stands, so that what follows is read by itself.
Must not know: faults, what the record says.
"""

from typing import Literal

from chaosproxy.framing.choose import splitter_for
from chaosproxy.model.messages import Data

_BLANK_LINE = 4
"""Bytes of the longest end of a line with a blank one behind it: CR LF CR LF."""


class Seam:
    """The end of one body of events or lines, as far as it has come."""

    def __init__(self, kind: Literal["sse", "lines"]) -> None:
        self._blank_line = kind == "sse"
        self._splitter = splitter_for(kind)
        self._tail = b""
        self.records = 0
        """How many have ended so far."""

    def feed(self, payload: bytes) -> None:
        """The body goes on."""
        self.records += len(self._splitter.feed(payload))
        self._tail = (self._tail + payload[-_BLANK_LINE:])[-_BLANK_LINE:]

    def joined(self, record: bytes) -> Data:
        """`record` with what closes the one before it, if that has not ended: a line end, and behind an event a blank
        line. Both are LF, whatever the body's own are: a reader of either kind takes them mixed."""
        payload = self._closing() + record
        ends = self._splitter.feed(payload)
        self.records += len(ends)
        self._tail = record[-_BLANK_LINE:]
        return Data(payload, ends)

    def _closing(self) -> bytes:
        tail = self._tail
        if not tail:
            return b""
        late = b"\n" if tail.endswith(b"\r") else b""  # the LF that may be still to come, and harmless if it is not
        lines = (tail + late).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        wanted = b"\n\n" if self._blank_line else b"\n"
        while not lines.endswith(wanted):
            lines += b"\n"
            late += b"\n"
        return late
