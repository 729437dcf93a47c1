"""The straight lane: body that goes from the upstream's read to the client's write while everything between is at rest.

It is for what a stream is most of the time, and exists for speed alone: a process that sleeps between events pays for
every function and object that it has to fetch again. What is not at rest goes the long way, by the line's exit.
Must not know: what the long way does, the upstream's connection.
"""

from collections.abc import Sequence

from chaosproxy.chain.line import Line
from chaosproxy.model.messages import Data
from chaosproxy.proxy.client_side import ClientSide
from chaosproxy.proxy.observer import Observer
from chaosproxy.proxy.together import Together


class Lane:
    """One exchange's."""

    __slots__ = ("_line", "client", "observer")

    def __init__(self, line: Line, client: ClientSide, observer: Observer) -> None:
        self.client = client
        self._line = line
        self.observer = observer

    def carry(self, piece: Data, now: float, room: float) -> bool:
        """A piece goes into the line. Whether it has gone on to the client, which has `room` for so many bytes."""
        line = self._line
        if not line.pass_through(piece, now, room):
            return False
        self.observer.passed(piece, now)
        self.client.write(piece, line.exit.records_out)
        return True

    def carry_all(self, pieces: Sequence[Data], now: float, together: Together | None) -> int:
        """All pieces of a read go into the line. How many of them, the first, have gone on to the client."""
        line, client = self._line, self.client
        room, passed = client.room, 0
        for piece in pieces:
            if not line.pass_through(piece, now, room):
                break
            self.observer.passed(piece, now)
            room -= len(piece.payload)
            passed += 1
        if passed:
            client.send(pieces[:passed], line.exit.records_out, together)
        if len(pieces) > passed + 1:
            line.push(pieces[passed + 1 :], now)  # the one before is in the line already
        return passed
