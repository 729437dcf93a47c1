"""What stands on one line for a fault that acts on the other.

Must not know: any particular fault.
"""

from typing import TYPE_CHECKING

from chaosproxy.chain.actions import FOREVER, Actions, Floor
from chaosproxy.chain.fault import Fault, FaultSpec
from chaosproxy.model.messages import Data, End, Event, RequestHead
from chaosproxy.model.vocabulary import Moment

if TYPE_CHECKING:
    from chaosproxy.chain.stage import Stage


class Relay(Fault):
    """The place on the request line of a fault of the response way: it tells that fault of the request's head and end.
    What the fault does there is done before the request goes on, or instead."""

    def __init__(self, main: "Stage") -> None:
        self._main = main
        self.telling = False
        """What it tells of has not gone further yet."""
        self.answers = main.fault.answers
        self.rest = None if self.answers else FOREVER

    def data(self, data: Data, now: float) -> Actions:
        return ()  # awake only for a fault that answers by itself

    def control(self, event: Event, now: float) -> Actions:
        main = self._main
        self.telling = True
        if isinstance(event, RequestHead):
            main.hears_request_head(event, now)
            if event.final:
                main.hears_request_end(now)
        elif isinstance(event, End):
            main.hears_request_end(now)
        self.telling = False
        main.line.settle(now)
        if main.fault.answers or (main.closed and not main.ended):
            return ()  # it has ended the exchange; that the answer is over does not end the client's way of a tunnel
        floor = max(main.floor, main.pause)
        return (Floor(floor), event) if floor > now else (event,)


def watches_request(spec: FaultSpec, fault: Fault) -> bool:
    """Whether a fault of the response way must be told of the request."""
    rest, cls = fault.rest, type(fault)
    if rest is not None and (rest.moment in (Moment.REQUEST, Moment.REQUEST_END) or rest.idle != float("inf")):
        return True
    hears = cls.request_head is not Fault.request_head or cls.request_end is not Fault.request_end
    return hears or spec.way == "both"
