"""`blackhole`: where it acts, what is lost on each way, what comes back, and what cannot be written."""

import math
from random import Random

import pytest

from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Context
from chaosproxy.chain.trigger import Trigger
from chaosproxy.errors import ScenarioError
from chaosproxy.faults import Blackhole, ClientAbort, Cut, Latency, Timeout
from chaosproxy.model.messages import Abort, Data, End
from chaosproxy.model.vocabulary import Moment, Peer, Way
from chaosproxy.scenario.load import load
from chaosproxy.testing import check_fault
from chaosproxy.testing.play import GET, POST, Upload

TICKS = [(float(number), b"data: %d\n\n" % number) for number in range(1, 9)]
WHOLE = [*TICKS, (9.0, End())]
AFTER_THREE = Trigger(event=3)
UPLOAD = [(1.0, Upload(b"12")), (3.0, Upload(b"345")), (5.0, Upload(b"67")), (6.0, Upload(End()))]


def uploaded(played):
    return [(time, event.payload) for time, event in played.request if isinstance(event, Data)]


# ---- for ever


def test_nothing_comes_out_any_more_nobody_is_told_and_nothing_more_is_let_in(play):
    played = play([Blackhole(at=AFTER_THREE)], WHOLE)
    assert played.body == TICKS[:3]
    assert (played.end, played.cancelled_at) == (None, None)
    assert played.admitted == 27
    assert played.fired == [(3.0, "blackhole", "gone after event 3")]


@pytest.mark.parametrize("ending", [End(), Abort("upstream:rst", Peer.UPSTREAM)])
def test_the_upstream_s_leaving_is_not_passed_on(play, ending):
    assert play([Blackhole(at=AFTER_THREE)], [*TICKS[:3], (4.0, ending)]).end is None


def test_nor_is_the_client_s(play):
    assert play([Blackhole(at=AFTER_THREE)], [*TICKS[:3], (4.0, "hangup"), *TICKS[4:]]).cancelled_at is None


@pytest.mark.parametrize(
    ("at", "delivered"),
    [
        (None, 0),
        (Trigger(bytes=20), 20),
        (Trigger(chunk=2), 18),
        (Trigger(time=4.5), 36),
        (Trigger(match="5"), 36),
        (Trigger(moment=Moment.HEADERS), 0),
        (Trigger(moment=Moment.END), 72),
    ],
)
def test_where(play, at, delivered):
    played = play([Blackhole(at=at)], WHOLE)
    assert (len(played.data), played.end) == (delivered, None)


def test_in_the_middle_of_a_read_at_the_exact_byte(play):
    played = play(
        [Blackhole(at=Trigger(bytes=20))], [(1.0, b"data: 1\n\ndata: 2\n\ndata: 3\n\n"), (2.0, b"data: 4\n\n")]
    )
    assert played.data == b"data: 1\n\ndata: 2\n\nda"


def test_at_the_request_nothing_is_dialled(play):
    played = play([Blackhole(at=Trigger(moment=Moment.REQUEST))], [])
    assert (played.request, played.out) == ([], [])


def test_at_the_request_s_end_the_upstream_waits_for_it_in_vain(play):
    played = play([Blackhole(at=Trigger(moment=Moment.REQUEST_END))], UPLOAD, request=POST)
    assert uploaded(played) == [(1.0, b"12"), (3.0, b"345"), (5.0, b"67")]
    assert not any(isinstance(event, End) for _, event in played.request)


def test_the_upload_stops_too(play):
    played = play([Blackhole(at=Trigger(time=2.0))], UPLOAD, request=POST)
    assert uploaded(played) == [(1.0, b"12")]


# ---- it comes back


def test_what_waited_goes_on_and_the_upstream_was_held_up(play):
    played = play([Blackhole(at=AFTER_THREE, for_=4.2)], WHOLE)
    assert played.body == [*TICKS[:3], *((7.2, payload) for _, payload in TICKS[3:7]), TICKS[7]]
    assert played.end == (9.0, End())
    assert played.fired == [(3.0, "blackhole", "gone after event 3 for 4.2s")]


def test_the_request_goes_on_too(play):
    played = play([Blackhole(at=Trigger(time=2.0), for_=2.0)], UPLOAD, request=POST)
    assert uploaded(played) == [(1.0, b"12"), (4.0, b"345"), (5.0, b"67")]
    assert played.request[-1] == (6.0, End())


@pytest.mark.parametrize("ending", [End(), Abort("upstream:rst", Peer.UPSTREAM)])
def test_then_the_upstream_s_leaving_is_seen(play, ending):
    assert play([Blackhole(at=AFTER_THREE, for_=5.0)], [*TICKS[:3], (4.0, ending)]).end == (8.0, ending)


