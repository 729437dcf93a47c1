"""`scope`: what happens to one happens to others at the same moment: to all, or to a share of them, and to nobody later."""

import pytest

from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Condition
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import Blackhole, Cut, ErrorEvent, Stall
from chaosproxy.faults.stall import Meanwhile
from chaosproxy.model.messages import End, ResponseHead
from chaosproxy.model.vocabulary import Framing
from chaosproxy.testing.play import SSE
from chaosproxy.testing.together import Asked, play_together

TICKS = [(float(number), b"data: %d\n\n" % number) for number in range(1, 11)]
STREAM = [*TICKS, (10.5, End())]
FIN = (Ending("fin"),)


def at_half_past(count):
    """Clients that come 0.25 s after one another, from 0.25 on."""
    return [Asked(STREAM, at=0.25 * number) for number in range(1, count + 1)]


def ended(played):
    return None if played.end is None else played.end[0]


@pytest.mark.parametrize("lazy", [True, False])
def test_all_that_run_at_the_moment_and_none_that_begins_later(lazy):
    late = Asked(STREAM, at=4.0)
    cut = Cut(at=Trigger(event=3), then=FIN, scope="all")
    first, second, third, after = play_together([cut], [*at_half_past(3), late], lazy=lazy)
    assert [ended(one) for one in (first, second, third)] == [3.25, 3.25, 3.25]
    assert [one.records_out for one in (first, second, third)] == [3, 2, 2]
    assert first.fired == [(3.25, "cut", "fin after event 3")]
    assert second.fired == [(3.25, "cut", "fin after event 3, of another")]
    assert (after.records_out, after.not_fired) == (10, [("cut", "begun after the moment")])


def test_who_is_over_before_the_moment_is_not_counted():
    short = Asked([(0.1, b"data: 1\n\n"), (0.2, End())], at=0.1)
    cut = Cut(at=Trigger(time=5.0), then=FIN, scope=0.5)
    for seed in range(6):
        played = play_together([cut], [short] * 4 + at_half_past(4), seed=seed)
        assert [ended(one) for one in played[:4]] == [pytest.approx(0.3)] * 4
        assert sum(ended(one) == 5.25 for one in played[4:]) == 2


def test_a_share_is_drawn_by_the_seed_and_who_is_spared_says_so():
    cut = Cut(at=Trigger(time=5.0), then=FIN, scope=0.3)
    drawn = set()
    for seed in range(6):
        played = play_together([cut], at_half_past(10), seed=seed)
        struck = tuple(number for number, one in enumerate(played) if ended(one) == 5.25)
        assert len(struck) == 3
        spared = [one for number, one in enumerate(played) if number not in struck]
        assert all(one.not_fired == [("cut", "spared")] for one in spared[:1] if one is played[0])
        assert all(one.records_out == 10 and one.fired == [] for one in spared)
        again = play_together([cut], at_half_past(10), seed=seed)
        assert [ended(one) for one in again] == [ended(one) for one in played]
        drawn.add(struck)
    assert len(drawn) > 1


def test_one_at_least():
    cut = Cut(at=Trigger(time=5.0), then=FIN, scope=0.01)
    played = play_together([cut], at_half_past(3))
    assert sum(ended(one) == 5.25 for one in played) == 1


def test_a_machine_that_several_go_through_is_gone_for_all_of_them():
    gone = Blackhole(at=Trigger(event=2), for_=3.0, scope="all")
    first, second = play_together([gone], at_half_past(2))
    assert [time for time, _ in first.body][:3] == [1.25, 2.25, 5.25]
    assert [time for time, _ in second.body][:2] == [1.5, 5.25]


def test_it_does_not_come_to_who_is_excepted():
    """By the request, or by what the answer's head says."""
    for condition in (Condition(client_headers=(("x-never", "yes"),)), Condition(status=500)):
        gone = Blackhole(at=Trigger(time=2.0), for_=3.0, scope="all", if_=condition)
        counted = Blackhole(at=Trigger(time=2.0), for_=3.0, scope="all")
        for spec, excepted in ((gone, True), (counted, False)):
            (played,) = play_together([spec], [Asked(STREAM, at=0.0)])
            assert (played.records_out, played.fired == []) == (10, excepted)
    mixed = Blackhole(at=Trigger(event=2), for_=3.0, scope="all", if_=Condition(status=200))
    bad = [(0.5, ResponseHead(500, ((b"content-type", b"text/event-stream"),), framing=Framing.CHUNKED)), *STREAM]
    first, other = play_together([mixed], [Asked(STREAM, at=0.25), Asked(bad, at=0.5)])
    assert [time for time, _ in first.body][:3] == [1.25, 2.25, 5.25]
    assert [time for time, _ in other.body] == [0.5 + time for time, _ in TICKS]
    assert other.not_fired == [("blackhole", "if")]


def test_all_stall_together():
    stall = Stall(at=Trigger(time=2.0), for_=3.0, scope="all")
    first, second = play_together([stall], at_half_past(2))
    assert [time for time, _ in first.body][:3] == [1.25, 5.25, 5.25]
    assert [time for time, _ in second.body][:3] == [1.5, 5.25, 5.25]


def test_each_says_meanwhile_what_is_said_in_a_stall():
    stall = Stall(at=Trigger(time=2.0), for_=3.0, scope="all", meanwhile=Meanwhile(comments=1.0))
    for played in play_together([stall], at_half_past(2)):
        assert [time for time, said in played.body if said == b": keep-alive\n\n"] == [3.25, 4.25]


def test_what_cannot_be_said(refused):
    refused("cut: {at: {event: 1}, scope: some}", 34, "a number")
    refused("cut: {at: {event: 1}, scope: 0}", 34, "expected all, or a share")
    refused("stall: {for: 1s, at: {event: 1, every: 2}, scope: all}", 44, "the moment comes once")
    refused("blackhole: {at: {match: x}, scope: all}", 21, "not in what one of them says")


@pytest.mark.parametrize("lazy", [True, False])
def test_a_last_word_comes_in_all_streams_at_one_moment_and_closes_what_is_open(lazy):
    """A server that is told to end says so in every stream, whatever it is in the middle of."""
    torn = [(0.1, b"data: 1\n\n"), (1.0, b"data: half of"), (9.0, b" it\n\n"), (9.5, End())]
    none_yet = Asked([(2.0, SSE), (8.0, b"data: 1\n\n"), (9.5, End())], at=0.5, head=None)
    event = ErrorEvent(format="sse", message="restarting", at=Trigger(time=1.5), scope="all")
    first, second, third, after = play_together(
        [event], [Asked(STREAM), Asked(torn, at=0.25), none_yet, Asked(STREAM, at=4.0)], lazy=lazy
    )
    assert [ended(one) for one in (first, second, third)] == [1.5, 1.5, 2.5]
    assert second.data.startswith(b"data: 1\n\ndata: half of\n\nevent: error\n")
    assert [one.data.count(b"restarting") for one in (first, second, third, after)] == [1, 1, 1, 0]
    assert after.records_out == 10
