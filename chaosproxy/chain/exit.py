"""The end of a line: what has come through, until the driver takes it.

Its room is in bytes, so that a read admitted piece by piece and one admitted at once are the same.
Must not know: who takes, how it is sent.
"""

import math

from chaosproxy.chain.pieces import Remains
from chaosproxy.model.messages import Abort, Data, End, Event

WINDOW = 64 * 1024


class Exit:
    """The last node of a line."""

    __slots__ = ("_first", "bytes_out", "closed", "events", "records_out", "size", "terminal", "window")

    def __init__(self, window: int = WINDOW) -> None:
        # One list for ever, so that others may look at it. A deque holds 700 bytes when it is empty, as this is nearly always.
        self.events: list[Event] = []
        self._first: Remains | None = None
        """What is left of the first event, where a part of it has been taken."""
        self.window = window
        self.size = 0
        self.bytes_out = 0
        self.records_out = 0
        self.closed = False
        self.terminal: End | Abort | None = None
        """How this way has ended."""

    def has_room(self, now: float) -> bool:
        """Whether a further Data is admitted."""
        return self.size < self.window or self.closed

    make_room = has_room

    def data(self, data: Data, now: float) -> None:
        if not self.closed:
            self.events.append(data)
            self.size += len(data.payload)

    def control(self, event: Event, now: float) -> None:
        if isinstance(event, End | Abort):
            self.terminal = event
            if isinstance(event, Abort) and event.overtakes:
                self.events[:] = [one for one in self.events if not isinstance(one, Data)]
                self._first, self.size = None, 0
        if not self.closed:
            self.events.append(event)

    def close(self, *, keep: bool) -> None:
        """What still comes is discarded; what stands here too, unless it is to be kept."""
        self.closed = True
        if not keep:
            self.events.clear()
            self._first = None
            self.size = 0

    def take(self, room: float = math.inf, *, split: bool = False, most: float = math.inf) -> list[Event]:
        """What stands here, in order, up to `room` body bytes and `most` events. With `split` the last Data is cut to
        fit (an HTTP/2 window); else a Data is given whole while any room is left."""
        events = self.events
        if len(events) == 1 and type(event := events[0]) is Data and self._first is None and self.size <= room and most:
            events.clear()  # as nearly always
            self.bytes_out += self.size
            self.size = 0
            self.records_out += len(event.ends)
            return [event]
        taken: list[Event] = []
        gone = 0
        while gone < len(events) and len(taken) < most:
            event = events[gone]
            if isinstance(event, Data):
                if room <= 0:
                    break
                first = self._first
                size = len(event.payload) if first is None else first.left
                if split and size > room:
                    first = self._first = first or Remains(event)
                    size = int(room)
                    event = first.take(size)
                else:
                    gone += 1
                    if first is not None:
                        event, self._first = first.take(size), None
                room -= size
                self.size -= size
                self.bytes_out += size
                self.records_out += len(event.ends)
            else:
                gone += 1
            taken.append(event)
        del events[:gone]
        return taken