def test_then_the_client_s_leaving_is_seen_and_passed_on(play):
    played = play([Blackhole(at=AFTER_THREE, for_=5.0)], [*TICKS[:3], (4.0, "hangup:rst"), (5.0, b"data: 4\n\n")])
    assert (played.cancelled_at, played.cancel_cause) == (8.0, "client:rst")


def test_again_and_again(play):
    played = play([Blackhole(at=Trigger(event=2, every=3, times=2), for_=0.5)], WHOLE)
    assert [(time, fault) for time, fault, _ in played.fired] == [(2.0, "blackhole"), (5.0, "blackhole")]
    assert played.body == TICKS


@pytest.mark.parametrize(
    ("at", "places"),
    [
        ({"time": 0.5, "every": 1.0}, [(0.5, "at 500ms"), (4.5, "at 4.5s"), (8.5, "at 8.5s")]),
        ({"idle": 0.5, "every": 0.5}, [(0.5, "after 500ms of silence"), (4.0, "after 500ms of silence")]),
    ],
    ids=str,
)
def test_of_the_time_in_which_it_is_gone_it_knows_nothing(play, at, places):
    """A time that comes meanwhile passes without it, and it has seen no silence."""
    played = play([Blackhole(at=Trigger(**at, times=len(places)), for_=3.0)], [(1.0, b"x"), (12.0, End())])
    assert [(time, what) for time, _, what in played.fired] == [(time, f"gone {what} for 3s") for time, what in places]


def test_several_places_in_one_read(play):
    read = [payload for _, payload in TICKS]
    played = play([Blackhole(at=Trigger(event=2, every=2), for_=1.0)], [(1.0, read), (1.0, End())])
    assert played.data == b"".join(read)
    assert [time for time, _, _ in played.fired] == [1.0, 2.0, 3.0, 4.0]
    assert played.end == (5.0, End())


# ---- one way


def test_response_only_what_the_client_does_arrives(play):
    script = [(0.5, b"data: 1\n\n"), *UPLOAD, (7.0, b"data: 2\n\n"), (8.0, "hangup")]
    played = play([Blackhole(at=Trigger(event=1), way=Way.RESPONSE)], script, request=POST)
    assert uploaded(played) == [(1.0, b"12"), (3.0, b"345"), (5.0, b"67")]
    assert played.body == [(0.5, b"data: 1\n\n")]
    assert played.cancelled_at == 8.0
    assert played.fired == [(0.5, "blackhole", "gone after event 1, response only")]


def test_request_only_the_answer_goes_on_and_the_client_s_leaving_is_lost(play):
    blackhole = Blackhole(at=Trigger(bytes=4), way=Way.REQUEST)
    played = play(
        [blackhole], [*UPLOAD, *((7.0 + time, payload) for time, payload in TICKS), (16.0, End())], request=POST
    )
    assert uploaded(played) == [(1.0, b"12"), (3.0, b"34")]
    assert len(played.body) == 8
    assert isinstance(played.end[1], End)
    assert play([blackhole], [*UPLOAD, (7.0, "hangup")], request=POST).cancelled_at is None


def test_request_only_and_back(play):
    blackhole = Blackhole(at=Trigger(bytes=4), way=Way.REQUEST, for_=10.0)
    played = play([blackhole], [*UPLOAD, (7.0, "hangup")], request=POST)
    assert uploaded(played) == [(1.0, b"12"), (3.0, b"34"), (13.0, b"5"), (13.0, b"67")]
    assert played.cancelled_at == 13.0


# ---- among other machines


def test_a_machine_nearer_the_client_lives_on_and_gives_up_and_the_upstream_hears_nothing_of_it(play):
    played = play([[Blackhole(at=AFTER_THREE)], [Timeout(idle=5.0, then=(Ending("rst"),))]], WHOLE)
    assert (played.end[0], played.end[1].cause) == (8.0, "timeout:idle")
    assert played.cancelled_at is None


def test_at_the_instant_of_its_return_clocks_come_before_what_it_had_not_let_in(play):
    hops = [[Blackhole(at=Trigger(moment=Moment.REQUEST), for_=5.0)], [Timeout(idle=5.0)]]
    played = play(hops, WHOLE)
    assert (played.body, played.end[0], played.end[1].cause) == ([], 5.0, "timeout:idle")


