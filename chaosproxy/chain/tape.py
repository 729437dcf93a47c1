"""The end of a request's line that keeps what was taken, so that the same request can be sent once more.

Only where a fault may ask again, and up to 1 MiB of body. Must not know: who asks again, and why.
"""

import math

from chaosproxy.chain.exit import WINDOW, Exit
from chaosproxy.model.messages import Data, Event

KEPT = 1024 * 1024
"""Bytes of body; of a longer request nothing is kept."""


class Tape(Exit):
    """An exit that can be wound back."""

    __slots__ = ("_kept", "_wanted")

    def __init__(self, window: int = WINDOW) -> None:
        super().__init__(window)
        self._kept: list[Event] | None = []
        self._wanted = False

    def take(self, room: float = math.inf, *, split: bool = False, most: float = math.inf) -> list[Event]:
        taken = super().take(room, split=split, most=most)
        if self._kept is not None:
            self._kept += taken
            if self.bytes_out > KEPT and not self._wanted:
                self._kept = None
        return taken

    def holds_all(self) -> bool:
        """Whether it can be wound back. If so it stays so until it is."""
        self._wanted = self._kept is not None
        return self._wanted

    def wind_back(self) -> None:
        """Everything that was taken stands here again."""
        assert self._kept is not None
        kept, self._kept, self._wanted = self._kept, [], False
        if self._first is not None:  # a part of it was taken, and is among what is kept
            self.events[0], self._first = self._first.take(self._first.left), None
        for event in kept:
            if isinstance(event, Data):
                self.size += len(event.payload)
                self.bytes_out -= len(event.payload)
                self.records_out -= len(event.ends)
        self.events[:0] = kept
