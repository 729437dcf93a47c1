"""The faults of one connection in layers, their lines in a row: what passes one enters the next.

Rules: a line is given more only while it wants it, so that each holds no more than its room. Must not know: sockets.
"""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

from chaosproxy.chain.chain import Chain
from chaosproxy.chain.line import Line
from chaosproxy.chain.placed import Notes, Placed
from chaosproxy.model.messages import Data, Event
from chaosproxy.model.vocabulary import Peer, Role


class Layers:
    """Nearest the socket first. `role` is ours on the connection, which has begun at `began`."""

    def __init__(self, role: Role, began: float) -> None:
        self._began = began
        self._role = role
        self._chains = [Chain((), began=began)]
        self._entered = {"request": 0, "response": 0}
        self.alarm: Callable[[float], None] | None = None
        """Called when another connection has rung a fault of this one: it wants to be woken then."""

    def add(self, placed: Sequence[Placed], now: float) -> None:
        """Put these faults nearest to whoever speaks here. What has passed before counts: byte N is byte N of the
        connection."""
        chain = Chain(placed, began=self._began)
        for line in (chain.request, chain.response):
            for stage in line.stages:
                stage.bytes = self._entered[line.way]
                stage.last = now  # no head will tell it from when on silence counts
            for stage in line.stages:
                if stage.span is not None:
                    stage.span.plan()
        chain.alarm = self.alarm
        chain.start(now)
        self._chains.append(chain)

    def close(self, now: float) -> None:
        """The connection is no more."""
        for chain in self._chains:
            chain.close(now)

    @property
    def due(self) -> float:
        """When `wake` is wanted; infinite if never."""
        return min((chain.due for chain in self._chains), default=math.inf)

    def wake(self, now: float) -> None:
        """Do all that is due at `now`."""
        for chain in self._chains:
            if chain.due <= now:
                chain.wake(now)

    def take_notes(self, notes: Notes) -> None:
        """Hand over what the faults have said."""
        for chain in self._chains:
            notes.take(chain.notes)

    @property
    def hears(self) -> bool:
        """No machine that the peer's bytes would come to is gone."""
        peer = Peer.CLIENT if self._role is Role.SERVER else Peer.UPSTREAM
        return not any(peer in chain.unheard for chain in self._chains)

    def lines(self, *, outgoing: bool) -> list[Line]:
        """The lines that bytes of one way pass, in their order."""
        response = outgoing == (self._role is Role.SERVER)
        ordered = reversed(self._chains) if outgoing else self._chains
        return [chain.response if response else chain.request for chain in ordered]

    def enter(self, line: Line, data: bytes, now: float) -> None:
        """What one read or write has brought, into the first of its lines."""
        self._entered[line.way] += len(data)
        line.push([Data(data)], now)


def passed(lines: Sequence[Line], now: float) -> list[Event]:
    """Move on whatever can; what has passed the last line."""
    out: list[Event] = []
    while can_move(lines):
        for line, following in pairwise(lines):
            if following.wants():
                _hand_over(line, following, now)
        out += lines[-1].take(now)
    return out


def can_move(lines: Sequence[Line]) -> bool:
    """Something has passed a line and the next one takes it."""
    return bool(lines[-1].waiting) or any(line.waiting and following.wants() for line, following in pairwise(lines))


def _hand_over(line: Line, following: Line, now: float) -> None:
    for event in line.take(now):
        if isinstance(event, Data):
            following.push([event], now)
        else:
            following.push_control(event, now)