def test_it_hears_of_that_when_it_is_back(play):
    hops = [[Blackhole(at=AFTER_THREE, for_=20.0)], [Timeout(idle=5.0)]]
    played = play(hops, WHOLE)
    assert (played.end[0], played.cancelled_at, played.cancel_cause) == (8.0, 23.0, "timeout:idle")


def test_a_machine_nearer_the_client_sees_it_leave(play):
    hops = [[Blackhole(at=AFTER_THREE, for_=5.0)], [ClientAbort(delay=1.0)]]
    played = play(hops, [*TICKS[:3], (4.0, "hangup"), *TICKS[4:]])
    assert [fault for _, fault, _ in played.fired] == ["blackhole", "client_abort"]
    assert played.cancelled_at == 8.0


def test_a_machine_nearer_the_upstream_is_held_up_and_its_room_fills(play):
    """It could go on giving what it holds, but nobody takes it."""
    played = play([[Latency(delay=0.5, capacity=20)], [Blackhole(at=AFTER_THREE)]], WHOLE)
    assert played.admitted == 27 + 27  # what fits, and the piece that crosses the limit
    assert played.end is None


def test_an_incomplete_upload_ends_at_the_gone_machine(play):
    """Else a request that will never be whole is ended at once, whoever wants to go on."""
    hops = [[Blackhole(at=Trigger(time=2.0), for_=10.0)], [Cut(at=Trigger(time=4.0))]]
    played = play(hops, UPLOAD[:2], request=POST)
    assert (played.end[0], played.cancelled_at) == (4.0, 12.0)


@pytest.mark.parametrize(
    ("hops", "unheard"),
    [
        ([[Timeout(idle=50)], [Timeout(idle=60)], [Blackhole(at=AFTER_THREE)]], True),
        ([[Timeout(idle=50)], [Timeout(idle=60)], [Blackhole(at=AFTER_THREE), Timeout(idle=70)]], True),
        ([[Timeout(idle=50)], [Blackhole(at=AFTER_THREE)], [Timeout(idle=60)]], False),
        ([[Blackhole(at=AFTER_THREE)], [Timeout(idle=50)], [Timeout(idle=60)]], False),
    ],
)
def test_the_client_is_not_heard_when_the_machine_nearest_to_it_is_gone(play, hops, unheard):
    assert play(hops, [*TICKS[:3], (4.0, "hangup")]).unheard is unheard


# ---- the rest


def test_speed_divides_its_time(play):
    fast = Context(Random(0), GET, speed=10.0)
    script = [*((time / 10, payload) for time, payload in WHOLE)]
    assert play([Blackhole(at=AFTER_THREE, for_=4.2)], script, context=fast).body[3][0] == pytest.approx(0.72)


@pytest.mark.parametrize("way", ["both", Way.REQUEST, Way.RESPONSE])
@pytest.mark.parametrize("for_", [math.inf, 0.25, 100.0])
@pytest.mark.parametrize("at", [None, Trigger(bytes=5), Trigger(time=0.25), Trigger(moment=Moment.REQUEST)])
def test_what_every_fault_stands(way, for_, at):
    check_fault(Blackhole(at=at, for_=for_, way=way))


@pytest.mark.parametrize("way", ["both", Way.REQUEST, Way.RESPONSE])
def test_for_no_time_it_is_neutral(way):
    check_fault(Blackhole(at=Trigger(bytes=5), for_=0.0, way=way), neutral=True)
    check_fault(Blackhole(at=Trigger(event=1000), way=way), neutral=True)


def test_a_place_that_does_not_come(play):
    assert play([Blackhole(at=Trigger(event=20))], WHOLE).not_fired == [("blackhole", "not reached")]


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("blackhole: 5", 16, "duration"),
        ("blackhole: {way: all}", 22, "request, response, both"),
        ("blackhole: {at: after_end}", 21, "nothing is left"),
        ("blackhole: {for: 5s, then: rst}", 26, "then"),
    ],
)
def test_a_mistake_has_its_place(refused, text, column, said):
    refused(text, column, said)


def test_under_connections_there_are_no_records():
    with pytest.raises(ScenarioError, match="no records"):
        load("version: 1\nconnections:\n  - faults:\n      - blackhole: {at: {event: 3}}\n")


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("5s", Blackhole(for_=5.0)),
        ("forever", Blackhole()),
        ("{}", Blackhole()),
        ("{at: {event: 3}, for: 1m, way: request}", Blackhole(at=AFTER_THREE, for_=60.0, way=Way.REQUEST)),
        ("{way: both}", Blackhole()),
    ],
)
def test_what_can_be_written(text, spec):
    [rule] = load(f"version: 1\nfaults:\n  - blackhole: {text}\n").rules
    assert rule.faults == (spec,)
