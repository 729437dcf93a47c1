"""What a fault is told out of band, and what it answers, carried out at its place; when it fires, rests and wakes.

Rules: an action is the only thing that can wake a fault or lay it to rest. What a fault raises, or a deadline that does
not move, is a bug of that fault and names it. Must not know: what enters (`stage.py`), what the fault does.
"""

import math
from abc import abstractmethod

from chaosproxy.chain.actions import (
    Actions,
    Again,
    Ahead,
    At,
    Cancel,
    Finish,
    Floor,
    Note,
    Other,
    PassOn,
    Pause,
    Reply,
    Rest,
    Vanish,
    Wake,
)
from chaosproxy.chain.place import Place
from chaosproxy.errors import FaultBug
from chaosproxy.model.messages import Data, Interim
from chaosproxy.model.vocabulary import Way


class Actor(Place):
    """A place that does what its fault says."""

    __slots__ = ()

    # ---- what the fault answers

    def _ask(self, handler: str, *arguments: object) -> Actions:
        try:
            answer: Actions = getattr(self.fault, handler)(*arguments)
        except Exception as error:
            raise self._bug(arguments[0], error) from error
        if answer.__class__ is not tuple:  # as `isinstance` would say, without a call for every event
            raise self._bug(arguments[0], f"{handler} answers with a tuple of actions, not with {answer!r}")
        return answer

    def _bug(self, event: object, cause: BaseException | str) -> FaultBug:
        return FaultBug(self.placed.hop, self.placed.spec.name, event, cause)

    def asked_full(self, now: float) -> None:
        self.act(self._ask("full", now), now)

    def reach(self, limit: str, now: float) -> None:
        """A limit of the rest is met: the fault is awake unless it answers a new Rest."""
        self.act(self._reached(limit, now), now)

    def _reached(self, limit: str, now: float) -> Actions:
        self.rest = None
        self.fault.blocked = not self.next.has_room(now)
        self.fault.records = self.records
        return self._ask("reached", limit, now)

    def act(self, actions: Actions, now: float) -> None:
        """Carry out what the fault has answered, in order."""
        self.line.dirty = True
        for action in actions:
            if isinstance(action, Data):
                self.emit(action, now)
            elif isinstance(action, At):
                self.emit(action.event, now, action.time)
            else:
                self._act_on(action, now)

    def _act_on(self, action: Other, now: float) -> None:
        match action:
            case Rest():
                self.rest = action
            case Note(kind, detail):
                self.director.note(self, kind, detail, now)
            case Floor(time):
                self.floor = max(self.floor, time)
            case Pause(time):
                self.pause = max(self.pause, time)
            case Ahead(data):
                self.emit_ahead(data, now)
            case Vanish():
                self.director.vanish(self, action)
            case Wake():
                self.rest = None
            case Cancel():
                self.director.cancel(self, now)
            case PassOn():
                self.director.passed_on(self, action, now)
            case Reply():
                self.director.reply(self, action, now)
            case Finish():
                self.director.finish(self, action, now)
            case Again():
                self.director.again(self, action, now)
            case Interim() if self.line.way is Way.REQUEST:
                self.director.tell_client(self, action, now)
            case _:
                self.emit(action, now)

    # ---- what it is told

    def hears_hangup(self, now: float) -> bool:
        """The client is gone. Whether the next hop is told now; else this place drains, awake, until it says so."""
        self.told = True
        self.rouse()
        actions = (PassOn(),) if self.inert or self.undecided else self._ask("hangup", now)
        passing = next((one for one in actions if isinstance(one, PassOn)), None)
        self.silence()
        if passing is None:
            self.rest = None
            self.closed = self.closed and not self.in_tunnel  # the timer of who passes it on later
        self.act(tuple(one for one in actions if not isinstance(one, PassOn)), now)
        if passing is None:
            return False
        self.director.ends_upstream(self, passing)
        self.abandon()
        return True

    def vanish(self, time: float) -> None:
        """Nothing enters or leaves before `time`."""
        self.rouse()
        self.away, self.floor = max(self.away, time), max(self.floor, time)
        self.line.dirty = True

    def hears_cue(self, name: str, now: float) -> None:
        """A named input from outside."""
        if not (self.closed or self.inert or self.undecided):
            self.rouse()
            self.act(self._ask("cue", name, now), now)
            self.drowse(now)

    def hears_again(self, now: float) -> None:
        self.act(self._ask("again", now), now)

    def hears_over(self, now: float) -> None:
        """The exchange is over here."""
        if not self.inert:
            self.act(self._ask("over", now), now)

    def rung(self, now: float) -> None:
        """The fault wants to be woken now, says one of another exchange."""
        self.clocked = True
        if self.span is not None:
            self.span.due = now
        self.line.due_by(now)
        self.director.rung(now)

    def hears_room(self, now: float) -> None:
        """The output, which was blocked, has room again: the clock that stood still goes on."""
        since, self.stopped = self.stopped, None
        assert since is not None
        if self.span is not None:
            self.span.settle()  # the byte that filled what is behind may have passed uncounted
            self.span.due = -math.inf  # what was found while the clock stood still is not the nearest
        self.last = now - max(0.0, since - self.last)
        if self.rest is None and not self.closed:
            self.act(self._ask("unblocked", since, now), now)
            self.drowse(now)

    # ---- time, rest and waking

    def timer(self, now: float) -> None:
        """Fire what is due, which may be several at one instant; the chain has looked at `timer_due`."""
        self.rouse()
        if self.away:
            self.away = 0.0
            self.last = now  # it has seen no silence: it was not there
            self.line.blocked = True  # what was not let in may have been waiting
            self.director.came_back(self)
        fired: list[str] = []
        while self.timer_due(now) <= now:
            what = self._due_now(now)
            if what in fired:
                raise self._bug(now, f"after {what} it is still due at {now}")
            fired.append(what)
            if what == "wake":
                self.fault.blocked = not self.next.has_room(now)
                self.fault.records = self.records
                self.act(self._ask("wake", now), now)
            else:
                if what == "idle":
                    self.last = now  # a further idle limit counts from here
                self.reach(what, now)
        self.drowse(now)

    def _due_now(self, now: float) -> str:
        if self.rest is None or self.fault.due <= now:
            return "wake"
        return "time" if self.rest.time <= now else "idle"

    @abstractmethod
    def rouse(self) -> None:
        """Have a place of its own in the line."""

    @abstractmethod
    def drowse(self, now: float) -> None:
        """Go back into the span, if the fault rests and holds nothing."""

    @property
    def idles(self) -> bool:
        """It must be told when its output has room again."""
        if self.closed:
            return False
        if self.rest is None:
            return self.hears_of_room
        return self.rest.idle != math.inf
