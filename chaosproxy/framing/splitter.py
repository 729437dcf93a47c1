"""What finds records in a body: one SSE event, one non-empty NDJSON line, one gRPC message.

Rules: lossless and never holding: a splitter only reports where records end inside the bytes at hand, and the same
places for any chunking. Memory is bounded whatever the input. Must not know: protocols, faults, time.
"""

from typing import Literal, Protocol

RecordKind = Literal["sse", "lines", "grpc", "chunks"]


class Splitter(Protocol):
    """Finds the records of one body, in one direction."""

    pending: bool
    """Bytes of a record have been fed that has not ended yet, and which the body's end would complete (an NDJSON line
    without a line feed). Never for SSE, where an unfinished block is discarded by the standard."""

    def feed(self, payload: bytes) -> tuple[int, ...]:
        """Offsets in `payload` just behind each record that ends inside it."""
        ...
