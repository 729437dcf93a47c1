"""What `mutate` does at a byte: others stand in the place of the next ones, and as many.

Must not know: what the bytes mean.
"""

from chaosproxy.chain.actions import FOREVER, Action, Actions, Note, Rest
from chaosproxy.chain.fault import Fault
from chaosproxy.chain.trigger import Trigger
from chaosproxy.framing.choose import splitter_for
from chaosproxy.framing.splitter import Splitter
from chaosproxy.model.messages import Data, Event, RequestHead, ResponseHead


class Overwriting(Fault):
    """Rests up to the byte; awake while others take the place of what comes."""

    looks = True

    def __init__(self, at: Trigger, new: bytes) -> None:
        assert at.bytes is not None
        self._at = at
        self._new = new
        self._next = float(at.bytes)
        """Behind which byte the next ones are overwritten."""
        self._left = b""
        """What has still to take its place."""
        self._passed = 0
        self._fired = 0
        self._records: Splitter | None = None
        self.rest = Rest(bytes=at.bytes)

    def control(self, event: Event, now: float) -> Actions:
        if isinstance(event, ResponseHead | RequestHead) and self.kind is not None:
            self._records = splitter_for(self.kind)
        return (event,)

    def saw(self, data: Data) -> None:
        self._mark(data)
        self._passed += len(data.payload)

    def _mark(self, data: Data) -> None:
        """Where records end, which may be elsewhere from the first change on."""
        if self._records is not None:
            ends = self._records.feed(data.payload)
            if self._fired:
                data.ends = ends

    def reached(self, limit: str, now: float) -> Actions:
        return ()

    def data(self, data: Data, now: float) -> Actions:
        payload, said = bytearray(data.payload), list[Action]()
        place, begin = 0, self._passed
        while place < len(payload):
            if not self._left and self._next > begin + place:
                place = int(min(len(payload), self._next - begin))
                continue
            if not self._left:
                said.append(self._fire(begin + place))
            piece = self._left[: len(payload) - place]
            payload[place : place + len(piece)] = piece
            place, self._left = place + len(piece), self._left[len(piece) :]
        self._passed = begin + len(payload)
        changed = Data(bytes(payload), data.ends, data.whole, data.size)
        self._mark(changed)
        return (*said, changed, *self._resting())

    def _fire(self, place: int) -> Note:
        at = self._at
        self._fired += 1
        self._left = self._new
        last = at.every is None or (at.times is not None and self._fired >= at.times)
        self._next = float("inf") if at.every is None or last else self._next + at.every
        return Note("fired", f"overwrote {len(self._new)} bytes after byte {place}")

    def _resting(self) -> tuple[Action, ...]:
        if self._left or self._next <= self._passed:
            return ()
        return (FOREVER if self._next == float("inf") else Rest(bytes=self._next),)
