"""The chain of one exchange: its two lines, and what passes between them and beyond a place.

Three facts are never merged: an Abort travels in band; `hangup` (the client is gone) travels from hop to hop towards
the upstream and may be swallowed; `cancelled` says that nobody wants the upstream any more.
Must not know: sessions, sockets, which faults exist.
"""

from collections.abc import Callable, Sequence

from chaosproxy.chain.actions import Again, Finish, Reply
from chaosproxy.chain.conditions import holds_for_client
from chaosproxy.chain.exit import WINDOW, Exit
from chaosproxy.chain.fault import Fault, Neutral
from chaosproxy.chain.leaving import NONE, Leaving
from chaosproxy.chain.line import Line
from chaosproxy.chain.place import Place
from chaosproxy.chain.placed import Noted, Placed
from chaosproxy.chain.relay import Relay, watches_request
from chaosproxy.chain.resolve import chosen, events_of, made, overtaking, survives
from chaosproxy.chain.stage import Stage
from chaosproxy.chain.tape import Tape
from chaosproxy.errors import FaultBug
from chaosproxy.model.messages import End, Event, Interim
from chaosproxy.model.vocabulary import Way


class Chain(Leaving):
    """Built from the faults in the order a response travels, upstream first."""

    __slots__ = (
        "_fired", "_own_ends", "alarm", "asks_again", "began", "last_words", "notes", "silent",
    )  # fmt: skip

    def __init__(self, placed: Sequence[Placed], *, began: float, window: int = WINDOW, lazy: bool = True) -> None:
        """`began`: when the request's first byte came. `lazy`: see `Line`."""
        super().__init__()
        self.notes: list[Noted] = []
        """Append-only; the driver drains it."""
        self.last_words = False
        """A fault of the request way has ended it: what it let pass of the request still goes to the upstream, first."""
        self.silent: str | None = None
        """The cause of a silence that is not the last word: machines nearer the client live on, and may act on it."""
        self.began = began
        self.alarm: Callable[[float], None] | None = None
        """Called when another exchange has rung a fault of this one: it wants to be woken then."""
        self.asks_again: Again | None = None
        """The upstream is to be asked once more: a note tells of it, and it is for the driver to do."""
        self._fired = NONE
        self._own_ends: list[tuple[End, str]] = []
        requests: list[Stage] = []
        for index, one in enumerate(placed):
            requests[:0] = self._seat(index, one)
        keeps = any(one.spec.asks_again for one in placed)
        self.request = Line(Way.REQUEST, requests, Tape(window) if keeps else Exit(window), lazy=lazy)
        self.response = Line(Way.RESPONSE, self._responses, Exit(window), lazy=lazy)

    def _seat(self, index: int, placed: Placed) -> list[Stage]:
        """Give a fault its place on the response line; answers what it needs on the request line."""
        spec = placed.spec
        try:
            fault = spec.start(placed.context)
        except Exception as error:
            raise FaultBug(placed.hop, spec.name, placed.context, error) from error
        on_request = spec.way is Way.REQUEST
        response = Stage(index, placed, Neutral() if on_request else fault, self)  # what is answered leaves from here
        acting = Stage(index, placed, fault, self) if on_request else response
        if on_request:
            response.undecided = False
        if type(fault).over is not Fault.over:
            response.tells_end, self._unended = True, self._unended | {index}
        if placed.context.shared is not None:
            fault.bell = acting.rung
        if not holds_for_client(spec.if_, placed.context) or (fault.answers and acting.undecided):
            acting.make_inert()  # who answers instead of the upstream cannot wait for what the upstream says
        self._responses.append(response)
        self._acting.append(acting)
        if on_request:
            return [acting]
        if not acting.inert and watches_request(spec, fault):
            relay = Stage(index, placed, Relay(response), self)
            relay.undecided = False  # it tells whatever the answer's head will decide; the fault listens later
            return [relay]
        response.last = self.began  # nobody will tell it of the request's end: silence counts from the beginning
        return []

    # ---- the driver's side

    def start(self, now: float) -> None:
        """The exchange begins; the request's head is pushed next."""
        self.request.start(now)
        self.response.start(now)

    @property
    def due(self) -> float:
        """When `wake` is wanted next, at the earliest; infinite if never."""
        return min(self.request.rings, self.response.rings)

    def wake(self, now: float) -> None:
        """Do all that is due at `now`, on both ways."""
        if self.request.due <= now:
            self.request.wake(now)
        if self.response.due <= now:
            self.response.wake(now)
        self.catch_up(now)

    @property
    def serves_half_close(self) -> bool:
        """A FIN alone is not leaving, says the place nearest the client that has an opinion."""
        return any(stage.fault.serves_half_close and not stage.inert for stage in self._responses)

    @property
    def narrow(self) -> int:
        """See `Fault.narrow`: that of the first fault which is awake and has room of its own."""
        faults = (stage.fault for stage in self._responses if not stage.inert)
        waits = (fault for fault in faults if fault.capacity and fault.rest is None)
        return next(waits, Neutral()).narrow

    @property
    def end_cause(self) -> str | None:
        """The fault whose End has come through; None: it is the upstream's."""
        terminal = self.response.exit.terminal
        return next((cause for end, cause in self._own_ends if end is terminal), None)

    def cue(self, name: str, now: float) -> None:
        """A named input from outside, to every fault."""
        self.wake(now)
        for stage in self._acting:
            stage.hears_cue(name, now)
        self.settle(now)

    def close(self, now: float) -> None:
        """The exchange is over: note every fault that never acted, and why."""
        self.alarm = None
        self.request.catch_up(now)
        self.response.catch_up(now)
        for stage in self._acting:
            self.over(stage, now)
            stage.fault.bell = None
            for time, detail in stage.fault.deeds:
                self.note(stage, "fired", detail, time)
            if stage.index not in self._fired:
                self._note(stage, "not_fired", self._why_not(stage), now)

    def _why_not(self, stage: Stage) -> str:
        if stage.fault.unfired:
            return stage.fault.unfired
        if stage.placed.spec.needs_records and stage.head is not None:
            if stage.line.coded:
                return "coded body"
            if stage.line.records is None:
                return "no records"
        return "not reached"

    # ---- the places' side

    @property
    def has_heads(self) -> bool:
        """HTTP passes here, not the raw bytes of a connection."""
        return self.request.has_head

    def rung(self, now: float) -> None:
        """A fault here wants to be woken: in a turn of this exchange's own."""
        if self.alarm is not None:
            self.alarm(now)

    def note(self, place: Place, kind: str, detail: str, now: float) -> None:
        """What a fault has to say for the journal."""
        if kind == "fired":
            self._fired |= {place.index}
            self._note(place, kind, detail, now)
        else:
            place.fault.unfired = detail

    def _note(self, place: Place, kind: str, detail: str, now: float) -> None:
        placed = place.placed
        self.notes.append(Noted(now, placed.spec.name, placed.hop, placed.hop_name, kind, detail))

    def finish(self, place: Place, finish: Finish, now: float) -> None:
        """A fault ends the exchange, in the first way that is possible at its place now."""
        out = self._responses[place.index]
        if out.line is not place.line:
            out.line.catch_up(now)
        if out.sealed or out.mute:
            return  # it is over here already
        out.rouse()  # what it has let go is counted now
        ending = chosen(finish, out)
        self.note(place, "fired", finish.detail if finish.upstream else f"{ending} {finish.detail}".rstrip(), now)
        result = made(ending, finish.cause, out)
        if finish.overtakes and isinstance(result, tuple):
            result = tuple(map(overtaking, result))
        if survives(ending, out):
            self._let_go(out, result if isinstance(result, tuple) else (), now)
            self._settle_across(place, now)
            return
        if ending.kind == "silence" and self._lives_on(out):
            result, self.silent = (), finish.cause  # an Abort would tell them of it, and stop their clocks
        place.closed = True
        self.upstream_endings = finish.upstream or self.upstream_endings  # who has told it first, has
        self.last_words = place.placed.spec.way is Way.REQUEST
        self._let_go(out, events_of(result) if isinstance(result, Reply) else result, now, finish.cause)
        if finish.upstream is None and (self._request_has_passed(place) or not self.has_heads):
            place.told = out.told = True
        else:
            self.leave(place, finish.cause, now)
        self._settle_across(place, now)

    def _settle_across(self, place: Place, now: float) -> None:
        """What a fault of the request way has let go on the other line moves on there, and has its times."""
        if place.line is self.request:
            self.response.settle(now)

    def _lives_on(self, out: Stage) -> bool:
        """A machine nearer the client than this place is still at work. (Below HTTP there are none.)"""
        return self.has_heads and any(not (stage.inert or stage.closed) for stage in self._acting[out.index + 1 :])

    def reply(self, place: Place, reply: Reply, now: float) -> None:
        """A fault answers by itself: the answer travels on from its place."""
        out = self._responses[place.index]
        cause = place.placed.spec.name
        if out.line is not place.line:
            out.line.catch_up(now)
        if out.passed_head or out.sealed or out.mute:
            self.note(place, "not_fired", "head sent", now)
            place.closed = (
                place.closed or out.line is not place.line
            )  # of the request nothing goes further all the same
            return
        place.closed = True
        self._let_go(out, events_of(reply), now, cause)
        self.leave(place, cause, now)
        self._settle_across(place, now)

    def tell_client(self, place: Place, interim: Interim, now: float) -> None:
        """A fault of the request way answers something before the answer."""
        out = self._responses[place.index]
        out.line.catch_up(now)
        if not (out.passed_head or out.sealed or out.mute):
            self._let_go(out, (interim,), now)
            self._settle_across(place, now)

    def again(self, place: Place, again: Again, now: float) -> None:
        """A fault wants the upstream to be asked once more."""
        exit_ = self.request.exit
        if self.cancelled:
            return
        if not isinstance(exit_, Tape) or not exit_.holds_all():
            self.note(place, "not_fired", "request too long", now)
            place.act(again.instead, now)
            return
        self.note(place, "fired", again.detail, now)
        self.asks_again, place.ended = again, False
        self.response.begin_again()
        place.hears_again(now)

    def ask_again(self) -> None:
        """The driver's side: the request stands at its exit once more."""
        assert isinstance(self.request.exit, Tape)
        self.asks_again = None
        self.request.exit.wind_back()

    def _let_go(self, out: Stage, events: tuple[Event, ...], now: float, cause: str = "") -> None:
        """Emit at a place of the response line, whose fault may stand on the other one."""
        out.rouse()
        for event in events:
            if isinstance(event, End):
                self._own_ends.append((event, cause))
            out.emit(event, now)
        if cause:
            out.closed = True
        out.line.dirty = True

    def cancel(self, place: Place, now: float) -> None:
        """A fault no longer wants the upstream; what it has emitted still flows."""
        place.closed = self._responses[place.index].closed = True
        self.leave(place, place.placed.spec.name, now)
