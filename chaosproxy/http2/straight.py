"""DATA frames past the session: a stream's body where there is nothing to do but to count it, heard and said.

For speed alone, and never the only way: whatever is not as plain as that answers no, nothing has happened then, and the
session sees to it. Rules: made only for a stream that is in its body, asked only until anything else is told of it; what
is counted here is counted as `Receiver` and `Output` do. Must not know: who carries what was counted.
"""

from collections.abc import Sequence
from typing import Self

from chaosproxy.http2.blocks import Blocks
from chaosproxy.http2.core import Core
from chaosproxy.http2.cutter import LARGEST, Cutter
from chaosproxy.http2.frames import HEADER, HEADER_SIZE
from chaosproxy.http2.streams import Stream
from chaosproxy.http2.windows import Window

_header = HEADER.pack


def cut(read: bytes) -> list[tuple[bytes, bytes]]:
    """The frames in `read`, the `Incoming.kind` of each and its payload; none unless they are whole and not empty."""
    found: list[tuple[bytes, bytes]] = []
    at, behind = 0, len(read)
    while at < behind:
        begin = at + HEADER_SIZE
        end = begin + int.from_bytes(read[at : at + 3], "big")
        if not begin < end <= behind or end - begin > LARGEST:
            return []
        found.append((read[at + 3 : begin], read[begin:end]))
        at = end
    return found


class Incoming:
    """What the peer sends on one stream."""

    __slots__ = ("_blocks", "_core", "_cutter", "_window", "kind", "stream", "window")

    def __init__(self, core: Core, cutter: Cutter, blocks: Blocks, window: Window, stream: Stream) -> None:
        self.kind = HEADER.pack(0, 0, stream.wire)[3:]
        """With these octets, behind the length, a plain DATA frame of the stream begins."""
        self.stream = stream.number
        self._core, self._cutter, self._blocks = core, cutter, blocks
        self._window, self.window = window, stream.window

    def take(self, read: bytes) -> int:
        """Where the payload begins in `read`, which is one frame of this `kind`, if it is not empty, stands where a frame
        may, is within the windows (section 6.9.1), and is no cause to credit the connection: then it is counted. Else 0."""
        size = len(read) - HEADER_SIZE
        window, own = self._window, self.window
        left, owed = window.left - size, window.owed + size
        if (
            owed >= left
            or not 0 < size <= own.left
            or size > LARGEST
            or self._cutter.size
            or self._blocks.stream
            or self._core.signals
        ):
            return 0
        window.left, window.owed = left, owed
        own.left -= size
        self._core.useful = True
        return HEADER_SIZE

    def take_all(self, of: Sequence[tuple[Self, Sequence[bytes]]], size: int) -> bool:
        """The same for a read of `size` bytes that is frames of this and of other streams of the connection, `of` which
        these are the payloads. False: nothing has been counted."""
        window, total = self._window, 0
        if window.owed + size >= window.left - size or self._cutter.size or self._blocks.stream or self._core.signals:
            return False
        for one, _ in of:
            if size > one.window.left:
                return False
        for one, payloads in of:
            taken = sum(map(len, payloads))
            one.window.left -= taken
            total += taken
        window.left -= total
        window.owed += total
        self._core.useful = True
        return True


class Outgoing:
    """What we send on one stream; only where `Output` writes by hand."""

    __slots__ = ("_core", "_flow", "_h2", "_output", "_wire")

    def __init__(self, core: Core, wire: int) -> None:
        self._core, self._output, self._wire = core, core.output, wire
        self._h2, self._flow = core.output.windows(wire)

    def frame(self, payload: bytes) -> bytes:
        """`payload` as a frame to be written now, counted; b"" if it does not fit one, or the windows, or has to wait."""
        h2, flow, output, size = self._h2, self._flow, self._output, len(payload)
        left, own = h2.outbound_flow_control_window - size, flow.outbound_flow_control_window - size
        if left < 0 or own < 0 or size > h2.max_outbound_frame_size or output.size or output.muted:
            return b""
        h2.outbound_flow_control_window, flow.outbound_flow_control_window = left, own
        self._core.useful = True
        return _header(size << 8, 0, self._wire) + payload
