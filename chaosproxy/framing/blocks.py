"""Reads a body piece by piece into whole units of traffic: each SSE block, line or gRPC message, records or not.

Unlike a splitter it holds: the unit that has not ended, at most 1 MiB of it. A longer one is given up: it is passed over
until it ends, and stands as None where it does.
Rules: the units, joined with `unfinished`, are the input, but for the units given up; the same for any chunking, except
that a LF which comes later than its CR leads the next unit, where not all lines so far have ended in CRLF. Must not know: faults, what a unit means (`traffic` does).
"""

from chaosproxy.framing.choose import splitter_for
from chaosproxy.framing.splitter import RecordKind

LIMIT = 1024 * 1024


class Blocks:
    """The reader of one body."""

    __slots__ = ("_held", "_limit", "_splitter", "giving_up", "too_long")

    def __init__(self, kind: RecordKind, limit: int = LIMIT) -> None:
        self.giving_up = False
        """The unit that has not ended has outgrown the limit."""
        self.too_long = False
        """Some unit has."""
        self._limit = limit
        self._splitter = splitter_for(kind, every_unit=True)
        self._held = bytearray()  # one buffer: pieces of a byte each would cost many times their length

    @property
    def held(self) -> int:
        """Bytes of the unit that has not ended; 0 if it is being given up."""
        return len(self._held)

    @property
    def unfinished(self) -> bytes:
        """These bytes."""
        return bytes(self._held)

    @property
    def last(self) -> bytes:
        """What the end of the body would complete: a line without its line feed; empty where there is none."""
        return self.unfinished if self._splitter.pending else b""

    def feed(self, payload: bytes) -> list[tuple[int, bytes | None]]:
        """Where in `payload` a unit ends, and that unit whole, in order."""
        units: list[tuple[int, bytes | None]] = []
        start = 0
        for end in self._splitter.feed(payload):
            self.go_on(payload[start:end])
            units.append((end, None if self.giving_up else self.unfinished))
            self._held.clear()
            self.giving_up = False
            start = end
        self.go_on(payload[start:])
        return units

    def go_on(self, piece: bytes) -> None:
        """More of the unit, which does not end in it."""
        if self.giving_up:
            return
        self._held += piece
        if len(self._held) > self._limit:
            self.giving_up = self.too_long = True
            self._held.clear()
