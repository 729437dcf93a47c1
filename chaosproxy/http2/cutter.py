"""Cuts what was read into whole frames, whatever the reads were: one frame in many reads, many frames in one.

Rules: a length is judged when its header is seen, before anything of the frame is kept (RFC 9113 section 4.2); a frame
that comes in single bytes is put together once, not once a byte. Must not know: what a frame means.
"""

from collections.abc import Iterator

from chaosproxy.http2.codes import FRAME_SIZE_ERROR, PROTOCOL_ERROR, ConnectionFault
from chaosproxy.http2.frames import HEADER, HEADER_SIZE, PREFACE, SMALLEST_MAX_FRAME, STREAM_MASK

HTTP1 = b"HTTP/1."
RawFrame = tuple[int, int, int, bytes]
"""Kind, flags, stream, payload. A plain tuple: one is made per frame, and a dataclass costs as much as the rest."""


class Cutter:
    """Bytes in, whole frames out. `preface`: the client's preface comes first (section 3.4)."""

    __slots__ = ("_largest", "_pieces", "_preface", "_size", "_wanted")

    def __init__(self, *, preface: bool, largest: int = SMALLEST_MAX_FRAME) -> None:
        self._largest = largest
        self._preface = PREFACE if preface else b""
        self._pieces: list[bytes] = []
        self._size = 0
        self._wanted = 1

    @property
    def inside(self) -> bool:
        """A frame, or the preface, has begun and not ended."""
        return self._size > 0 or 0 < len(self._preface) < len(PREFACE)

    def feed(self, data: bytes) -> Iterator[RawFrame]:
        """Every frame that `data` completes. ConnectionFault for a wrong preface or a frame that is too long."""
        if self._preface:
            data = self._skip_preface(data)
        self._pieces.append(data)
        self._size += len(data)
        if self._size < self._wanted:
            return
        buffer = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        self._size = 0
        at, end = 0, len(buffer)
        wanted = HEADER_SIZE
        unpack = HEADER.unpack_from
        while end - at >= HEADER_SIZE:
            high, low, kind, flags, stream = unpack(buffer, at)
            size = high << 8 | low
            if size > self._largest:  # RFC 9113 section 4.2
                if buffer.startswith(HTTP1, at):  # the answer to our preface of a peer that speaks no HTTP/2
                    raise ConnectionFault(PROTOCOL_ERROR, "what came is HTTP/1, not HTTP/2")
                raise ConnectionFault(FRAME_SIZE_ERROR, f"frame of {size} bytes, {self._largest} allowed")
            after = at + HEADER_SIZE + size
            if after > end:
                wanted = HEADER_SIZE + size
                break
            yield kind, flags, stream & STREAM_MASK, buffer[at + HEADER_SIZE : after]
            at = after
        if at < end:
            self._pieces.append(buffer[at:] if at else buffer)
            self._size = end - at
        self._wanted = wanted

    def _skip_preface(self, data: bytes) -> bytes:
        here = min(len(self._preface), len(data))
        if data[:here] != self._preface[:here]:  # RFC 9113 section 3.4
            raise ConnectionFault(PROTOCOL_ERROR, "no HTTP/2 preface")
        self._preface = self._preface[here:]
        return data[here:]
