"""Mistakes that a chain of resting places invites, found by changing the engine by hand: one test each."""

from dataclasses import dataclass, field, replace
from random import Random
from typing import ClassVar

import pytest

from chaosproxy.chain.actions import FOREVER, Floor, Note, PassOn, Rest
from chaosproxy.chain.chain import Chain
from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Condition, Context, Fault, FaultSpec
from chaosproxy.chain.placed import Placed
from chaosproxy.chain.trigger import Trigger
from chaosproxy.chain.triggered import Triggered
from chaosproxy.errors import FaultBug
from chaosproxy.faults import Buffer, ClientAbort, Cut, Timeout
from chaosproxy.model.messages import Data, End, ResponseHead
from chaosproxy.model.vocabulary import Framing, Way
from chaosproxy.testing.play import GET, POST, SSE, Cue, Upload

TEN = b"0123456789"


def test_a_fault_that_cannot_begin_is_named():
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Broken(FaultSpec):
        name: ClassVar[str] = "broken"

        def start(self, context):
            return {}["no such thing"]

    with pytest.raises(FaultBug, match=r"broken.*no such thing"):
        Chain([Placed(2, "edge", Broken(), Context(Random(0), GET))], began=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec(FaultSpec):
    """Any running fault, for one test."""

    name: ClassVar[str] = "any"
    make: object

    def start(self, context):
        return self.make(self, context)


@dataclass(frozen=True, slots=True, kw_only=True)
class Editing(Spec):
    name: ClassVar[str] = "editing"
    edits_body: ClassVar[bool] = True


class Stopping(Triggered):
    """Nothing leaves for three seconds; room for a hundred bytes."""

    capacity = 100

    def __init__(self, spec, context):
        super().__init__(spec.at, context)

    def fire(self, now):
        return (Floor(now + 3.0),)


class Dropping(Fault):
    """Loses the first piece, then rests for ever."""

    def __init__(self, spec, context):
        pass

    def data(self, data, now):
        return (FOREVER,)


class Either(Fault):
    """Two limits at once, of different kinds."""

    def __init__(self, spec, context):
        self.rest = Rest(records=1, bytes=20)

    def reached(self, limit, now):
        return (Note("fired", limit), FOREVER)


class Neutral(Fault):
    def __init__(self, spec, context):
        self.rest = FOREVER


def stop(**at):
    return Spec(make=Stopping, at=Trigger(**at))


@pytest.mark.parametrize("at", [Trigger(event=6), Trigger(bytes=54), Trigger(chunk=6)], ids=["event", "byte", "chunk"])
def test_a_limit_is_a_distance_and_shrinks_when_the_counters_are_credited(play, at):
    """The alarm of the idle clock rings at 2.0 and settles the span; the cut must still come with the sixth."""
    ticks = [(0.5 * number, b"data: %d\n\n" % number) for number in range(1, 10)]
    played = play([Timeout(idle=2.0), Cut(at=at)], ticks)
    assert played.body == ticks[:6]
    assert played.end[0] == 3.0


def test_a_stall_ahead_has_its_room_though_it_rests_and_holds_nothing_yet(play):
    script = [(float(number), TEN) for number in range(1, 4)]
    assert play([stop(bytes=10)], script, room=0, window=10).admitted == 30


def test_the_latest_of_several_stalls_counts_for_what_already_waits(play):
    played = play([stop(bytes=10, every=10)], [(1.0, TEN), (2.0, TEN), (4.5, b"x"), (9.0, End())])
    assert played.body == [(1.0, TEN), (5.0, TEN), (5.0, b"x")]


def test_a_timer_of_the_body_is_over_when_the_end_waits_behind_a_stall(play):
    """Silence at 3.0 and 4.0 and so on would stall it again and again; the end came in at 3.5."""
    played = play([stop(idle=2.0, every=1.0)], [(1.0, TEN), (3.5, End())])
    assert played.end == (6.0, End())


def test_what_entered_the_place_before_has_not_entered_the_place_behind(play):
    """The piece at 3.0 is lost in between: the clock of the place behind still counts from the request."""
    faults = [Cut(at=Trigger(event=99)), Editing(make=Dropping), Timeout(idle=5.0)]
    assert play(faults, [(3.0, b"data: lost\n\n")]).fired == [(5.0, "timeout", "abort after 5s (idle)")]


@pytest.mark.parametrize(
    ("read", "limit"),
    [(b"data: 1\n\ndata: 2\n\ndata: 3\n\n", "records"), (b"data: 12345678901234567890", "bytes")],
)
def test_of_two_limits_in_one_piece_the_nearer_is_met(play, read, limit):
    assert play([Spec(make=Either)], [(1.0, read)]).fired == [(1.0, "any", limit)]


def test_a_place_that_is_over_does_not_count_as_blocked_for_those_before_it(play):
    """Its client takes nothing, but nothing has to leave any more: the idle clock before it runs on."""
    faults = [Timeout(idle=3.0), Cut(at=Trigger(bytes=10), side="client")]
    played = play(faults, [(1.0, TEN), (2.0, TEN)], room=0, window=10)
    assert (played.cancelled_at, played.cancel_cause) == (5.0, "timeout:idle")


def test_room_that_a_timer_has_made_is_used_at_once(play):
    """Nothing else may happen for a long time: what waits at the entry moves when the buffer lets go."""
    played = play([Buffer(every=2.0, limit=10)], [(1.0, TEN), (1.0, TEN), (1.0, TEN)])
    assert [time for time, _ in played.body] == [3.0, 5.0, 7.0]


def test_a_timer_that_is_due_comes_before_what_arrives_even_if_nobody_rang():
    context = Context(Random(0), GET)
    chain = Chain([Placed(0, None, Cut(at=Trigger(time=2.0), then=(Ending("rst"),)), context)], began=0.0)
    chain.start(0.0)
    chain.response.push_control(SSE, 1.0)
    chain.response.push([Data(b"late")], 5.0)
    assert [type(event).__name__ for event in chain.response.take(5.0)] == ["ResponseHead", "Abort"]


def test_a_request_that_nobody_wants_any_more_is_swallowed_not_kept_waiting():
    context = Context(Random(0), POST)
    chain = Chain([Placed(0, None, Cut(at=Trigger(time=2.0)), context)], began=0.0, window=5)
    chain.start(0.0)
    line = chain.request
    line.push_control(POST, 0.0)
    line.push([Data(TEN)], 1.0)
    line.push([Data(TEN)], 1.5)
    assert not line.wants()
    chain.wake(2.0)
    chain.request.settle(2.0)
    line.push([Data(TEN)], 3.0)
    assert chain.cancelled
    assert line.wants()
    assert line.take_admitted() == 30


@pytest.mark.parametrize("condition", [None, Condition(status=500)])
def test_the_length_goes_when_the_head_passes_a_fault_that_may_edit_whether_or_not_it_acts(play, condition):
    head = ResponseHead(200, ((b"Content-Length", b"10"), (b"X", b"y")), framing=Framing.LENGTH)
    played = play([Editing(make=Neutral, if_=condition)], [(1.0, TEN), (2.0, End())], head=head)
    assert played.head == (1.0, ResponseHead(200, ((b"X", b"y"),), framing=Framing.CHUNKED))
    assert play([Spec(make=Neutral)], [(1.0, TEN), (2.0, End())], head=head).head == (1.0, head)


@pytest.mark.parametrize("way", Way)
def test_the_length_goes_on_the_way_of_the_fault_alone(play, way):
    length = ((b"Content-Length", b"10"),)
    upload = replace(POST, headers=length, framing=Framing.LENGTH)
    answer = ResponseHead(200, length, framing=Framing.LENGTH)
    script = [(1.0, Upload(TEN)), (2.0, Upload(End())), (3.0, TEN), (4.0, End())]
    played = play([Editing(make=Neutral, way=way)], script, request=upload, head=answer)
    chunked = {"headers": (), "framing": Framing.CHUNKED}
    assert played.request[0][1] == (replace(upload, **chunked) if way is Way.REQUEST else upload)
    assert played.head[1] == (answer if way is Way.REQUEST else replace(answer, **chunked))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sometimes(Editing):
    name: ClassVar[str] = "sometimes"

    @property
    def edits(self):
        return False


def test_the_length_stays_where_these_parameters_change_none(play):
    head = ResponseHead(200, ((b"Content-Length", b"10"),), framing=Framing.LENGTH)
    assert play([Sometimes(make=Neutral)], [(1.0, TEN), (2.0, End())], head=head).head == (1.0, head)


def test_two_limits_of_one_fault_at_one_instant_are_both_met(play):
    """At 2.0 the time of the first event is over, which has come, and a second of silence too."""
    script = [(0.0, b"data: a\n\n"), (0.5, b"data: a\n\n"), (1.0, b"data: b\n\n")]
    played = play([Timeout(first_event=2.0, idle=1.0)], script)
    assert played.fired == [(2.0, "timeout", "abort after 1s (idle)")]


# ---- what a fault is told


@dataclass
class Told(Fault):
    """Writes down what it hears of the request."""

    said: list = field(default_factory=list)
    rest = FOREVER

    def request_head(self, head, now):
        self.said.append(("head", now))
        return ()

    def request_end(self, now):
        self.said.append(("end", now))
        return (Note("fired", repr(self.said)),)


@pytest.mark.parametrize(("status", "fired"), [(200, 1), (500, 0)])
def test_a_fault_whose_condition_the_head_decides_hears_then_with_its_time_what_it_missed(play, status, fired):
    spec = Spec(make=lambda spec, context: Told(), if_=Condition(status=status))
    played = play([spec], [(3.0, b"x"), (4.0, End())])
    assert played.fired == [(3.0, "any", "[('head', 0.0), ('end', 0.0)]")][:fired]


class Cued(Fault):
    """Stalls by one name, and lets go of its place by another."""

    rest = FOREVER
    capacity = 100

    def __init__(self, spec, context):
        pass

    def cue(self, name, now):
        match name:
            case "stall":
                return (Note("fired", name), Floor(now + 4.0))
            case "say":
                return (Data(b"!"),)
            case _:
                return ()


def test_cues_reach_every_fault_and_what_they_cause_is_due(play):
    script = [(1.0, TEN), (1.5, Cue("other")), (2.0, Cue("stall")), (3.0, TEN), (3.5, Cue("say")), (9.0, End())]
    played = play([Editing(make=Cued)], script)
    assert played.body == [(1.0, TEN), (6.0, TEN), (6.0, b"!")]
    assert played.fired == [(2.0, "editing", "stall")]


class Leaving(Fault):
    """Ignores that the client left, until it is told to pass it on."""

    rest = FOREVER

    def __init__(self, spec, context):
        pass

    def hangup(self, now):
        return (Note("fired", "waits"),)

    def cue(self, name, now):
        return (PassOn(),)


def test_a_swallowed_hangup_is_passed_on_later_hop_by_hop(play):
    faults = [[ClientAbort(delay=1.0)], [Spec(make=Leaving)]]
    played = play(faults, [(1.0, TEN), (2.0, "hangup"), (3.0, TEN), (4.0, Cue("now"))])
    assert (played.cancelled_at, played.cancel_cause) == (5.0, "client:fin")
    assert played.admitted == 20
