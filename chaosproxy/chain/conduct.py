"""The faults of one HTTP/2 session in a row: what the session is about to do passes each of them, the first first.

What they do of themselves passes those behind them too. Rules: their notes go where those of the connection's other faults
go; how the connection is to end is kept until it is rung for, behind what was said. Must not know: frames, sockets.
"""

import math
from collections.abc import Callable, Sequence

from chaosproxy.chain.actions import Note
from chaosproxy.chain.placed import Noted, Notes, Placed
from chaosproxy.chain.session_fault import Part, Parting, SessionActs, SessionFault
from chaosproxy.model.conduct import Act


class Conduct:
    """What one session does otherwise."""

    def __init__(self, placed: Sequence[Placed], notes: Notes) -> None:
        self._faults: list[tuple[Placed, SessionFault]] = [(one, one.spec.conduct(one.context)) for one in placed]
        self._notes = notes
        self._silent = {id(one): one for one in placed}
        """Those that have not acted."""
        self.settings = {code: value for _, fault in self._faults for code, value in fault.settings.items()}
        self.parting: tuple[str, Parting] | None = None
        """How the connection is to be left, and for which fault, as soon as what was said is written."""
        self.on_due: Callable[[float], None] | None = None
        """Called with the time at which `wake` is wanted."""

    @property
    def due(self) -> float:
        """When `wake` is wanted; infinite: never."""
        return min((fault.due for _, fault in self._faults), default=math.inf)

    def begin(self, now: float) -> list[Act]:
        """The connection has begun."""
        return self._of_all(lambda fault: fault.begin(now), now)

    def does(self, act: Act, now: float) -> list[Act]:
        """What is done where `act` was about to be."""
        acts = self._through([act], 0, now)
        self.plan(now)
        return acts

    def wake(self, now: float) -> list[Act]:
        """All that is due at `now`."""
        return self._of_all(lambda fault: fault.wake(now) if fault.due <= now else (), now)

    def unfired(self, now: float) -> list[Noted]:
        """Of those that have not acted, that they have not."""
        return [
            Noted(now, one.spec.name, one.hop, one.hop_name, "not_fired", "not reached")
            for one in self._silent.values()
        ]

    def _of_all(self, asked: Callable[[SessionFault], SessionActs], now: float) -> list[Act]:
        acts: list[Act] = []
        for number, (placed, fault) in enumerate(self._faults):
            acts += self._through(self._taken(placed, asked(fault), now), number + 1, now)
        self.plan(now)
        return acts

    def _through(self, acts: list[Act], first: int, now: float) -> list[Act]:
        for placed, fault in self._faults[first:]:
            acts = [done for act in acts for done in self._taken(placed, fault.does(act, now), now)]
        return acts

    def _taken(self, placed: Placed, answered: SessionActs, now: float) -> list[Act]:
        acts: list[Act] = []
        for one in answered:
            if isinstance(one, Note):
                noted = Noted(now, placed.spec.name, placed.hop, placed.hop_name, one.kind, one.detail)
                self._notes.take([noted])
                self._silent.pop(id(placed), None)
            elif isinstance(one, Part):
                if one.how != "keep":
                    self.parting = self.parting or (placed.spec.name, one.how)
            else:
                acts.append(one)
        return acts

    def plan(self, now: float) -> None:
        """Say when `wake` is wanted."""
        if self.on_due is not None and (due := now if self.parting else self.due) < math.inf:
            self.on_due(due)
