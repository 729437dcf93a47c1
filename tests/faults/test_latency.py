"""`latency`: late and in order, not slower; what the draws are; how much may be under way; what cannot be written."""

import statistics
from random import Random

import pytest

from chaosproxy.chain.fault import Context
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import Cut, Latency
from chaosproxy.model.messages import Abort, Data, End, Interim, RequestHead, Trailers
from chaosproxy.model.vocabulary import Peer, Way
from chaosproxy.scenario.load import load
from chaosproxy.testing import check_fault
from chaosproxy.testing.play import GET, POST, SSE, Upload

EVENT = b"data: 1\n\n"
TICKS = [(0.1 * number, EVENT) for number in range(1, 9)]
WHOLE = [*TICKS, (0.9, End())]


def times(played):
    return [time for time, _ in played.body]


# ---- delay


def test_every_element_is_late_from_its_own_arrival(play):
    script = [(0.0, SSE), *TICKS, (0.85, Trailers(((b"a", b"b"),))), (0.9, End())]
    played = play([Latency(delay=0.25)], script)
    assert [(time, type(event)) for time, event in played.out] == [
        (round(time + 0.25, 9), type(event)) for time, event in played.arrived
    ]
    assert played.fired == [(0.0, "latency", "250ms")]


def test_several_add_up_and_a_steady_stream_keeps_its_pace(play):
    played = play([Latency(delay=0.25), Latency(delay=0.5)], WHOLE)
    assert times(played) == [round(time + 0.75, 9) for time, _ in TICKS]


def test_what_came_in_one_read_leaves_at_one_time_uncut(play):
    assert play([Latency(delay=1.0)], [(1.0, [EVENT] * 5)]).body == [(2.0, EVENT)] * 5


@pytest.mark.parametrize("ending", [End(), Abort("upstream:rst", Peer.UPSTREAM)])
def test_an_ending_does_not_overtake_the_data_before_it(play, ending):
    played = play([Latency(delay=5.0)], [(1.0, EVENT), (1.0, ending)])
    assert (times(played), played.end) == ([6.0], (6.0, ending))


def test_interim_answers_are_late_too(play):
    played = play([Latency(delay=0.5)], [(1.0, Interim(103)), (2.0, SSE), (3.0, End())])
    assert played.out[0] == (1.5, Interim(103))


def test_a_fault_nearer_the_client_acts_later(play):
    cut = Cut(at=Trigger(event=2))
    assert play([Latency(delay=1.0), cut], WHOLE).end[0] == 1.2
    assert play([cut, Latency(delay=1.0)], WHOLE).end[0] == 1.2
    assert play([Latency(delay=1.0), cut], WHOLE).cancelled_at == 1.2
    assert play([cut, Latency(delay=1.0)], WHOLE).cancelled_at == 0.2


def test_the_clients_leaving_is_felt_at_once(play):
    played = play([Latency(delay=5.0)], [(1.0, EVENT), (2.0, "hangup")])
    assert (played.cancelled_at, played.body) == (2.0, [])


def test_the_request(play):
    script = [(1.0, Upload(b"abc")), (2.0, Upload(End())), (3.0, EVENT)]
    played = play([Latency(delay=0.5, way=Way.REQUEST)], script, request=POST)
    assert [(time, type(event)) for time, event in played.request] == [(0.5, RequestHead), (1.5, Data), (2.5, End)]
    assert times(played) == [3.0]


def test_speed_divides_it(play):
    fast = Context(Random(0), GET, speed=4.0)
    assert times(play([Latency(delay=1.0)], WHOLE, context=fast)) == [round(time + 0.25, 9) for time, _ in TICKS]


# ---- capacity


def test_with_room_for_what_is_under_way_it_is_no_throttle(play):
    many = [(0.01 * number, b"0123456789") for number in range(1, 201)]
    assert times(play([Latency(delay=1.0)], many)) == [round(time + 1.0, 9) for time, _ in many]


def test_beyond_its_room_the_sender_waits(play):
    burst = [(1.0, [b"0123456789"] * 4)]
    played = play([Latency(delay=1.0, capacity=20)], burst)
    assert times(played) == [2.0, 2.0, 3.0, 3.0]
    assert play([Latency(delay=1.0, capacity=20)], burst, room=0, window=1).admitted == 30


# ---- jitter and distribution


def delays(play, spec, seed=1, gap=1000.0, count=400):
    """Of elements so far apart that none has to wait for another."""
    script = [(gap * number, EVENT) for number in range(1, count)]
    played = play([spec], script, until=gap * (count + 1), seed=seed)
    return [time - arrived for (time, _), (arrived, _) in zip(played.body, script, strict=True)]


