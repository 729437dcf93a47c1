"""The chain of one exchange: its two lines, and what passes between them and beyond a place.

Three facts are never merged: an Abort travels in band; `hangup` (the client is gone) travels from hop to hop towards
the upstream and may be swallowed; `cancelled` says that nobody wants the upstream any more.
"""

from collections.abc import Sequence

from chaosproxy.chain.actions import FOREVER as ALWAYS
from chaosproxy.chain.actions import Actions, Finish, PassOn, Reply, Rest
from chaosproxy.chain.conditions import holds_for_client
from chaosproxy.chain.exit import WINDOW
from chaosproxy.chain.fault import Fault
from chaosproxy.chain.line import Line
from chaosproxy.chain.placed import Noted, Placed
from chaosproxy.chain.resolve import resolve
from chaosproxy.chain.stage import Stage
from chaosproxy.model.messages import Data, End, Event, Goaway, RequestHead
from chaosproxy.model.places import Moment, Way

__all__ = ["Chain", "Noted", "Placed"]


class Anchor(Fault):
    """Where a fault of the request way enters the response line: it passes everything, and answers leave from here."""

    rest = ALWAYS


class Relay(Fault):
    """The place on the request line of a fault that acts on the response: it tells it of the request's head and end."""

    def __init__(self, chain: "Chain", main: Stage) -> None:
        self._chain = chain
        self._main = main
        self._answers = main.fault.answers
        self.rest = None if self._answers else ALWAYS

    def data(self, data: Data, now: float) -> Actions:
        return ()

    def control(self, event: Event, now: float) -> Actions:
        if isinstance(event, RequestHead):
            self._chain.request_passes(self._main, event, now)
        elif isinstance(event, End):
            self._chain.request_ends(self._main, now)
        return () if self._answers or self._main.told or self._main.closed else (event,)


