"""`bandwidth`: the line is thin: bytes come no faster than it carries them.

Imitates a phone at the edge of its cell, a shaped link (`tc tbf`, tc-tbf(8)), a hop that paces its clients. The bytes of
a burst trickle out in pieces of a packet's size, each when its last byte would have been sent. The times are those of a
token bucket, computed from where the line last ran dry, so that no rounding and no late timer ever adds up.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Final

from chaosproxy.chain.actions import Action, Actions, At
from chaosproxy.chain.fault import Context, Fault, FaultSpec, register
from chaosproxy.chain.pieces import Remains
from chaosproxy.model.messages import Data
from chaosproxy.model.units import Rate, Size, show_rate
from chaosproxy.model.vocabulary import Way

PACKET: Final = 1460
"""What one TCP segment carries over Ethernet: 1500 bytes without the headers of IPv4 and TCP."""
TURN: Final = 0.005
"""Seconds: on a fat line a piece is what it carries in this time, else timers would be all that the proxy does."""
ROOM: Final = 64 * 1024


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Bandwidth(FaultSpec):
    """Lets body bytes pass at a rate, in pieces."""

    name: ClassVar[str] = "bandwidth"
    main: ClassVar[str | None] = "rate"
    on_connections: ClassVar[bool] = True
    ways: ClassVar[frozenset[Way]] = frozenset(Way)

    rate: Rate
    """Body bytes per second; under `connections:` all bytes. What does not fit leaves in pieces of at most 1460 bytes, or
    of what the line carries in 5 ms where that is more. Up to 64KiB wait for their turn; then the sender has to."""
    burst: Size = 0
    """Bytes that may leave at once after a silence; they come back at the same rate. Default 0."""

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        if self.rate <= 0:
            return [(("rate",), "a line that carries nothing is a stall; at least 1/s")]
        return []

    def start(self, context: Context) -> Fault:
        return RunningBandwidth(self, context)


class RunningBandwidth(Fault):
    """Awake; heads and ends take no time of their own."""

    capacity = ROOM

    def __init__(self, spec: Bandwidth, context: Context) -> None:
        self._rate = spec.rate * context.speed
        self._burst = spec.burst
        self._piece = max(PACKET, int(self._rate * TURN))
        self._since = -math.inf
        self._sent = 0
        """The line has been busy since then, and has sent so many bytes when what it has been given is through."""
        self._detail = show_rate(spec.rate)

    def data(self, data: Data, now: float) -> Actions:
        if self._ready < now - self._burst / self._rate:
            self._since, self._sent = now - self._burst / self._rate, 0
        actions: list[Action] = []
        remains = Remains(data)
        while remains.left:
            piece = remains.take(self._together(now))
            self._sent += len(piece.payload)
            ready = self._ready
            if ready <= now:
                actions.append(piece)
                continue
            actions += (*self.once(self._detail), At(ready, piece))
        return tuple(actions)

    @property
    def _ready(self) -> float:
        """When the last byte given so far has been sent, if the bucket were empty."""
        return self._since + self._sent / self._rate

    def _together(self, now: float) -> int:
        """How many bytes leave together: a packet's, or what the burst has left for now if that is more."""
        left = int((now - self._since) * self._rate + 1e-6) - self._sent
        return max(self._piece, left)
