"""gRPC messages: where they end, and what one holds (gRPC over HTTP/2, "Length-Prefixed-Message").

A message is one byte of flags, four of length and as many bytes; each is a record, empty ones too. In gRPC-Web the flag
0x80 marks the trailers that close the body: traffic, not a record. A message that the body's end cuts off is none.
Must not know: HTTP, protobuf, compression.
"""

_PREFIX = 5
_TRAILERS = 0x80


class GrpcSplitter:
    """Finds the messages of a gRPC body; with `every_frame` the trailers of gRPC-Web too."""

    __slots__ = ("_every_frame", "_left", "_prefix", "_silent", "pending")

    def __init__(self, *, every_frame: bool = False) -> None:
        self.pending = False  # never: the end of the body completes no message
        self._every_frame = every_frame
        self._prefix = b""  # the beginning of an unfinished prefix, at most four bytes
        self._left = 0  # bytes to come of the message; 0 = the next byte is of a prefix
        self._silent = False  # what is being read is no record

    def feed(self, payload: bytes) -> tuple[int, ...]:
        """Offsets in `payload` just behind each message that ends inside it, ascending."""
        size = len(payload)
        ends: list[int] = []
        at = 0
        while at < size:
            if not self._left:
                missing = _PREFIX - len(self._prefix)
                self._prefix += payload[at : at + missing]
                if len(self._prefix) < _PREFIX:
                    break
                at += missing
                self._silent = self._prefix[0] >= _TRAILERS and not self._every_frame
                self._left = int.from_bytes(self._prefix[1:], "big")
                self._prefix = b""
            step = min(self._left, size - at)
            at += step
            self._left -= step
            if not self._left and not self._silent:
                ends.append(at)
        return tuple(ends)


def is_trailers(raw: bytes) -> bool:
    """Whether a frame holds the trailers of gRPC-Web instead of a message."""
    return raw[:1] >= b"\x80"


def message(raw: bytes) -> bytes | None:
    """The message of a record, still compressed if its flag says so; None if there is no whole one."""
    if len(raw) < _PREFIX or is_trailers(raw):
        return None
    stop = _PREFIX + int.from_bytes(raw[1:_PREFIX], "big")
    return raw[_PREFIX:stop] if len(raw) >= stop else None
