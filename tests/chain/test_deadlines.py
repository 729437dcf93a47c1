"""A chain rings for what somebody could tell: what only goes from one wait to the next moves later, at its own time."""

import math
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaosproxy.chain.chain import Chain
from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Context
from chaosproxy.chain.placed import Placed
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import Cut, Headers, Inject, Latency, Timeout
from chaosproxy.model.messages import Data, End, RequestHead, ResponseHead
from chaosproxy.testing.play import play as run

DATA = b"data: 1\n\n"
CLEAN = (Ending("clean"),)


def far(*between, first=1.0, second=1.0):
    """Two long lines, and what stands between them."""
    return [Latency(delay=first), *between, Latency(delay=second)]


def chain_of(*specs):
    """Its answer's head has come through."""
    request = RequestHead(b"GET", b"/", final=True)
    chain = Chain([Placed(0, None, spec, Context(Random(1), request)) for spec in specs], began=0.0)
    chain.start(0.0)
    chain.request.push_control(request, 0.0)
    chain.response.push_control(ResponseHead(200), 0.0)
    while chain.due <= 2.0:
        chain.wake(chain.due)
    chain.response.take(2.0)
    return chain


def test_two_lines_are_one_ring_apart():
    chain = chain_of(*far(Headers(add=((b"a", b"b"),))))
    chain.response.push([Data(DATA)], 2.0)
    assert chain.due == 4.0
    chain.wake(4.0)
    assert chain.due == math.inf
    assert [event.payload for event in chain.response.take(4.0)] == [DATA]


def test_a_late_ring_of_the_first_does_not_make_the_second_later():
    chain = chain_of(*far())
    chain.response.push([Data(DATA)], 2.0)
    chain.response.push([Data(b"second")], 3.75)  # until now nobody has looked whether the first is on its second line
    chain.wake(4.0)
    assert [event.payload for event in chain.response.take(4.0)] == [DATA]
    assert chain.due == 5.75


@pytest.mark.parametrize(
    ("between", "due"),
    [
        (Cut(at=Trigger(bytes=1000)), 4.0),
        (Cut(at=Trigger(bytes=5)), 3.0),
        (Timeout(idle=5.0), 4.0),
        (Timeout(idle=1.5), 2.5),
    ],
)
def test_what_stands_between_and_could_act_is_asked_in_time(between, due):
    chain = chain_of(*far(between, first=1.0 - 2**-20))
    chain.response.push([Data(DATA)], 2.0)
    assert chain.due == pytest.approx(due, abs=0.001)


def test_a_cut_between_two_lines_comes_when_its_event_does(play):
    between = Cut(at=Trigger(event=2), then=CLEAN)
    played = play(far(between), [(1.0, DATA), (1.5, DATA), (2.25, DATA)])
    assert played.body == [(3.0, DATA), (3.5, DATA)]
    assert played.cancelled_at == 2.5
    assert played.end == (3.5, End())


def test_the_room_of_a_line_is_given_back_in_time(play):
    small = Latency(delay=1.0, capacity=len(DATA))
    played = play([small, Latency(delay=1.0)], [(1.0, [DATA, DATA]), (9.0, End())])
    assert played.body == [(3.0, DATA), (4.0, DATA)]


def test_what_comes_unseen_counts_where_it_goes_on_unseen(play):
    """Three lines: what leaves the first unseen must not find room in the third that the second has taken already."""
    lines = [Latency(delay=0.5), Latency(delay=1.0), Latency(delay=2.25, capacity=20)]
    played = play(lines, [(0.0, DATA), (1.0, DATA), (1.25, [DATA, DATA]), (9.0, End())])
    assert [time for time, _ in played.body] == [3.75, 4.75, 5.0, 6.0]


def test_a_client_that_leaves_meets_what_is_where_it_should_be(play):
    played = play(far(Cut(at=Trigger(event=9))), [(1.0, DATA), (2.5, "hangup")])
    assert played.cancelled_at == 2.5


lines = st.builds(Latency, delay=st.sampled_from([0.5, 1.0, 2.25]), capacity=st.sampled_from([20, 100, 10_000]))
others = st.one_of(
    st.builds(Cut, at=st.builds(Trigger, event=st.integers(1, 6)), then=st.just(CLEAN)),
    st.builds(Cut, at=st.builds(Trigger, bytes=st.integers(1, 60)), side=st.sampled_from([None, "client"])),
    st.builds(Timeout, idle=st.sampled_from([0.75, 1.0, 3.0])),
)
reads = st.lists(st.sampled_from([DATA, b"data", b": 2\n\n", b"x" * 15]), min_size=1, max_size=3)


@settings(max_examples=60)
@given(
    hops=st.lists(st.lists(st.one_of(lines, lines, others), min_size=1, max_size=3), min_size=2, max_size=3),
    gaps=st.lists(st.tuples(st.sampled_from([0.0, 0.25, 1.0, 2.5]), reads), min_size=2, max_size=12),
    room=st.sampled_from([None, 30]),
)
def test_nobody_can_tell(hops, gaps, room, play):
    """Against a chain that rings for everything."""
    now, script = 0.0, []
    for gap, pieces in gaps:
        now += gap
        script.append((now, pieces))
    play(hops, [*script, (now + 0.5, 500), (now + 4.0, End())], room=room, until=60.0)


def test_a_silence_behind_what_was_blocked_for_a_moment_is_not_taken_for_the_next_longer_limit(play):
    """While its output was blocked the clock of `idle` stood still, and the other limit was the nearest."""
    faults = [Inject(comment=" inserted", at=Trigger(event=1)), Timeout(first_event=2.0, idle=0.25)]
    assert play(faults, [(0.0, [DATA] * 3)], window=20).end[0] == 0.25


def test_each_line_of_this_test_does_ring_less_than_a_watched_one():
    script = [(float(when), DATA) for when in range(1, 20)]
    rings = []
    for lazy in (True, False):
        seen = []
        wake = Chain.wake
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Chain, "wake", lambda chain, now, seen=seen: (seen.append(now), wake(chain, now)))
            run(far(first=0.25, second=0.5), script, lazy=lazy)
        rings.append(len(seen))
    assert rings[0] < 0.6 * rings[1]
