"""The client is gone, or a fault has ended the exchange: who is told, when, and what becomes of what is on its way."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

from chaosproxy.chain.actions import FOREVER, At, Cancel, Note, PassOn
from chaosproxy.chain.chain import Chain
from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Condition, Fault, FaultSpec
from chaosproxy.chain.trigger import Trigger
from chaosproxy.chain.triggered import Triggered
from chaosproxy.faults import Buffer, ClientAbort, Cut, Respond, Timeout
from chaosproxy.model.messages import Abort, Data, End, RequestHead
from chaosproxy.model.vocabulary import Moment, Way
from chaosproxy.testing.play import POST, Cue, Upload

TICKS = [(float(number), b"data: %d\n\n" % number) for number in range(1, 9)]
WHOLE = [*TICKS, (9.0, End())]
LEAVES_AT_3 = [*TICKS[:2], (3.0, "hangup:rst"), *TICKS[3:], (9.0, End())]
IGNORES = [ClientAbort(mode="ignore")]
RST = (Ending("rst"),)


def test_without_faults_the_upstream_is_told_at_once(play):
    played = play([], LEAVES_AT_3)
    assert (played.cancelled_at, played.cancel_cause) == (3.0, "client:rst")
    assert played.data == b"data: 1\n\ndata: 2\n\n"


def test_it_is_told_before_the_answer_has_begun(play):
    assert play([Buffer(bytes=10)], [(0.5, "hangup"), (5.0, b"x")]).cancelled_at == 0.5


def test_each_hop_is_told_and_the_first_that_ignores_it_swallows_it(play):
    hops = [[Buffer(events=2)], IGNORES, [Buffer(events=3)]]
    played = play(hops, LEAVES_AT_3)
    assert played.cancelled_at is None
    assert [fault for time, fault, _ in played.fired if time == 3.0] == [
        "buffer",
        "client_abort",
    ]  # the inner one has not heard of it
    assert played.admitted == played.bytes_in  # the answer is drained to its end


def test_what_stands_nearer_the_client_discards_what_it_holds(play):
    played = play([IGNORES, [Buffer(events=3)]], LEAVES_AT_3)
    assert [(time, fault) for time, fault, _ in played.fired] == [(3.0, "buffer"), (3.0, "client_abort")]
    assert played.out[1:] == []


def test_nobody_is_told_twice(play):
    script = [*TICKS[:2], (2.5, "hangup"), (2.6, "hangup"), (2.7, "hangup")]
    played = play([IGNORES, [ClientAbort()]], script)
    assert [fault for _, fault, _ in played.fired] == ["client_abort", "client_abort"]
    assert played.cancelled_at is None


def test_a_fault_that_does_not_apply_passes_it_on(play):
    assert play([ClientAbort(mode="ignore", if_=Condition(protocol="h2"))], LEAVES_AT_3).cancelled_at == 3.0
    undecided = ClientAbort(mode="ignore", if_=Condition(status=200))
    assert play([undecided], [(0.5, "hangup")]).cancelled_at == 0.5  # whether it applies was not known yet
    assert play([undecided], LEAVES_AT_3).cancelled_at is None


def test_an_ending_is_for_every_hop_nearer_the_upstream_its_client_leaving(play):
    cut = Cut(at=Trigger(event=3), then=RST)
    told = play([[Timeout(idle=50)], [cut]], WHOLE)
    assert (told.cancelled_at, told.cancel_cause) == (3.0, "cut")
    ignored = play([IGNORES, [cut]], WHOLE)
    assert ignored.cancelled_at is None
    assert isinstance(ignored.end[1], Abort)
    assert ignored.admitted == ignored.bytes_in


def test_an_ending_does_not_tell_what_stands_nearer_the_client(play):
    played = play([[Cut(at=Trigger(event=3), then=RST)], IGNORES], WHOLE)
    assert [fault for _, fault, _ in played.fired] == ["cut"]
    assert played.cancelled_at == 3.0


def test_side_client_leaves_the_upstream_running(play):
    played = play([[Timeout(idle=50)], [Cut(at=Trigger(event=3), then=RST, side="client")]], WHOLE)
    assert (played.end[0], played.cancelled_at) == (3.0, None)
    assert played.admitted == played.bytes_in


def test_when_both_the_client_and_a_fault_have_ended_it_the_first_is_the_cause(play):
    hops = [[ClientAbort(delay=5.0)], [Cut(at=Trigger(event=2), then=RST)]]
    played = play(hops, [*TICKS[:2], (3.0, "hangup")])
    assert (played.cancelled_at, played.cancel_cause) == (7.0, "cut")


def test_a_timer_of_a_hop_that_was_left_does_not_fire(play):
    assert [fault for _, fault, _ in play([Timeout(idle=2.0)], [TICKS[0], (2.0, "hangup")]).fired] == []


def test_a_timer_nearer_the_upstream_of_one_that_ignores_does(play):
    played = play([[Timeout(idle=2.0)], IGNORES], [TICKS[0], (2.0, "hangup")])
    assert [(time, fault) for time, fault, _ in played.fired] == [(2.0, "client_abort"), (3.0, "timeout")]
    assert (played.cancelled_at, played.cancel_cause) == (3.0, "client:fin")


# ---- the request, when the client leaves in the middle of it


def test_a_request_that_will_never_be_whole_helps_no_hop_that_ignores(play):
    script = [(1.0, Upload(b"half")), (2.0, "hangup:rst"), (3.0, Upload(b"more"))]
    played = play(IGNORES, script, request=POST)
    assert played.cancelled_at == 2.0
    assert [event for _, event in played.request if isinstance(event, Data)] == [Data(b"half")]


def test_a_request_that_is_whole_goes_on_to_a_hop_that_ignores(play):
    script = [(1.0, Upload(b"all")), (1.0, Upload(End())), (2.0, "hangup"), *TICKS[2:]]
    played = play(IGNORES, script, request=POST)
    assert played.cancelled_at is None
    assert isinstance(played.request[-1][1], End)


def test_at_the_end_of_the_request_its_end_has_not_gone_yet_so_no_hop_can_ignore_the_cut(play):
    hops = [IGNORES, [Cut(at=Trigger(moment=Moment.REQUEST_END), then=RST)]]
    played = play(hops, [(1.0, Upload(b"x")), (2.0, Upload(End()))], request=POST)
    assert played.cancelled_at == 2.0
    assert not any(isinstance(event, End) for _, event in played.request)


def test_a_cut_of_the_request_way_ends_both_and_its_answer_leaves_from_the_same_hop(play):
    hops = [
        IGNORES,
        [Cut(at=Trigger(bytes=3), way=Way.REQUEST, then=(Ending("status", status=413),))],
        [Buffer(bytes=99)],
    ]
    played = play(hops, [(1.0, Upload(b"12345")), (2.0, Upload(End())), (3.0, b"never")], request=POST)
    assert [(time, event.status) for time, event in played.out[:1]] == [(1.0, 413)]
    assert played.end == (1.0, End())
    assert played.end_cause == "cut"
    assert played.cancelled_at == 1.0


def test_a_request_with_a_slow_upstream_is_dropped_when_the_client_leaves(play):
    hops = [[Buffer(bytes=100, way=Way.REQUEST)]]
    played = play(hops, [(1.0, Upload(b"12345")), (2.0, "hangup")], request=POST)
    assert [event for _, event in played.request] == [POST]
    assert played.cancelled_at == 2.0


# ---- faults of one's own


@dataclass(frozen=True, slots=True, kw_only=True)
class Bored(FaultSpec):
    """No longer wants the upstream after some bytes, but delivers what it has."""

    name: ClassVar[str] = "bored"
    ways: ClassVar[frozenset[Way]] = frozenset(Way)

    def start(self, context):
        return RunningBored(self.at, context)


class RunningBored(Triggered):
    def fire(self, now):
        return (Note("fired"), At(now + 4.0, Data(b"last words")), At(now + 4.0, End()), Cancel())


def test_what_a_fault_has_emitted_still_flows_when_it_has_cancelled(play):
    played = play([[Timeout(idle=3.5)], [Bored(at=Trigger(event=2))]], WHOLE)
    assert (played.cancelled_at, played.cancel_cause) == (2.0, "bored")
    assert [time for time, _ in played.body] == [1.0, 2.0, 6.0]
    assert played.end == (6.0, End())


def test_a_fault_of_the_request_that_cancels_takes_no_further_request(play):
    played = play(
        [Bored(at=Trigger(bytes=1), way=Way.REQUEST)], [(1.0, Upload(b"1")), (2.0, Upload(b"2"))], request=POST
    )
    assert played.cancelled_at == 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Patient(FaultSpec):
    """Swallows the hangup until it is told otherwise by name."""

    name: ClassVar[str] = "patient"
    way: Way = Way.RESPONSE

    def start(self, context):
        return RunningPatient()


class RunningPatient(Fault):
    rest = FOREVER

    def hangup(self, now):
        return ()

    def cue(self, name, now):
        return (PassOn(),) if name == "give up" else (Note("fired", name),)


def test_a_fault_may_pass_it_on_later_from_any_handler(play):
    script = [*TICKS[:2], (2.5, "hangup"), (3.0, b"x"), (4.0, Cue("wait")), (5.0, Cue("give up"))]
    played = play([[Buffer(bytes=50)], [Patient()]], script)
    assert played.cancelled_at == 5.0
    assert (4.0, "patient", "wait") in played.fired


def test_a_cue_reaches_every_fault_that_applies_and_is_not_over(play):
    hops = [[Patient()], [Patient(if_=Condition(protocol="h2"))]]
    assert play(hops, [(1.0, Cue("now"))]).fired == [(1.0, "patient", "now")]
    assert play(hops, [(1.0, End()), (2.0, Cue("now"))]).fired == []


@pytest.mark.parametrize(("half_close", "serves"), [("leave", False), ("serve", True)])
def test_half_close_is_asked_for_at_the_chain(half_close, serves, chain_of):
    chain: Chain = chain_of([ClientAbort(half_close=half_close), Buffer(bytes=1)])
    assert chain.serves_half_close is serves


def test_half_close_of_a_fault_that_does_not_apply_is_none(chain_of):
    chain: Chain = chain_of([ClientAbort(half_close="serve", if_=Condition(protocol="h2"))])
    assert not chain.serves_half_close


def test_an_answer_by_itself_leaves_the_hops_in_front_without_a_client(play):
    hops = [[Buffer(bytes=9)], [Respond(status=503)]]
    played = play(hops, [(1.0, "hangup")])
    assert (played.cancelled_at, played.cancel_cause) == (0.0, "respond")
    assert not any(isinstance(event, RequestHead) for _, event in played.request)
