"""The running `stall`: the queue is the chain's; what is said meanwhile leaves ahead of it.

Must not know: when to speak (`beats.py`), what is said (`keep_alives.py`).
"""

from typing import TYPE_CHECKING

from chaosproxy.chain.actions import Action, Actions, Ahead, Floor, Note, Pause
from chaosproxy.chain.fault import Context
from chaosproxy.chain.reading import Found, Reading
from chaosproxy.chain.scope import Together
from chaosproxy.chain.triggered import Triggered
from chaosproxy.faults.beats import Beats, Between
from chaosproxy.faults.keep_alives import keep_alive
from chaosproxy.model.messages import Data
from chaosproxy.model.units import lasting

if TYPE_CHECKING:
    from chaosproxy.faults.stall import Stall


class RunningStall(Triggered):
    """Rests until the place, and from there on too."""

    def __init__(self, spec: "Stall", context: Context) -> None:
        at = spec.trigger
        super().__init__(at, context)
        self._room = spec.capacity
        self.capacity = 0 if at.reads_content else spec.capacity
        self._for = spec.for_ / context.speed
        self._by_clock = at.time is not None or at.idle is not None
        self._request = context.request
        self._until = context.began
        self._between = Between(at)
        self._beats: Beats | None = None
        if spec.meanwhile is not None:
            [(self._what, every)] = spec.meanwhile.given
            self._beats = Beats(every / context.speed)
            self.looks = self._between.must_look
        self._how_long = lasting(spec.for_)

    def saw(self, data: Data) -> None:
        self._between.saw(data, self.kind)

    def fire(self, now: float) -> Actions:
        """At a time everything that is still here waits; at a place only what is behind it."""
        begin, detail = max(now, self._until), f"{self._how_long} {self._place}"
        goes_on = self._by_clock and begin > now
        self._until = max(self._until, (now if self._by_clock else begin) + self._for)
        if self._beats is not None:
            if keep_alive(self._what, self.kind, self._request) is None:
                detail += f", silent: no {self._what} can be said here"
            elif not self._between.records(stalled=goes_on):
                detail += ", silent: in the middle of a record"
            else:
                self._beats.add(begin, self._until, extends=goes_on)
                self.due = self._beats.due
        return (Note("fired", detail), Floor(self._until) if self._by_clock else Pause(self._until))

    def _carry_out(self, reading: Reading, found: Found, now: float) -> list[Action]:
        """Who reads is awake all the time: it has room only while it stalls, and the record it is reading needs none."""
        actions = super()._carry_out(reading, found, now)
        self.capacity = self._room + self.held if now < self._until else 0
        return actions

    def wake(self, now: float) -> Actions:
        assert self._beats is not None
        said = keep_alive(self._what, self.kind, self._request)
        assert said is not None
        self._beats.beaten(now)
        self.due = self._beats.due
        return (Ahead(said),)


class StallTogether(Together, RunningStall):
    """Several at one moment."""
