"""Where a chain can go wrong and both its modes would agree: two limits at once, the far ends of the interface, faults
that do what faults should not."""

from dataclasses import dataclass, field
from typing import ClassVar

import pytest

from chaosproxy.chain.actions import FOREVER, At, Finish, Floor, Note, Reply, Rest
from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Fault, FaultSpec
from chaosproxy.chain.trigger import Trigger
from chaosproxy.chain.triggered import Triggered
from chaosproxy.errors import FaultBug
from chaosproxy.faults import Buffer, ClientAbort, Cut, Timeout
from chaosproxy.framing.sse import SseSplitter
from chaosproxy.model.messages import Abort, Data, End, Goaway, Interim, RequestHead, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Moment
from chaosproxy.testing.play import POST, SSE, Upload

TICKS = [(float(number), b"data: %d\n\n" % number) for number in range(1, 9)]
STREAM = b"".join(piece for _, piece in TICKS)
RST = (Ending("rst"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Own(FaultSpec):
    """Runs whatever fault a test has made."""

    name: ClassVar[str] = "own"
    edits_body: ClassVar[bool] = True
    make: type = field(default=Fault)

    def start(self, context):
        return self.make()


# ---- limits that coincide


class TwoLimits(Fault):
    rest = Rest(bytes=18, records=2, chunks=2)

    def reached(self, limit, now):
        return (Note("fired", limit), FOREVER)


def test_of_limits_at_the_same_place_one_is_met_once(play):
    played = play([Own(make=TwoLimits)], TICKS)
    assert played.fired == [(2.0, "own", "bytes")]
    assert played.data == STREAM


class NearestLimit(Fault):
    """Whichever comes first in a piece, whatever kind it is."""

    rest = Rest(bytes=20, records=2, chunks=1)

    def reached(self, limit, now):
        return (Note("fired", limit), FOREVER, Data(b"|"))


@pytest.mark.parametrize(
    ("script", "limit", "place"),
    [
        ([(1.0, STREAM)], "records", 18),
        ([(1.0, b"x" * 30)], "bytes", 20),
        ([(1.0, b"x" * 15)], "chunks", 15),
        ([(1.0, Data(b"x" * 15, whole=False)), (2.0, b"x" * 15)], "bytes", 20),
    ],
)
def test_of_several_in_one_piece_the_nearest_is_met(play, script, limit, place):
    played = play([Own(make=NearestLimit)], script)
    assert [detail for _, _, detail in played.fired] == [limit]
    assert played.data.index(b"|") == place


def test_a_piece_leaves_a_place_before_the_fault_acts_there_so_one_that_was_ended_by_it_does_not_act(play):
    """All three at record 2: it has passed the first when that would act, and there the last has ended the exchange."""
    marks = [Own(make=TwoLimits), Own(make=NearestLimit), Cut(at=Trigger(event=2), then=RST)]
    played = play([marks], TICKS)
    assert played.fired == [(1.0, "own", "chunks"), (2.0, "cut", "rst after event 2")]
    assert played.data == b"data: 1\n\n|data: 2\n\n"
    assert played.not_fired == [("own", "not reached")]


# ---- control events


def test_what_no_fault_acts_on_passes_in_its_place(play):
    script = [(1.0, Interim(103)), (1.5, b"data: 1\n\n"), (2.0, Goaway(0, 7)), (3.0, End())]
    faults = [Buffer(bytes=100), Timeout(idle=50), Cut(at=Trigger(match="no"))]
    played = play(faults, [script[0], (1.2, SSE), *script[1:]])
    assert [type(event) for _, event in played.out] == [Interim, ResponseHead, Goaway, Data, End]


def test_what_comes_behind_an_ending_is_swallowed(play):
    script = [(1.0, Interim(103)), (2.0, Interim(103)), (3.0, SSE), (4.0, b"x"), (5.0, End())]
    played = play([Cut(at=Trigger(time=1.5)), ClientAbort()], script)
    assert [type(event) for _, event in played.out] == [Interim, Abort]


def test_trailers_of_a_request_pass_a_fault_that_watches_it(play):
    script = [(1.0, Upload(b"x")), (2.0, Upload(Trailers(((b"a", b"b"),)))), (2.0, Upload(End()))]
    played = play([Timeout(idle=50)], script, request=POST)
    assert [type(event) for _, event in played.request] == [RequestHead, Data, Trailers, End]


def test_a_record_completed_by_trailers_counts_once(play):
    script = [(1.0, b"{}\n{}"), (2.0, Trailers(())), (2.0, End())]
    for place, kind in ((2, Abort), (3, End)):
        played = play([Cut(at=Trigger(event=place))], script, kind="lines")
        assert (played.records_in, type(played.end[1])) == (2, kind)


def test_body_comes_before_a_stall_ahead_is_over_and_waits(play):
    class Stalling(Fault):
        rest = Rest(moment=Moment.HEADERS)
        capacity = 100

        def reached(self, limit, now):
            return (Floor(now + 3.0), FOREVER)

    played = play([Own(make=Stalling)], [(1.0, b"x"), (2.0, End())])
    assert [time for time, _ in played.out] == [1.0, 4.0, 4.0]


# ---- the ends of the interface


def test_what_is_due_comes_before_a_control_event_that_comes_late(chain_of):
    chain = chain_of([Buffer(every=2.0)])
    chain.start(0.0)
    chain.request.push_control(POST, 0.0)
    chain.response.push_control(SSE, 0.0)
    chain.response.push([Data(b"x")], 1.0)
    chain.response.push_control(Trailers(()), 7.0)  # the ring for 3.0 has not come
    assert [type(event) for event in chain.response.take(7.0)] == [ResponseHead, Data, Trailers]
    assert [note.detail for note in chain.notes] == ["held 1 byte"]


def test_and_before_data_that_comes_late(chain_of):
    chain = chain_of([Cut(at=Trigger(time=2.0))])
    chain.start(0.0)
    chain.request.push_control(POST, 0.0)
    chain.response.push_control(SSE, 0.0)
    chain.response.push([Data(b"x")], 5.0)
    assert [type(event) for event in chain.response.take(5.0)] == [ResponseHead, Abort]


def test_the_bytes_of_a_connection_have_no_head_and_need_none(chain_of):
    chain = chain_of([Buffer(bytes=4), Cut(at=Trigger(bytes=6), then=RST)])
    chain.start(0.0)
    chain.response.push([Data(b"\x16\x03\x01abcdef")], 1.0)
    assert [event.payload for event in chain.response.take(1.0) if isinstance(event, Data)] == [b"\x16\x03\x01a", b"bc"]
    assert not chain.has_heads


def test_sixty_faults_in_a_row(play):
    for fault in (Buffer(bytes=1), Cut(at=Trigger(match="no")), Timeout(idle=99, ignore=("comments",))):
        assert play([fault] * 60, [(1.0, b"data: 1\n\n"), (2.0, End())]).data == b"data: 1\n\n"


# ---- what faults should not do, or need not


class Hasty(Fault):
    def control(self, event, now):
        return (Data(b"early"), event) if isinstance(event, ResponseHead) else (event,)


def test_body_in_front_of_the_head_is_dropped(play):
    assert play([Own(make=Hasty)], [(1.0, b"x"), (2.0, End())]).data == b"x"


class Talkative(Fault):
    def control(self, event, now):
        return (event, Data(b"more"), End(), Trailers(())) if isinstance(event, End) else (event,)


def test_nothing_leaves_behind_the_end(play):
    played = play([Own(make=Talkative)], [(1.0, b"x"), (2.0, End())])
    assert [type(event) for _, event in played.out] == [ResponseHead, Data, End]


class Woken(Fault):
    """Has nothing to say when its rest is over: from there it is awake, and passes everything."""

    rest = Rest(records=2)


def test_a_fault_without_handlers_passes_everything(play):
    assert play([Own(make=Woken)], [*TICKS, (9.0, End())]).body == TICKS
    assert play([Own()], [*TICKS, (9.0, End())]).body == TICKS


class Stuffed(Fault):
    """Holds, and does not know what to do when it is full."""

    capacity = 10

    def data(self, data, now):
        self.held += len(data.payload)
        return ()


def test_a_fault_that_is_full_and_says_nothing_is_backpressure(play):
    played = play([Own(make=Stuffed)], TICKS)
    assert (played.data, played.admitted) == (b"", 18)


class EndsWhenFull(Stuffed):
    def full(self, now):
        return (Finish(RST, "own"),)


class Slow(Fault):
    capacity = 100

    def data(self, data, now):
        return (At(now + 1.0, data),)


def test_one_that_ends_the_exchange_when_it_is_full_ends_what_waits_in_front_of_it(play):
    played = play([Own(make=Slow), Own(make=EndsWhenFull)], TICKS)
    assert (played.end[0], played.end[1].cause) == (4.0, "own")
    assert played.cancelled_at == 4.0


def test_one_that_does_so_when_new_data_wants_to_enter(play):
    played = play([Own(make=EndsWhenFull)], TICKS)
    assert played.end[0] == 3.0


class Answering(Fault):
    """Makes a head of its own and then wants to end cleanly."""

    rest = Rest(time=1.0)
    made = SSE

    def reached(self, limit, now):
        return (self.made, Data(b"data: own\n\n"), Finish((Ending("clean"),), "own"))


class Promising(Answering):
    made = ResponseHead(200, ((b"content-length", b"12"),))


@pytest.mark.parametrize(("make", "end"), [(Answering, End), (Promising, Abort)])
def test_a_head_of_its_own_says_whether_it_can_end_cleanly(play, make, end):
    played = play([Own(make=make)], [])
    assert (played.data, type(played.end[1])) == (b"data: own\n\n", end)


class LateReply(Fault):
    rest = Rest(records=1)

    def reached(self, limit, now):
        return (FOREVER, Reply(ResponseHead(200)))


def test_a_reply_behind_the_head_is_none(play):
    played = play([Own(make=LateReply)], [*TICKS, (9.0, End())])
    assert (played.body, played.not_fired) == (TICKS, [("own", "head sent")])


class Unfinished(Triggered):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetful(FaultSpec):
    name: ClassVar[str] = "forgetful"

    def start(self, context):
        return Unfinished(self.at, context)


def test_a_triggered_fault_without_fire_is_named(play):
    with pytest.raises(FaultBug, match="'forgetful' in hop 0 failed on str: NotImplementedError"):
        play([Forgetful(at=Trigger(bytes=1))], TICKS)
    with pytest.raises(NotImplementedError):
        FaultSpec().start(None)


def test_records_are_counted_the_same_by_the_line_and_by_a_splitter(play):
    played = play([], [(1.0, STREAM + b"data: unfinished"), (2.0, End())])
    assert played.records_in == len(SseSplitter().feed(STREAM)) == 8
