"""Reads a body piece by piece into whole units of traffic: each SSE block, line or gRPC message, records or not.

Unlike a splitter it holds: the unit that has not ended, at most 1 MiB of it. A longer one is given up: `too_long` counts
it the moment it outgrows the limit, and its bytes are passed over until it ends.
Rules: the units, joined with `unfinished`, are the input, but for the units given up; the same for any chunking, except
that a LF which comes later than its CR leads the next unit. Must not know: faults, what a unit means (`traffic` does).
"""

from typing import assert_never

from chaosproxy.framing.grpc import GrpcSplitter
from chaosproxy.framing.lines import LineSplitter
from chaosproxy.framing.raw import ChunkSplitter
from chaosproxy.framing.splitter import RecordKind, Splitter
from chaosproxy.framing.sse import SseSplitter

LIMIT = 1024 * 1024


class Blocks:
    """The reader of one body."""

    __slots__ = ("_giving_up", "_held", "_limit", "_splitter", "too_long")

    def __init__(self, kind: RecordKind, limit: int = LIMIT) -> None:
        self.too_long = 0
        """How many units have outgrown the limit, the present one included."""
        self._limit = limit
        self._splitter = every_unit(kind)
        self._held = bytearray()  # one buffer: pieces of a byte each would cost many times their length
        self._giving_up = False

    @property
    def unfinished(self) -> bytes:
        """What is held of the unit that has not ended; empty if it is being given up."""
        return bytes(self._held)

    @property
    def inside(self) -> bool:
        """A unit has begun and not ended."""
        return bool(self._held) or self._giving_up

    @property
    def giving_up(self) -> bool:
        """The unit that has not ended has outgrown the limit."""
        return self._giving_up

    def feed(self, payload: bytes) -> list[bytes]:
        """The units that end in `payload`, whole and in order."""
        units: list[bytes] = []
        start = 0
        for end in self._splitter.feed(payload):
            self._hold(payload[start:end])
            if not self._giving_up:
                units.append(self.unfinished)
            self._held.clear()
            self._giving_up = False
            start = end
        self._hold(payload[start:])
        return units

    def _hold(self, piece: bytes) -> None:
        if self._giving_up:
            return
        if len(self._held) + len(piece) > self._limit:
            self._giving_up = True
            self.too_long += 1
            self._held.clear()
        else:
            self._held += piece


def every_unit(kind: RecordKind) -> Splitter:
    """Finds the end of every unit of traffic, records or not."""
    match kind:
        case "sse":
            return SseSplitter(every_block=True)
        case "lines":
            return LineSplitter(every_line=True)
        case "grpc":
            return GrpcSplitter(every_frame=True)
        case "chunks":
            return ChunkSplitter()
        case _:
            assert_never(kind)
