"""An answer in frames as somebody has asked: DATA cut and padded, a header block in CONTINUATION frames.

Rules: whatever is asked, it is legal HTTP/2, and the windows hold. Must not know: who asks.
"""

from collections.abc import Sequence

from chaosproxy.http2 import frames
from chaosproxy.http2.output import Output
from chaosproxy.model.asked import Asked, FrameSyntax
from chaosproxy.model.messages import Data, Event


def shape_of(asked: Sequence[Asked]) -> FrameSyntax | None:
    """What is asked of an answer's frames."""
    return next((one for one in asked if isinstance(one, FrameSyntax)), None)


def shaped_data(
    output: Output, wire: int, payload: bytes, shape: FrameSyntax, behind: Sequence[Event], *, end: bool
) -> bytes:
    """A piece of body, in as many frames as it takes; what stands `behind` it is written next, and has its room too."""
    left = len(payload) + sum(len(event.payload) for event in behind if isinstance(event, Data))
    most = output.largest - (shape.padding + 1 if shape.padding else 0)
    size = min(shape.data or most, most)
    pieces = [payload[at : at + size] for at in range(0, len(payload), size)] or [payload]
    last = len(pieces) - 1
    written = []
    for number, piece in enumerate(pieces):
        ends = end and number == last
        left -= len(piece)
        if shape.padding:
            written.append(output.padded(wire, piece, shape.padding, left, end=ends))
        else:
            written.append(output.data(wire, piece, end=ends))
    return b"".join(written)


def in_fragments(head: bytes, size: int) -> bytes:
    """A header block that h2 has written, HEADERS and perhaps CONTINUATION, with `size` bytes of it in each frame."""
    block, flags, wire, at = b"", 0, 0, 0
    while at < len(head):
        length_kind, more, wire = frames.HEADER.unpack_from(head, at)
        begin = at + frames.HEADER_SIZE
        at = begin + (length_kind >> 8)
        block += head[begin:at]
        flags |= more & frames.END_STREAM if length_kind & 0xFF == frames.HEADERS else 0
    pieces = [block[begin : begin + size] for begin in range(0, len(block), size)]
    last = len(pieces) - 1
    return b"".join(
        frames.frame(
            frames.CONTINUATION if number else frames.HEADERS,
            (0 if number else flags) | (frames.END_HEADERS if number == last else 0),
            wire,
            piece,
        )
        for number, piece in enumerate(pieces)
    )
