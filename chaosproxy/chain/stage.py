"""What enters a fault's place: it is counted, cut at the exact byte, and shown to the fault.

Rules: the fault neither counts nor cuts; a limit is met at its exact record, byte, chunk or moment.
Must not know: what the fault does, what stands elsewhere in the line.
"""

import math
from typing import TYPE_CHECKING

from chaosproxy.chain.acting import Actor
from chaosproxy.chain.actions import FOREVER, Finish, Rest
from chaosproxy.chain.conditions import holds_for_head, needs_head
from chaosproxy.chain.fault import Fault
from chaosproxy.chain.limits import keep_size, limit_in
from chaosproxy.chain.neighbours import Director
from chaosproxy.chain.pieces import Remains
from chaosproxy.chain.placed import Placed
from chaosproxy.chain.resolve import breaks_in_chunk
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
from chaosproxy.model.vocabulary import Moment

if TYPE_CHECKING:
    from chaosproxy.chain.span import Span


class Stage(Actor):
    """The place of one fault on one line."""

    __slots__ = ("_initial", "request_end", "request_head", "sees", "tells_end")

    before: "Span | None"

    def __init__(self, index: int, placed: Placed, fault: Fault, director: Director) -> None:
        super().__init__(index, placed, fault, director)
        self.sees = () if type(fault).control is Fault.control else fault.sees
        self.tells_end = False
        """Of the way of the response: its fault, on whichever way, hears when the exchange is over."""
        self.undecided = needs_head(placed.spec.if_)
        self.request_head: tuple[RequestHead, float] | None = None
        self.request_end: float | None = None
        self._initial = fault.rest, fault.due
        if self.undecided:
            self.rest, fault.due = FOREVER, math.inf

    def make_inert(self) -> None:
        """It does not apply to this exchange."""
        self.inert, self.undecided = True, False
        self.fault.unfired = "if"
        self.fault.looks, self.fault.due = False, math.inf
        self.rest = FOREVER

    # ---- body

    def data(self, data: Data, now: float) -> None:
        """A piece of body enters, whole; a limit that lies in it is met at its exact byte."""
        self.last = now
        if self.rest is None and not self.closed:
            self._show(data, now)
        elif self.rest is FOREVER and not (self.closed or self.fault.looks):
            self.count(data)
            self.emit(data, now)
        else:
            remains = Remains(data)
            while remains.left and not self.closed:
                if self.rest is None:
                    self._show(remains.take(remains.left), now)
                else:
                    self._pass_resting(remains, self.rest, now)
        self.drowse(now)

    def _show(self, data: Data, now: float) -> None:
        self.count(data)
        actions = self._ask("data", data, now)
        if len(actions) > 2:
            keep_size(actions, self)
        self.act(actions, now)

    def _pass_resting(self, data: Remains, rest: Rest, now: float) -> None:
        """Pass `data` up to the nearest limit of the rest, and meet it."""
        cut, limit = limit_in(data, rest, self)
        if limit is not None and cut == 0:
            self.reach(limit, now)
            if self.rest is not None and not self.closed and limit_in(data, self.rest, self) == (0, limit):
                raise self._bug(data.take(data.left), f"it rests again until {limit} that have passed already")
            return
        size = data.left
        piece = data.take(cut)
        self.count(piece)
        if self.fault.looks:
            self.fault.saw(piece)
        actions = () if limit is None else self._reached(limit, now)
        if data.left and any(isinstance(one, Finish) and breaks_in_chunk(one, self) for one in actions):
            piece.size = size  # the chunk that the cut falls into keeps the size it announces
        self.emit(piece, now)
        # What has just left may have made a fault nearer the client end it all.
        if limit is not None and not self.closed:
            self.act(actions, now)

    def meets_limit(self, data: Data) -> bool:
        """Whether a limit of the rest lies in `data`."""
        return self.rest is not None and limit_in(Remains(data), self.rest, self)[1] is not None

    # ---- everything else

    def cares(self, event: Event) -> bool:
        """Whether a control event must be shown to this place though it rests."""
        head = isinstance(event, ResponseHead | RequestHead)
        if head and (self.undecided or self._edits):
            return True
        if self.tells_end and isinstance(event, End | Abort):
            return True
        rest = self.rest
        assert rest is not None
        if not self.inert and (
            isinstance(event, self.sees) or rest.moment is not None or event is self.line.completing
        ):
            return True
        if head and rest.idle != math.inf:
            return True  # its clock may start here
        if isinstance(event, ResponseHead | RequestHead):
            self._see_head(event)
            self.passed_head = True
        return False

    def control(self, event: Event, now: float) -> None:
        """A head, trailers or terminal enters, in its place behind the data before it."""
        if self.closed:
            return
        if isinstance(event, Interim | Goaway) and (self.undecided or not isinstance(event, self.sees)):
            self.emit(event, now)  # few faults act on what is beside the message; who does names it in `sees`
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
        if self.ended and self.mute and not self.in_tunnel:
            self.closed = True  # drained: there is nobody left to tell
        if self.ended and self.tells_end:
            self.director.over(self, now)
        if isinstance(event, ResponseHead | RequestHead):
            self._meet(Moment.HEADERS, now)
        self.drowse(now)

    @property
    def _edits(self) -> bool:
        """The fault may change the length of what passes here: of its own way."""
        spec = self.placed.spec
        return spec.edits and spec.way is self.line.way

    def _see_head(self, head: ResponseHead | RequestHead) -> None:
        if not self.passed_head:
            self.head = head
        self.fault.kind = self.line.kind

    def _head(self, head: ResponseHead | RequestHead, now: float) -> ResponseHead | RequestHead:
        if self._edits:
            head = without_length(head)
        self._see_head(head)
        if self.undecided:
            self._decide(head, now)
        if isinstance(head, RequestHead) or self.last == -math.inf:
            self.last = now  # the clock of an early answer, which no end of the request has started
        if isinstance(head, RequestHead):
            self._meet(Moment.REQUEST, now)
            if head.final and not self.closed:
                self._meet(Moment.REQUEST_END, now)
        return head

    def _decide(self, head: ResponseHead | RequestHead, now: float) -> None:
        """The head tells whether the fault applies. If so it hears, with their times, what it has missed."""
        condition = self.placed.spec.if_
        assert condition is not None
        if not holds_for_head(condition, head):
            self.make_inert()
            return
        self.undecided = False
        self.rest, self.fault.due = self._initial
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
        self.line.catch_up(now)
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
        self.line.catch_up(now)
        self.request_end = now
        if self.closed:
            return
        self.rouse()
        self.last = max(self.last, now)
        if not self.undecided:
            self._meet(Moment.REQUEST_END, now)
            self.act(self._ask("request_end", now), now)
        self.drowse(now)

    # ---- rest and waking

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
            and not (self.fault.looks or self.away)
            and max(self.floor, self.pause) <= now
            and self.line.lazy
        ):
            before, self.before = self.before, None
            before.absorb(self)
