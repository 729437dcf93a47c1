"""A fault of one's own that wants the upstream to be asked once more."""

from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.chain.actions import FOREVER, Again
from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Fault, FaultSpec
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import Cut
from chaosproxy.model.messages import End, RequestHead, ResponseHead
from chaosproxy.model.vocabulary import Framing, Moment

BUSY = ResponseHead(503, framing=Framing.LENGTH, final=True)
GOOD = [(2.0, b"data: 1\n\n"), (3.0, End())]


@dataclass(frozen=True, slots=True, kw_only=True)
class Own(FaultSpec):
    name: ClassVar[str] = "own"
    asks_again: ClassVar[bool] = True
    make: type[Fault]

    def start(self, context):
        return self.make()


class Persistent(Fault):
    """Asks until the answer is a good one."""

    rest = FOREVER

    def control(self, event, now):
        busy = isinstance(event, ResponseHead) and event.status == 503
        return (Again("busy", (event,)),) if busy else (event,)


class Insistent(Fault):
    """Lets the head go, and asks all the same."""

    rest = FOREVER

    def control(self, event, now):
        return (event, Again("never enough", ())) if isinstance(event, ResponseHead) else (event,)


def test_it_needs_to_do_nothing_of_its_own_when_that_happens(play):
    played = play([Own(make=Persistent)], [(1.0, BUSY), *GOOD])
    assert [time for time, event in played.request if isinstance(event, RequestHead)] == [0.0, 1.0]
    assert (played.head[1].status, played.data, played.fired) == (200, b"data: 1\n\n", [(1.0, "own", "busy")])


def test_for_a_client_that_what_it_has_let_go_has_sent_away_nobody_is_asked(play):
    away = Cut(at=Trigger(moment=Moment.HEADERS), then=(Ending("rst"),))
    played = play([[Own(make=Insistent)], [away]], GOOD)
    assert (played.asked_again, played.cancelled_at, played.end[0]) == ([], 2.0, 2.0)
    assert played.fired == [(2.0, "cut", "rst at headers")]
