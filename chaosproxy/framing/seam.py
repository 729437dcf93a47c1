"""Where a body may be continued by somebody else: what has to stand between the bytes so far and a record of one's own.

Rules: it remembers the last four bytes and what a splitter does; any bytes are taken. Nothing is taken back: a record that
was left unfinished is closed as it stands, so that what follows is read by itself.
Must not know: faults, what the record says.
"""

from chaosproxy.framing.choose import splitter_for
from chaosproxy.framing.splitter import RecordKind
from chaosproxy.model.messages import Data

_BLANK_LINE = 4
"""Bytes of the longest end of a line with a blank one behind it: CR LF CR LF."""


class Seam:
    """The end of one body, as far as it has come. Only events and lines can be closed."""

    def __init__(self, kind: RecordKind) -> None:
        self._kind = kind
        self._splitter = splitter_for(kind)
        self._frames = splitter_for("grpc", every_unit=True) if kind == "grpc" else None
        self._between = True
        """Of messages: one has ended, and none begun."""
        self._tail = b""
        self.records = 0
        """How many have ended so far."""

    def feed(self, payload: bytes) -> tuple[int, ...]:
        """The body goes on. Answers where records end in `payload`."""
        ends = self._splitter.feed(payload)
        self.records += len(ends)
        self._tail = (self._tail + payload[-_BLANK_LINE:])[-_BLANK_LINE:]
        if self._frames is not None and payload:
            self._between = self._frames.feed(payload)[-1:] == (len(payload),)
        return ends

    @property
    def pending(self) -> bool:
        """The body's end would complete a last line."""
        return self._splitter.pending

    @property
    def between(self) -> bool:
        """Nothing has begun that has not ended: no event with all its fields, no line, no message."""
        return not self._closing()[1] and self._between

    def joined(self, record: bytes) -> Data:
        """`record` with what closes the one before it, if that has not ended: a line end, and behind an event a blank
        line. Both are LF, whatever the body's own are: a reader of either kind takes them mixed."""
        return self.put(b"".join(self._closing()) + record)

    def beside(self, comment: bytes) -> Data:
        """Lines of comment, which may stand inside of an event: only a line that has not ended is closed, and a blank line
        stands behind them where they are not inside of one."""
        if self.between:
            return self.joined(comment + b"\n")
        late, missing = self._closing()
        return self.put(late + missing[: max(0, len(missing) - 1)] + comment)

    def put(self, raw: bytes) -> Data:
        """These bytes as they stand."""
        return Data(raw, self.feed(raw))

    def _closing(self) -> tuple[bytes, bytes]:
        """The LF that may be still to come behind a CR, and harmless if it is not; then what is missing."""
        tail = self._tail
        if not tail or self._kind not in ("sse", "lines"):
            return b"", b""
        late = b"\n" if tail.endswith(b"\r") else b""
        lines = (tail + late).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        wanted = b"\n\n" if self._kind == "sse" else b"\n"
        missing = b""
        while not (lines + missing).endswith(wanted):
            missing += b"\n"
        return late, missing
