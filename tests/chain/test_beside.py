"""What is beside the message, an Interim or a Goaway: it keeps its place in the stream, and only a fault that names it in
`sees`, and applies, has a say in it."""

from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.chain.actions import At
from chaosproxy.chain.fault import Condition, Fault, FaultSpec
from chaosproxy.faults import Latency
from chaosproxy.model.messages import Data, End, Goaway, Interim
from chaosproxy.testing.play import SSE

HINT, LAST_CALL = Interim(103), Goaway(0, 7)
SCRIPT = [(0.0, HINT), (0.5, SSE), (1.0, b"data: 1\n\n"), (2.0, LAST_CALL), (3.0, End())]


@dataclass(frozen=True, slots=True, kw_only=True)
class Later(FaultSpec):
    """Awake, and lets everything go 10 s later that it is shown."""

    name: ClassVar[str] = "later"
    sees: tuple[type, ...] = Fault.sees

    def start(self, context):
        return RunningLater(self)


class RunningLater(Fault):
    capacity = 1000

    def __init__(self, spec):
        self.sees = spec.sees

    def data(self, data, now):
        return (At(now + 10, data),)

    def control(self, event, now):
        return (At(now + 10, event),)


def times(played):
    return [time for time, event in played.out if isinstance(event, Interim | Data | Goaway | End)]


def test_an_awake_fault_that_does_not_name_it_is_not_asked(play):
    assert times(play([Later()], SCRIPT)) == [0.0, 11.0, 11.0, 13.0]  # the Goaway behind the data in front of it


def test_one_that_names_it_is(play):
    assert times(play([Later(sees=(*Fault.sees, Interim))], SCRIPT)) == [10.0, 11.0, 11.0, 13.0]
    assert times(play([Later(sees=(*Fault.sees, Goaway))], SCRIPT)) == [0.0, 11.0, 12.0, 13.0]


def test_what_does_not_apply_is_not_asked_nor_what_may_not_apply_yet(play):
    everything = (*Fault.sees, Interim, Goaway)
    assert times(play([Later(sees=everything, if_=Condition(protocol="h2"))], SCRIPT)) == [0.0, 1.0, 2.0, 3.0]
    assert times(play([Later(sees=everything, if_=Condition(status=500))], SCRIPT)) == [0.0, 1.0, 2.0, 3.0]
    assert times(play([Later(sees=everything, if_=Condition(status=200))], SCRIPT)) == [0.0, 11.0, 12.0, 13.0]


def test_a_delay_is_of_all_that_comes_that_way(play):
    assert times(play([Latency(delay=2.0)], SCRIPT)) == [2.0, 3.0, 4.0, 5.0]
