"""Keeps what was read until it is whole frames, whatever the reads were: one frame in many reads, many frames in one.

Rules: a length is judged when its header is seen, before anything of the frame is kept (RFC 9113 section 4.2); a frame
that comes in single bytes is put together once, not once a byte. Must not know: what a frame means.
"""

from chaosproxy.http2.frames import HEADER, HEADER_SIZE, PREFACE, SMALLEST_MAX_FRAME
from chaosproxy.http2.mistakes import ConnectionFault
from chaosproxy.model.codes import FRAME_SIZE_ERROR, PROTOCOL_ERROR

HTTP1 = b"HTTP/1."
LARGEST = SMALLEST_MAX_FRAME
"""Payload bytes of a frame that we take: our SETTINGS allow no more, unless a fault would have it."""


class Cutter:
    """Whoever cuts takes whole frames from the front of what `add` gives, and hands the rest to `keep`. `preface`: the
    client's preface comes first (section 3.4)."""

    __slots__ = ("_pieces", "_preface", "_wanted", "largest", "size")

    _wanted: int
    """While something is kept: how much there has to be before it is looked at again."""

    def __init__(self, *, preface: bool) -> None:
        self.largest = LARGEST
        self._preface = PREFACE if preface else b""
        self._pieces: list[bytes] = []
        self.size = 0
        """Bytes that are kept."""

    @property
    def inside(self) -> bool:
        """A frame, or the preface, has begun and not ended."""
        return self.size > 0 or 0 < len(self._preface) < len(PREFACE)

    def add(self, data: bytes) -> bytes:
        """What has come and was not cut, from the beginning of a frame on; empty while what is kept is less than is
        wanted. ConnectionFault for a wrong preface."""
        if self._preface:
            data = self._skip_preface(data)
        if not self.size:
            return data
        self._pieces.append(data)
        self.size += len(data)
        if self.size < self._wanted:
            return b""
        buffer = b"".join(self._pieces)
        self._pieces.clear()
        self.size = 0
        return buffer

    def keep(self, rest: bytes) -> None:
        """The beginning of a frame, or nothing, is left of what `add` gave. ConnectionFault if it will be too long."""
        self._wanted = HEADER_SIZE
        if len(rest) >= HEADER_SIZE:
            size = HEADER.unpack_from(rest)[0] >> 8
            self._wanted += size
            if size > self.largest:  # RFC 9113 section 4.2
                if rest.startswith(HTTP1):  # the answer to our preface of a peer that speaks no HTTP/2
                    raise ConnectionFault(PROTOCOL_ERROR, "what came is HTTP/1, not HTTP/2; is it an http:// upstream?")
                raise ConnectionFault(FRAME_SIZE_ERROR, f"frame of {size} bytes, {self.largest} allowed")
        if rest:
            self._pieces.append(rest)
            self.size = len(rest)

    def forget(self) -> None:
        """Nothing further comes."""
        self._pieces.clear()
        self.size = 0

    def _skip_preface(self, data: bytes) -> bytes:
        here = min(len(self._preface), len(data))
        if data[:here] != self._preface[:here]:  # RFC 9113 section 3.4
            raise ConnectionFault(PROTOCOL_ERROR, "no HTTP/2 preface")
        self._preface = self._preface[here:]
        return data[here:]
