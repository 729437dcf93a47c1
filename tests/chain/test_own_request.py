"""What a fault of one's own may do on the way of the request, and below HTTP, where no head is: the clocks of both ways
run, an answer leaves from its place, a cue may set a time."""

import math
from dataclasses import dataclass
from typing import ClassVar

import pytest

from chaosproxy.chain.actions import FOREVER, Finish, Note, Reply, Rest
from chaosproxy.chain.chain import Chain
from chaosproxy.chain.endings import ABORT
from chaosproxy.chain.fault import Condition, Fault, FaultSpec
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import Blackhole, Buffer, ClientAbort, Cut, Latency, Stall, Timeout
from chaosproxy.model.messages import Abort, Data, End, Interim, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Framing, Moment, Way
from chaosproxy.testing.play import POST, SSE, Cue, Upload


@dataclass(frozen=True, slots=True, kw_only=True)
class Own(FaultSpec):
    """Whatever a test needs."""

    name: ClassVar[str] = "own"
    ways: ClassVar[frozenset[Way]] = frozenset(Way)
    make: type[Fault]
    way: Way = Way.REQUEST

    def start(self, context):
        return self.make()


class Refuses(Fault):
    """Answers what is too long by itself."""

    rest = Rest(bytes=4)

    def reached(self, limit, now):
        return (Reply(ResponseHead(413, framing=Framing.LENGTH), b"too long"),)


def test_an_answer_to_the_request_s_body_leaves_from_the_same_hop(play):
    hops = [[Timeout(idle=50)], [Own(make=Refuses)], [Buffer(every=2.0)]]
    played = play(hops, [(1.0, Upload(b"12345")), (2.0, Upload(End()))], request=POST)
    assert [(time, type(event)) for time, event in played.out] == [(1.0, ResponseHead), (1.0, Data), (1.0, End)]
    assert played.head[1].status == 413
    assert (played.cancelled_at, played.cancel_cause) == (1.0, "own")


class Hints(Fault):
    """Says something before the answer, once so much has come."""

    rest = Rest(bytes=4)

    def reached(self, limit, now):
        return (Interim(103), FOREVER)


def test_an_interim_of_the_request_s_way_is_the_client_s_and_only_in_front_of_the_head(play):
    upload = (1.0, Upload(b"12345"))
    early = play([Own(make=Hints)], [upload, (2.0, SSE)], request=POST)
    assert [(time, type(event)) for time, event in early.out] == [(1.0, Interim), (2.0, ResponseHead)]
    late = play([Own(make=Hints)], [(0.5, SSE), upload], request=POST)
    assert [(time, type(event)) for time, event in late.out] == [(0.5, ResponseHead)]
    for played in (early, late):
        assert b"".join(event.payload for _, event in played.request if isinstance(event, Data)) == b"12345"


def test_what_is_due_leaves_in_front_of_an_answer_though_nobody_has_rung_yet(chain_of):
    chain: Chain = chain_of([Latency(delay=1.0), Own(make=Refuses)])
    chain.start(0.0)
    chain.request.push_control(POST, 0.0)
    chain.response.push_control(Interim(103), 0.0)
    chain.request.push([Data(b"12345")], 2.0)
    assert [type(event) for event in chain.response.take(2.0)] == [Interim, ResponseHead, Data, End]


def test_and_in_front_of_an_ending(chain_of):
    chain: Chain = chain_of([Latency(delay=1.0), Cut(at=Trigger(bytes=4), way=Way.REQUEST)])
    chain.start(0.0)
    chain.request.push_control(POST, 0.0)
    chain.response.push_control(Interim(103), 0.0)
    chain.request.push([Data(b"12345")], 2.0)
    assert [type(event) for event in chain.response.take(2.0)] == [Interim, Abort]


