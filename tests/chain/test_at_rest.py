"""What the driver asks of a line, and what it counts, where nothing is done to a body."""

from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.chain.actions import FOREVER, Note
from chaosproxy.chain.chain import Chain
from chaosproxy.chain.fault import Fault, FaultSpec
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import Cut, Latency, Timeout
from chaosproxy.model.messages import Data, End, ResponseHead
from chaosproxy.model.vocabulary import Framing
from chaosproxy.testing.play import Cue

PLAIN = ResponseHead(200, ((b"content-type", b"text/plain"),), framing=Framing.CHUNKED)


def test_a_body_without_records_has_none(play):
    script = [(1.0, b"data: 1\n\n"), (2.0, b"x"), (3.0, End())]
    for faults in ([], [Cut(at=Trigger(event=1))]):
        played = play(faults, script, head=PLAIN)
        assert (played.records_in, played.records_out, played.bytes_out) == (0, 0, 10)
    assert played.not_fired == [("cut", "no records")]


def test_a_line_is_idle_while_nothing_waits_in_it_and_nothing_is_due(chain_of):
    chain: Chain = chain_of([Timeout(idle=5.0)])
    chain.start(0.0)
    assert chain.response.idle(0.0)
    chain.response.push_control(PLAIN, 1.0)
    assert not chain.response.idle(1.0)  # the head has not been taken
    assert chain.response.take(1.0) == [PLAIN]
    assert chain.response.idle(1.0)
    assert not chain.response.idle(chain.due)


def test_a_line_is_not_idle_while_a_place_is_awake(chain_of):
    chain: Chain = chain_of([Latency(delay=1.0)])
    chain.start(0.0)
    assert not chain.response.idle(0.0)


def test_what_has_been_admitted_is_asked_for_once(chain_of):
    chain: Chain = chain_of([])
    chain.start(0.0)
    line = chain.response
    line.push_control(PLAIN, 0.0)
    assert line.take_admitted() == 0
    assert not line.moved
    line.push([Data(b"12345")], 1.0)
    assert line.moved
    assert (line.take_admitted(), line.moved, line.take_admitted()) == (5, False, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared(FaultSpec):
    """Is woken by name, as if by a fault of another exchange."""

    name: ClassVar[str] = "shared"

    def start(self, context):
        return RunningShared()


class RunningShared(Fault):
    rest = FOREVER

    def cue(self, name, now):
        self.ring(now)
        return ()

    def wake(self, now):
        self.due = float("inf")
        return (Note("fired", "woken"),)


def test_who_is_rung_by_another_exchange_is_woken_at_once(play):
    assert play([Shared()], [(1.5, Cue("now"))]).fired == [(1.5, "shared", "woken")]


def test_so_is_one_that_rests_among_others(chain_of):
    chain: Chain = chain_of([Timeout(total=50.0), Shared(), Timeout(total=60.0)])
    rung: list[float] = []
    chain.alarm = rung.append
    chain.start(0.0)
    assert chain.due == 50.0
    stage = chain.response.stages[1]
    stage.fault.bell = stage.rung  # as where exchanges share something
    stage.fault.ring(1.5)
    assert (chain.due, rung) == (1.5, [1.5])
    chain.wake(1.5)
    assert [(note.fault, note.detail) for note in chain.notes] == [("shared", "woken")]
