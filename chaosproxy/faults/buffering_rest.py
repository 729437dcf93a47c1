"""The running `buffer` that holds a rest only: what fits it passes at once, of what is larger the end waits.

Rules: bytes are counted as a server sends them in chunks, with their sizes. Must not know: why it holds.
"""

from chaosproxy.chain.actions import Actions
from chaosproxy.chain.pieces import Remains
from chaosproxy.faults.buffering import RunningBuffer
from chaosproxy.model.messages import Data

EOL = len(b"\r\n")


class RestBuffer(RunningBuffer):
    """A buffer that is read into for each piece anew, unless something waits in it."""

    _filled = 0
    """Bytes in it of what waits, with the framing."""

    def data(self, data: Data, now: float) -> Actions:
        size, length = self._sizes[0], len(data.payload)
        total = self._filled + len(b"%x\r\n" % length) + length + EOL
        rest = min(max(total % size - EOL, 0), length) if total > size else 0
        remains = Remains(data)
        if rest < length:
            self._take(remains.take(length - rest))
        actions = self._release()
        self._filled = 0
        if remains.left:
            self._filled = total % size
            self._take(remains.take(rest))
        return actions

    def _take(self, piece: Data) -> None:
        self._pieces.append(piece)
        self.held += len(piece.payload)