class Chain:
    """Built from the faults in the order a response travels, upstream first."""

    def __init__(self, placed: Sequence[Placed], *, began: float, window: int = WINDOW, lazy: bool = True) -> None:
        self.notes: list[Noted] = []
        self.cancelled = False
        """Nobody wants the upstream any more: it is not dialled, or it is told."""
        self.cancel_cause = ""
        self.end_cause: str | None = None
        """The fault that ended the exchange for the client, where one did."""
        self.began = began
        self._fired: set[int] = set()
        self._ended_requests: set[int] = set()
        self._responses: list[Stage] = []
        requests: list[Stage] = []
        for index, one in enumerate(placed):
            fault = one.spec.start(one.context)
            applies = holds_for_client(one.spec.if_, one.context)
            on_request = one.spec.way is Way.REQUEST
            stage = Stage(index, one, Anchor() if on_request else fault, self)
            self._responses.append(stage)
            acting = Stage(index, one, fault, self) if on_request else stage
            if not applies:
                acting.make_inert()
            if on_request:
                requests.insert(0, acting)
            elif applies and _watches_request(fault):
                requests.insert(0, Stage(index, one, Relay(self, stage), self))
        self._acting = {
            stage.index: stage for stage in [*self._responses, *requests] if not isinstance(stage.fault, Anchor | Relay)
        }
        self.request = Line(Way.REQUEST, requests, window=window, lazy=lazy)
        self.response = Line(Way.RESPONSE, self._responses, window=window, lazy=lazy)

    # ---- the driver's side

    def start(self, now: float) -> None:
        """The exchange begins; the request's head is pushed next."""
        for stage in [*self.request.stages, *self._responses]:
            stage.last = self.began
        self.request._plan()  # noqa: SLF001 - one engine in three files
        self.response._plan()  # noqa: SLF001 - one engine in three files

    @property
    def due(self) -> float:
        """When `wake` is wanted next, at the earliest; infinite if never."""
        return min(self.request.due, self.response.due)

    def wake(self, now: float) -> None:
        """Do all that is due at `now`, on both ways."""
        if self.request.due <= now:
            self.request.wake(now)
        if self.response.due <= now:
            self.response.wake(now)

    @property
    def serves_half_close(self) -> bool:
        """A FIN alone is not leaving."""
        return any(stage.fault.serves_half_close and not stage.inert for stage in self._responses)

    def hangup(self, now: float, cause: str) -> None:
        """The client is gone: each hop is told, from the client's side on, until one swallows it."""
        self.cancel_cause = self.cancel_cause or cause
        self.response.clear()
        self._tell(len(self._responses), now)
        self.response._plan()  # noqa: SLF001 - one engine in three files

    def cue(self, name: str, now: float) -> None:
        """A named input from outside, to every fault."""
        for stage in self._acting.values():
            stage.rouse()
            stage.act(stage.fault.cue(name, now), now)
            stage.drowse(now)

    def close(self, now: float) -> None:
        """The exchange is over: note every fault that never acted, and why."""
        for index, stage in sorted(self._acting.items()):
            if index in self._fired:
                continue
            self._note(stage, "not_fired", self._why_not(stage), now)

    def _why_not(self, stage: Stage) -> str:
        if stage.fault.unfired:
            return stage.fault.unfired
        if stage.placed.spec.reads_records and stage.head is not None:
            if stage.line.coded:
                return "coded body"
            if stage.line.records is None:
                return "no records"
        return "not reached"

    # ---- the places' side

    def note(self, stage: Stage, kind: str, detail: str, now: float) -> None:
        """What a fault has to say for the journal."""
        if kind == "fired":
            self._fired.add(stage.index)
            self._note(stage, kind, detail, now)
        else:
            stage.fault.unfired = detail

    def _note(self, stage: Stage, kind: str, detail: str, now: float) -> None:
        placed = stage.placed
        self.notes.append(Noted(now, placed.spec.name, placed.hop, placed.hop_name, kind, detail))

    def request_passes(self, main: Stage, head: RequestHead, now: float) -> None:
        """The request's head passes the place of a fault of the response way."""
        main.rouse()
        if main.rest is not None and main.rest.moment is Moment.REQUEST:
            main.reach("moment", now)
        main.act(main.fault.request_head(head, now), now)
        main.drowse(now)
        if head.final:
            self.request_ends(main, now)
        self.response._plan()  # noqa: SLF001 - one engine in three files

    def request_ends(self, main: Stage, now: float) -> None:
        """The request is complete at that place; with its head, where no body follows."""
        if main.index in self._ended_requests or main.closed:
            return
        self._ended_requests.add(main.index)
        main.rouse()
        main.last = max(main.last, now)
        if main.rest is not None and main.rest.moment is Moment.REQUEST_END:
            main.reach("moment", now)
        main.act(main.fault.request_end(now), now)
        main.drowse(now)
        self.response._plan()  # noqa: SLF001 - one engine in three files

    def finish(self, stage: Stage, finish: Finish, now: float) -> None:
        """A fault ends the exchange, in the first way that is possible at its place now."""
        out = self._responses[stage.index]
        out.rouse()
        ending = resolve(finish, out)
        if isinstance(ending, Goaway):
            out.emit(ending, now)
            out.drowse(now)
            return
        self.end_cause = finish.cause
        stage.closed = out.closed = True
        if isinstance(ending, Reply):
            self._answer(out, ending, now)
        else:
            for event in ending:
                out.emit(event, now)
        if not finish.keep_upstream:
            self._leave(stage, finish.cause, now)

    def reply(self, stage: Stage, reply: Reply, now: float) -> None:
        """A fault answers by itself: the answer travels on from its place."""
        out = self._responses[stage.index]
        out.rouse()
        self.end_cause = stage.placed.spec.name
        stage.closed = out.closed = True
        self._answer(out, reply, now)
        self._leave(stage, stage.placed.spec.name, now)

    @staticmethod
    def _answer(out: Stage, reply: Reply, now: float) -> None:
        out.emit(reply.head, now)
        if reply.body and not reply.head.final:
            out.emit(Data(reply.body), now)
        out.emit(End(), now)

    def cancel(self, stage: Stage, cause: str, now: float) -> None:
        """A fault no longer wants the upstream; what it has emitted still flows."""
        self._responses[stage.index].closed = stage.closed = True
        self._leave(stage, cause, now)

    def passed_on(self, stage: Stage, now: float) -> None:
        """A fault that had swallowed the hangup, or delayed it, tells the next hop after all."""
        self._abandon(stage)
        self._tell(stage.index, now)

    def _leave(self, stage: Stage, cause: str, now: float) -> None:
        """For every hop nearer the upstream this ending is its client leaving."""
        self.cancel_cause = self.cancel_cause or cause
        stage.told = self._responses[stage.index].told = True
        self._tell(stage.index, now)

    def _tell(self, index: int, now: float) -> None:
        for stage in reversed(self._responses[:index]):
            if stage.told:
                return  # it knows: it has passed it on, or swallowed it
            stage.told = True
            stage.rouse()
            actions = (PassOn(),) if stage.inert else stage.fault.hangup(now)
            passes = any(isinstance(one, PassOn) for one in actions)
            if not passes:
                stage.mute = True
                stage.rest = None  # it has something to wait for: awake, unless it answers a Rest
                stage.outbox.clear()
                stage.out_bytes = 0
                stage.act(actions, now)
                return
            stage.act(tuple(one for one in actions if not isinstance(one, PassOn)), now)
            self._abandon(stage)
        self.cancelled = True

    @staticmethod
    def _abandon(stage: Stage) -> None:
        stage.closed = stage.mute = True
        stage.outbox.clear()
        stage.out_bytes = 0


def _watches_request(fault: Fault) -> bool:
    rest: Rest | None = fault.rest
    moment = rest is not None and rest.moment in (Moment.REQUEST, Moment.REQUEST_END)
    cls = type(fault)
    return moment or cls.request_head is not Fault.request_head or cls.request_end is not Fault.request_end