@pytest.mark.parametrize("distribution", ["uniform", "normal", "pareto"])
def test_each_element_has_its_own_draw_from_the_seed(play, distribution):
    spec = Latency(delay=10.0, jitter=2.0, distribution=distribution)
    drawn = delays(play, spec)
    assert len({round(one, 6) for one in drawn}) > 390
    assert drawn == delays(play, spec)
    assert drawn != delays(play, spec, seed=2)


def test_uniform_lies_within_the_jitter_on_both_sides(play):
    drawn = delays(play, Latency(delay=10.0, jitter=2.0))
    assert 8.0 <= min(drawn) < 8.2
    assert 11.8 < max(drawn) <= 12.0
    assert statistics.mean(drawn) == pytest.approx(10.0, abs=0.3)


def test_normal_has_the_delay_as_its_mean_and_the_jitter_as_its_deviation(play):
    drawn = delays(play, Latency(delay=20.0, jitter=2.0, distribution="normal"))
    assert statistics.mean(drawn) == pytest.approx(20.0, abs=0.4)
    assert statistics.stdev(drawn) == pytest.approx(2.0, abs=0.3)
    assert max(drawn) <= 28.0


def test_pareto_is_mostly_a_little_early_and_sometimes_very_late(play):
    drawn = delays(play, Latency(delay=20.0, jitter=2.0, distribution="pareto"), count=1000)
    assert min(drawn) >= 20.0 - 0.58 * 2.0
    assert statistics.median(drawn) < 20.0 < statistics.mean(drawn) + 0.3
    assert statistics.mean(drawn) == pytest.approx(20.0, abs=0.4)
    assert 26.0 < max(drawn) <= 28.0


def test_it_is_never_negative(play):
    drawn = delays(play, Latency(delay=1.0, jitter=5.0, distribution="normal"))
    assert min(drawn) == 0.0
    assert sum(one == 0.0 for one in drawn) > 100


def test_jitter_never_changes_the_order(play):
    script = [(0.01 * number, b"data: %d\n\n" % number) for number in range(1, 200)]
    played = play([Latency(delay=0.1, jitter=0.1)], [*script, (2.0, End())])
    assert [payload for _, payload in played.body] == [payload for _, payload in script]
    assert times(played) == sorted(times(played))
    assert played.fired == [(0.01, "latency", "100ms +- 100ms (uniform)")]


def test_speed_divides_the_jitter(play):
    fast = Context(Random(0), GET, speed=10.0)
    drawn = play([Latency(delay=10.0, jitter=10.0)], [(50.0, EVENT)], context=fast, seed=3)
    assert 50.0 < drawn.body[0][0] <= 52.0


# ---- what every fault must stand


@pytest.mark.parametrize(
    "spec",
    [
        Latency(delay=0.05),
        Latency(delay=30.0),
        Latency(delay=0.2, jitter=0.2),
        Latency(delay=0.2, jitter=0.5, distribution="normal", capacity=7),
        Latency(delay=0.2, jitter=0.5, distribution="pareto"),
        Latency(delay=0.2, jitter=0.1, way=Way.REQUEST, capacity=1),
    ],
)
def test_it_stands_every_stream(spec):
    check_fault(spec)


@pytest.mark.parametrize("distribution", ["uniform", "normal", "pareto"])
def test_nought_is_neutral(distribution):
    check_fault(Latency(delay=0.0, distribution=distribution, capacity=1), neutral=True)
    check_fault(Latency(delay=0.0, way=Way.REQUEST), neutral=True)


def test_nought_leaves_interim_answers_alone(play):
    assert play([Latency(delay=0.0)], [(1.0, Interim(103)), (2.0, End())]).out[0] == (1.0, Interim(103))


# ---- the scenario


def test_the_bare_value_is_the_delay():
    assert load("version: 1\nfaults:\n  - latency: 50ms\n").rules[0].faults == (Latency(delay=0.05),)


@pytest.mark.parametrize(
    ("text", "column", "found"),
    [
        ("50", 14, "no duration"),
        ("{jitter: 5ms}", 5, "`delay` is required"),
        ("{delay: forever}", 22, "late for ever"),
        ("{delay: 1s, jitter: forever}", 34, "late for ever"),
        ("{delay: 1s, distribution: pareto2}", 40, "pareto"),
        ("{delay: 1s, capacity: 0}", 36, "at least one byte"),
        ("{delay: 1s, at: body}", 26, "at"),
    ],
)
def test_a_mistake_has_its_place(refused, text, column, found):
    refused(f"latency: {text}", column, found)
