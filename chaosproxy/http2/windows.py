"""Flow control of what we receive: when the peer is credited, and with how much (RFC 9113 section 5.2).

Rules: pure counting, no frames. Two credits at two moments. The connection is credited on receipt, so that one stream
that nobody reads cannot starve its siblings. A stream is credited when its bytes were admitted further on, so that
backpressure reaches the peer; padding is credited at once, nobody further on ever sees it. Credit is given in lumps: when
what we owe is at least what the peer still has. So with nothing held back the peer never has less than half a window,
and with much held back it still gets its lump of a few KiB as soon as that much has been admitted.
Must not know: streams, frames, who admits.
"""

STREAM_WINDOW = 65_535
"""The protocol's own default: what a plain peer expects, effective from the first frame with no settings race, and small
enough that a slow reader is felt by the sender."""
CONNECTION_WINDOW = 1024 * 1024
"""Credited on receipt, so it bounds bytes in flight and not memory; 65,535 would throttle a hundred streams together."""
LUMP = 4096


class Window:
    """What a peer may still send on one stream, or on the connection, and what we owe it."""

    __slots__ = ("left", "owed", "size")

    def __init__(self, size: int) -> None:
        self.size = size
        self.left = size
        self.owed = 0

    def take(self, nbytes: int) -> bool:
        """The peer has sent `nbytes`, padding included. False if it was not allowed to (section 6.9.1)."""
        self.left -= nbytes
        return self.left >= 0

    def give(self, nbytes: int) -> int:
        """`nbytes` of what was taken are free again. Returns the increment to send now, 0 = not yet."""
        owed = self.owed + nbytes
        if owed >= self.left and owed >= min(self.size // 4, LUMP) and owed:
            self.owed = 0
            self.left += owed
            return owed
        self.owed = owed
        return 0

    def resize(self, change: int) -> None:
        """Our setting of the initial window has come into force (section 6.9.2); `left` may become negative."""
        self.size += change
        self.left += change
