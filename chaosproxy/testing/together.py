"""Play several exchanges of one proxy at a time, in virtual time, for faults that have something in common.

`play_together([Concurrency(limit=1)], [Asked(answer), Asked(answer, at=0.5)])` answers what came of each, in the order
given. What each upstream answers counts from when it is asked, what each client does from when it asks. An exchange is
over when its answer has ended on both sides, or its client has left and the upstream was told.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random

from chaosproxy.chain.chain import Chain
from chaosproxy.chain.fault import Context
from chaosproxy.model.messages import Abort, End, RequestHead, ResponseHead
from chaosproxy.testing.play import GET, SSE, Faults, Player, Step, placed
from chaosproxy.testing.played import Played


@dataclass(frozen=True, slots=True)
class Asked:
    """One exchange."""

    answer: Sequence[Step]
    """What the upstream says, as in `play`; seconds from when the request's head has come to it."""
    at: float = 0.0
    """When the request's head comes."""
    does: Sequence[Step] = ()
    """What the client does behind it: uploads, leaves; seconds from `at`."""
    request: RequestHead = GET
    head: ResponseHead | None = SSE


class _Exchange:
    """One of them, as far as it has come."""

    def __init__(self, asked: Asked, make: Callable[[], Player]) -> None:
        self._make = make
        self.player: Player | None = None
        """There once it has begun."""
        self.over = False
        self.left = False
        self._begins = asked.at
        self._answer = list(asked.answer)
        self._does = list(asked.does)

    @property
    def next_step(self) -> float:
        """When the script goes on, whether or not the exchange still lives."""
        if self.over:
            return math.inf
        if self.player is None:
            return self._begins
        return min(self._next_done, self._next_said)

    @property
    def _next_done(self) -> float:
        return self._begins + self._does[0][0] if self._does else math.inf

    @property
    def _next_said(self) -> float:
        asked = self.player.played.request if self.player is not None else []
        return asked[0][0] + self._answer[0][0] if asked and self._answer else math.inf

    @property
    def due(self) -> float:
        return self.player.chain.due if self.player is not None and not self.over else math.inf

    def go_on(self) -> None:
        """One step."""
        if self.player is None:
            self.player = self._make()
            self.player.begin()
        else:
            time, source = min((self._next_done, self._does), (self._next_said, self._answer), key=lambda one: one[0])
            _, what = source.pop(0)
            self.left = self.left or (isinstance(what, str) and what.startswith("hangup"))
            self.player.step(time, what)
        self._end_if_over(self.player)

    def ring(self, time: float) -> None:
        """Something is due."""
        assert self.player is not None
        self.player.advance(time)
        self._end_if_over(self.player)

    def _end_if_over(self, player: Player) -> None:
        """Both sides are done with it."""
        chain, played = player.chain, player.played
        answered = any(isinstance(event, End | Abort) for _, event in played.arrived)
        if (self.left or played.end is not None) and (chain.cancelled or answered):
            self.finish()

    def finish(self) -> Played:
        """What came of it."""
        self.player = self.player or self._make()
        if not self.over:
            self.over = True
            self.player.finish()
        return self.player.played


def play_together(
    faults: Faults, exchanges: Sequence[Asked], *, seed: int = 0, until: float = 1e6, lazy: bool = True
) -> list[Played]:
    """What came of each exchange; those that are not over at `until` end then, the first one first."""
    shared: dict[tuple[int, int], object] = {}

    def make(number: int, asked: Asked) -> Player:
        context = Context(Random(0), asked.request, began=asked.at)  # noqa: S311 - repeatable on purpose
        chain = Chain(placed(faults, context, seed + number, shared), began=asked.at, lazy=lazy)
        return Player(chain, asked.request, asked.head, None, math.inf, split=False)

    all_ = [_Exchange(asked, partial(make, number, asked)) for number, asked in enumerate(exchanges)]
    while True:
        ringing = min(all_, key=lambda one: one.due)
        going = min(all_, key=lambda one: one.next_step)
        time = min(ringing.due, going.next_step)
        if time > until or time == math.inf:
            break
        if ringing.due <= time:
            ringing.ring(time)
        else:
            going.go_on()
    return [one.finish() for one in all_]