def test_nor_when_something_of_the_request_passes_a_place_that_listens_there(chain_of):
    chain: Chain = chain_of([Latency(delay=1.0), Stall(at=Trigger(moment=Moment.REQUEST_END), for_=5.0)])
    chain.start(0.0)
    chain.request.push_control(POST, 0.0)
    chain.response.push_control(Interim(103), 0.0)
    chain.request.push_control(Trailers(()), 2.0)
    assert [type(event) for event in chain.response.take(2.0)] == [Interim]


class Alarmed(Fault):
    """A cue says when it is to do something."""

    rest = FOREVER

    def cue(self, name, now):
        return (Rest(time=now + float(name)),)

    def reached(self, limit, now):
        return (Note("fired", limit), FOREVER)


def test_a_cue_may_set_a_time_on_either_way(play):
    for way in Way:
        assert play([Own(make=Alarmed, way=way)], [(1.0, Cue("2.5"))], request=POST).fired == [(3.5, "own", "time")]


def test_on_a_connection_on_which_nobody_says_anything_the_clocks_of_both_ways_run(chain_of):
    for way in Way:
        chain: Chain = chain_of([Stall(at=Trigger(time=2.0), for_=1.0, way=way)])
        chain.start(0.0)
        assert chain.due == 2.0


class Asks(Fault):
    """Looks, at a time, whether anybody takes what it would send."""

    rest = Rest(time=2.0)

    def reached(self, limit, now):
        return (Note("fired", "blocked" if self.blocked else "free"), FOREVER)


def test_a_fault_whose_time_has_come_knows_whether_its_output_is_blocked(play):
    asks = Own(make=Asks, way=Way.RESPONSE)
    assert play([asks], [(1.0, b"12345")], room=0, window=5).fired == [(2.0, "own", "blocked")]
    assert play([asks], [(1.0, b"12345")], room=0, window=6).fired == [(2.0, "own", "free")]


def test_a_leaving_that_a_gone_machine_has_kept_back_starts_the_patience_of_the_next(play):
    """Gone from 2 to 6 s; the client leaves at 3; the hop in front of it takes 3 s to tell."""
    hops = [[ClientAbort(delay=3.0)], [Blackhole(at=Trigger(time=2.0), for_=4.0)]]
    assert play(hops, [(1.0, b"x"), (3.0, "hangup")]).cancelled_at == 9.0


def test_what_the_client_had_not_taken_when_it_left_nobody_gets(play):
    assert play([], [(1.0, b"12345"), (2.0, "hangup"), (3.0, 5)], room=0).body == []


def test_when_the_client_is_gone_nobody_is_rung_for_what_waits_of_its_request(chain_of):
    chain: Chain = chain_of([Latency(delay=5.0, way=Way.REQUEST)])
    chain.start(0.0)
    chain.request.push_control(POST, 0.0)
    chain.request.push([Data(b"x")], 1.0)
    assert chain.due == 5.0
    chain.hangup(2.0, "client:fin")
    assert (chain.cancelled, chain.due) == (True, math.inf)


class Ends(Fault):
    """A cue ends the exchange."""

    rest = FOREVER

    def cue(self, name, now):
        return (Finish((ABORT,), "own"),)


class Counts(Fault):
    """Says when its exchange is over."""

    rest = FOREVER

    def over(self, now):
        return (Note("fired", "over"),)


@pytest.mark.parametrize(
    ("script", "time"),
    [
        ([(1.0, b"x"), (2.0, End())], 2.0),
        ([(1.0, b"x"), (3.0, "hangup")], 3.0),
        ([(1.0, b"x"), (4.0, Cue("end"))], 4.0),
    ],
    ids=["end", "left", "ended"],
)
def test_that_it_is_over_is_said_once_to_those_that_apply(play, script, time):
    hops = [[Own(make=Counts)], [Own(make=Counts, if_=Condition(protocol="h2"))], [Own(make=Ends, way=Way.RESPONSE)]]
    said = [(note.t, note.hop) for note in play(hops, script).notes if note.detail == "over"]
    assert said == [(time, 0)]
