"""The faults of one connection in layers, their lines in a row: what passes one enters the next.

Rules: a line is given more only while it wants it, so that each holds no more than its room. Must not know: sockets.
"""

from collections.abc import Sequence
from itertools import pairwise

from chaosproxy.chain.chain import Chain
from chaosproxy.chain.line import Line
from chaosproxy.model.messages import Data, Event
from chaosproxy.model.places import Peer, Role


def lines_of(layers: Sequence[Chain], role: Role, *, outgoing: bool) -> list[Line]:
    """The lines that bytes of one way pass, in their order; `role` is ours on the connection."""
    response = outgoing == (role is Role.SERVER)
    ordered = reversed(layers) if outgoing else layers
    return [chain.response if response else chain.request for chain in ordered]


def heard(layers: Sequence[Chain], role: Role) -> bool:
    """No machine that the peer's bytes would come to is gone."""
    peer = Peer.CLIENT if role is Role.SERVER else Peer.UPSTREAM
    return not any(peer in chain.unheard for chain in layers)


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
    return lines[-1].waiting or any(line.waiting and following.wants() for line, following in pairwise(lines))


def _hand_over(line: Line, following: Line, now: float) -> None:
    for event in line.take(now):
        if isinstance(event, Data):
            following.push([event], now)
        else:
            following.push_control(event, now)
