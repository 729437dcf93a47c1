"""A fault at its place: it counts what enters, cuts at the exact byte, and carries out what the fault answers.

Rules: the fault neither counts nor cuts. An action is the only thing that can wake a fault or lay it to rest.
Must not know: what the fault does, what stands elsewhere in the line.
"""

import math
from typing import TYPE_CHECKING

from chaosproxy.chain.actions import FOREVER as ALWAYS
from chaosproxy.chain.actions import Action, Actions, At, Cancel, Finish, Floor, Note, PassOn, Reply, Rest, Wake
from chaosproxy.chain.conditions import holds_for_head, needs_head
from chaosproxy.chain.fault import Fault
from chaosproxy.chain.place import Director, Place
from chaosproxy.chain.placed import Placed
from chaosproxy.chain.resolve import breaks_in_chunk
from chaosproxy.errors import FaultBug
from chaosproxy.model.messages import (
    Abort,
    Data,
    End,
    Event,
    Goaway,
    Interim,
    RequestHead,
    ResponseHead,
    Trailers,
    without_length,
)
from chaosproxy.model.places import Moment

if TYPE_CHECKING:
    from chaosproxy.chain.span import Span


class Stage(Place):
    """The place of one fault on one line."""

    __slots__ = ("_initial", "has_control", "request_end", "request_head", "undecided")

    before: "Span | None"

    def __init__(self, index: int, placed: Placed, fault: Fault, director: Director) -> None:
        super().__init__(index, placed, fault, director)
        self.has_control = type(fault).control is not Fault.control
        self.undecided = needs_head(placed.spec.if_)
        """Whether it applies is known at the head; until then it does nothing."""
        self.request_head: tuple[RequestHead, float] | None = None
        self.request_end: float | None = None
        self._initial = fault.rest
        if self.undecided:
            self.rest = ALWAYS

    def make_inert(self) -> None:
        """It does not apply to this exchange."""
        self.inert, self.undecided = True, False
        self.fault.unfired = "if"
        self.rest = ALWAYS

    # ---- body

    def data(self, data: Data, now: float) -> None:
        """A piece of body enters, whole; a limit that lies in it is met at its exact byte."""
        rest_of: Data | None = data
        while rest_of is not None and not self.closed:
            self.last = now
            if self.rest is None:
                piece, rest_of = rest_of, None
                self._count(piece)
                self.act(self._ask("data", piece, now), now)
            else:
                rest_of = self._pass_resting(rest_of, self.rest, now)
        self.drowse(now)

    def _pass_resting(self, data: Data, rest: Rest, now: float) -> Data | None:
        """Pass `data` up to the nearest limit of the rest, and meet it; answers what is left behind the limit."""
        cut, limit = self._limit_in(data, rest)
        if limit is None:
            self._count(data)
            self.emit(data, now)
            return None
        if cut == 0:
            self.reach(limit, now)
            if self.rest is not None and not self.closed and self._limit_in(data, self.rest) == (0, limit):
                raise self._bug(data, f"it rests again until {limit} that have passed already")
            return data
        size = len(data.payload)
        left, right = data.split(cut) if cut < size else (data, None)
        self._count(left)
        self.rest = None
        self.fault.blocked = not self.next.has_room(now)
        actions = self._ask("reached", limit, now)
        if right is not None and any(isinstance(one, Finish) and breaks_in_chunk(one, self) for one in actions):
            left.size = size  # the chunk that the cut falls into keeps the size it announces
        self.emit(left, now)
        self.act(actions, now)
        return right

    def _limit_in(self, data: Data, rest: Rest) -> tuple[int, str | None]:
        """The offset of the nearest limit in `data` and its name; None if there is none."""
        if rest.moment is Moment.BODY:
            return 0, "moment"
        size = len(data.payload)
        cut, limit = size, None
        missing = rest.bytes - self.bytes
        if missing <= size:
            cut, limit = max(0, int(missing)), "bytes"
        wanted = rest.records - self.records
        if wanted <= len(data.ends):
            end = data.ends[int(wanted) - 1] if wanted > 0 else 0
            if limit is None or end < cut:
                cut, limit = end, "records"
        wanted = rest.chunks - self.chunks
        if wanted <= data.whole:
            end = size if wanted > 0 else 0
            if limit is None or end < cut:
                cut, limit = end, "chunks"
        return cut, limit

    def meets_limit(self, data: Data) -> bool:
        """Whether a limit of the rest lies in `data`."""
        return self.rest is not None and self._limit_in(data, self.rest)[1] is not None

    def _count(self, data: Data) -> None:
        self.bytes += len(data.payload)
        self.records += len(data.ends)
        self.chunks += data.whole

    # ---- everything else

    def cares(self, event: Event) -> bool:
        """Whether a control event must be shown to this place though it rests."""
        if self.closed or isinstance(event, Interim | Goaway):
            return False
        head = isinstance(event, ResponseHead | RequestHead)
        if head and (self.undecided or self.placed.spec.edits_body):
            return True
        rest = self.rest
        assert rest is not None
        if not self.inert and (self.has_control or rest.moment is not None or event is self.line.completing):
            return True
        if isinstance(event, RequestHead) and rest.idle != math.inf:
            return True  # its clock starts here
        if isinstance(event, ResponseHead | RequestHead):
            self._see_head(event)
            self.passed_head = True
        return False

    def control(self, event: Event, now: float) -> None:
        """A head, trailers or terminal enters, in its place behind the data before it."""
        if self.closed:
            return
        if isinstance(event, Interim | Goaway):
            self.emit(event, now)  # no fault acts on one
            return
        if isinstance(event, ResponseHead | RequestHead):
            event = self._head(event, now)
        elif isinstance(event, Trailers | End):
            self._body_over(event, now)
        if self.closed:
            return  # it has ended the exchange in front of the event
        if isinstance(event, End | Abort):
            self.ended = True
        self.act((event,) if self.inert else self._ask("control", event, now), now)
        if isinstance(event, ResponseHead | RequestHead):
            self._meet(Moment.HEADERS, now)
        self.drowse(now)

    def _see_head(self, head: ResponseHead | RequestHead) -> None:
        self.head = head
        self.fault.kind = self.line.kind

    def _head(self, head: ResponseHead | RequestHead, now: float) -> ResponseHead | RequestHead:
        if isinstance(head, ResponseHead) and self.placed.spec.edits_body:
            head = without_length(head)
        self._see_head(head)
        if self.undecided:
            self._decide(head, now)
        if isinstance(head, RequestHead):
            self.last = now
            self._meet(Moment.REQUEST, now)
            if head.final and not self.closed:
                self._meet(Moment.REQUEST_END, now)
        return head

    def _decide(self, head: ResponseHead | RequestHead, now: float) -> None:
        """The head tells whether the fault applies. If so it hears, with their times, what it has missed."""
        if not holds_for_head(self.placed.spec.if_, head):
            self.make_inert()
            return
        self.undecided = False
        self.rest = self._initial
        if self.request_head is not None:
            request, then = self.request_head
            self._meet(Moment.REQUEST, now)
            self.act(self._ask("request_head", request, then), now)
        if self.request_end is not None and not self.closed:
            self._meet(Moment.REQUEST_END, now)
            self.act(self._ask("request_end", self.request_end), now)

    def _body_over(self, event: Trailers | End, now: float) -> None:
        """A last line without its line feed is a record too; then `end` has come."""
        if event is self.line.completing:
            self.records += 1
            if self.rest is not None and self.records >= self.rest.records and not self.inert:
                self.reach("records", now)
        if isinstance(event, End):
            self._meet(Moment.REQUEST_END, now)
        self._meet(Moment.END, now)

    def _meet(self, moment: Moment, now: float) -> None:
        """`moment` has come."""
        if self.rest is not None and self.rest.moment is moment and not self.closed and not self.inert:
            self.reach("moment", now)

    def hears_request_head(self, head: RequestHead, now: float) -> None:
        """The request's head passes this fault's place on the other line."""
        self.request_head = (head, now)
        if self.undecided or self.closed:
            return
        self.rouse()
        self._meet(Moment.REQUEST, now)
        self.act(self._ask("request_head", head, now), now)
        self.drowse(now)

    def hears_request_end(self, now: float) -> None:
        """The request is complete at this fault's place on the other line."""
        if self.request_end is not None:
            return
        self.request_end = now
        if self.closed:
            return
        self.rouse()
        self.last = max(self.last, now)
        if not self.undecided:
            self._meet(Moment.REQUEST_END, now)
            self.act(self._ask("request_end", now), now)
        self.drowse(now)

    # ---- what the fault answers

    def _ask(self, handler: str, *arguments: object) -> Actions:
        try:
            answer: Actions = getattr(self.fault, handler)(*arguments)
        except Exception as error:
            raise self._bug(arguments[0], error) from error
        return answer

    def _bug(self, event: object, cause: BaseException | str) -> FaultBug:
        return FaultBug(self.placed.hop, self.placed.spec.name, event, cause)

    def asked_full(self, now: float) -> None:
        self.act(self._ask("full", now), now)

    def hears_hangup(self, now: float) -> bool:
        """The client is gone. Whether the next hop is told now; else this place drains, awake, until it says so."""
        self.told = True
        self.rouse()
        actions = (PassOn(),) if self.inert or self.undecided else self._ask("hangup", now)
        passes = any(isinstance(one, PassOn) for one in actions)
        self.silence()
        if not passes:
            self.rest = None
        self.act(tuple(one for one in actions if not isinstance(one, PassOn)), now)
        if passes:
            self.abandon()
        return passes

    def hears_room(self, now: float) -> None:
        """The output, which was blocked, has room again: the clock that stood still goes on."""
        since, self.stopped = self.stopped, None
        assert since is not None
        self.last = now - max(0.0, since - self.last)
        self.line.dirty = True
        if self.rest is None and not self.closed:
            self.act(self._ask("unblocked", since, now), now)
            self.drowse(now)

    def hears_cue(self, name: str, now: float) -> None:
        """A named input from outside."""
        if not (self.closed or self.inert or self.undecided):
            self.rouse()
            self.act(self._ask("cue", name, now), now)
            self.drowse(now)

    def reach(self, limit: str, now: float) -> None:
        """A limit of the rest is met: the fault is awake unless it answers a new Rest."""
        self.rest = None
        self.fault.blocked = not self.next.has_room(now)
        self.act(self._ask("reached", limit, now), now)

    def act(self, actions: Actions, now: float) -> None:
        """Carry out what the fault has answered, in order."""
        self.line.dirty = True
        for action in actions:
            if isinstance(action, Data):
                self.emit(action, now)
            else:
                self._act_on(action, now)

    def _act_on(self, action: Action, now: float) -> None:
        match action:
            case At(time, event):
                self.emit(event, now, time)
            case Floor(time):
                self.floor = max(self.floor, time)
            case Rest():
                self.rest = action
            case Wake():
                self.rest = None
            case Note(kind, detail):
                self.director.note(self, kind, detail, now)
            case Cancel():
                self.director.cancel(self, now)
            case PassOn():
                self.director.passed_on(self, now)
            case Reply():
                self.director.reply(self, action, now)
            case Finish():
                self.director.finish(self, action, now)
            case _:
                self.emit(action, now)

    # ---- time, rest and waking

    def timer(self, now: float) -> None:
        """Fire what is due; the chain has looked at `timer_due`."""
        rest = self.rest
        self.rouse()
        if rest is None:
            self.fault.blocked = not self.next.has_room(now)
            self.act(self._ask("wake", now), now)
            what = "wake"
        else:
            what = "time" if rest.time <= now else "idle"
            if what == "idle":
                self.last = now  # a further idle limit counts from here
            self.reach(what, now)
        if self.timer_due(now) <= now:
            raise self._bug(now, f"after {what} it is still due at {now}")
        self.drowse(now)

    def rouse(self) -> None:
        """Have a place of its own in the line."""
        if self.span is not None:
            self.span.rouse(self)

    def drowse(self, now: float) -> None:
        """Go back into the span, if the fault rests and holds nothing; a closed place stays in the way, to swallow."""
        if (
            self.rest is not None
            and self.before is not None
            and not self.outbox
            and not self.closed
            and not self.mute
            and self.fault.held == 0
            and self.floor <= now
            and self.line.lazy
        ):
            before, self.before = self.before, None
            before.absorb(self)

    @property
    def idles(self) -> bool:
        """It must be told when its output has room again."""
        if self.closed:
            return False
        if self.rest is None:
            return type(self.fault).unblocked is not Fault.unblocked
        return self.rest.idle != math.inf
