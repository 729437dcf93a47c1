"""What a stalling fault is made of: pauses, what leaves ahead of the queue, timers and looks at rest."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

from chaosproxy.chain.actions import Ahead, Floor, Pause
from chaosproxy.chain.fault import Condition, FaultSpec
from chaosproxy.chain.trigger import Trigger
from chaosproxy.chain.triggered import Triggered
from chaosproxy.model.messages import Data, End, Interim, ResponseHead
from chaosproxy.model.vocabulary import Moment
from chaosproxy.testing.play import POST, SSE, Upload

TICKS = [(float(number), b"data: %d\n\n" % number) for number in range(1, 7)]
WHOLE = [*TICKS, (7.0, End())]
BEAT = b": beat\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop(FaultSpec):
    """Holds back what is behind the place, and says something every `beat` seconds."""

    name: ClassVar[str] = "stop"
    edits_body: ClassVar[bool] = True

    until: float
    floor: bool = False
    beat: float = 0.0
    looks: bool = False
    room: int = 1000

    def start(self, context):
        return RunningStop(self, context)


class RunningStop(Triggered):
    def __init__(self, spec, context):
        super().__init__(spec.at, context)
        self._spec = spec
        self.capacity = spec.room
        self.looks = spec.looks
        self.seen = b""

    def saw(self, data):
        self.seen += data.payload

    def fire(self, now):
        if self._spec.beat:
            self.due = now + self._spec.beat
        until = self._spec.until
        return (Floor(until) if self._spec.floor else Pause(until),)

    def wake(self, now):
        self.due = now + self._spec.beat
        if self._spec.looks:
            return (Ahead(Data(b"[%d]" % len(self.seen))),)
        return (Ahead(Data(BEAT)),)


def times(played):
    return [time for time, _ in played.body]


def test_a_pause_holds_only_what_is_behind_it(play):
    played = play([Stop(at=Trigger(event=2), until=4.5)], WHOLE)
    assert times(played) == [1.0, 2.0, 4.5, 4.5, 5.0, 6.0]


def test_a_second_pause_lets_go_what_the_first_has_held(play):
    early, late = Stop(at=Trigger(event=2), until=4.5), Stop(at=Trigger(event=3), until=6.5)
    assert times(play([early, late], WHOLE)) == [1.0, 2.0, 4.5, 6.5, 6.5, 6.5]


def test_a_floor_holds_what_waits_already_too(play):
    hops = [Stop(at=Trigger(event=2, every=1, times=2), until=9.0, floor=True)]
    assert times(play(hops, WHOLE)) == [1.0, 2.0, 9.0, 9.0, 9.0, 9.0]


def test_in_one_piece_it_is_cut_at_the_place(play):
    played = play([Stop(at=Trigger(event=2), until=4.5)], [(1.0, b"".join(data for _, data in TICKS))])
    assert [(time, len(payload)) for time, payload in played.body] == [(1.0, 18), (4.5, 36)]


def test_the_head_waits_too(play):
    played = play([Stop(at=Trigger(time=0.5), until=4.5)], [(1.0, Interim(103)), (1.0, SSE), *WHOLE[1:]])
    assert [time for time, _ in played.out[:4]] == [4.5] * 4


@pytest.mark.parametrize(("moment", "expected"), [(Moment.REQUEST, [4.5, 4.5]), (Moment.REQUEST_END, [0.0, 4.5])])
def test_the_request_waits_where_it_stopped(play, moment, expected):
    script = [(0.5, Upload(End())), *WHOLE]
    played = play([Stop(at=Trigger(moment=moment), until=4.5)], script, request=POST)
    assert [time for time, _ in played.request] == expected


def test_while_it_lasts_the_room_is_its_own_and_afterwards_none(play):
    stop = Stop(at=Trigger(event=1), until=50.0, room=20)
    many = [(1.0, [b"data: 1\n\n"] * 20)]
    assert play([stop], many, until=40.0).admitted == 9 + 27
    assert len(play([stop], many).body) == 20
    afterwards = [TICKS[0], (60.0, [b"data: 1\n\n"] * 20)]
    assert play([stop], afterwards, room=9, window=9).admitted == 9 + 9


# ---- ahead of the queue


def test_what_goes_ahead_stands_in_front_of_the_queue(play):
    played = play([Stop(at=Trigger(event=2), until=5.5, beat=1.5)], [*TICKS[:5], (5.0, End())], until=5.4)
    assert played.body == [*TICKS[:2], (3.5, BEAT), (5.0, BEAT)]


def test_the_end_waits_behind_it(play):
    played = play([Stop(at=Trigger(moment=Moment.END), until=4.0, beat=1.0)], [(1.0, b"data: 1\n\n"), (1.5, End())])
    assert played.body == [(1.0, b"data: 1\n\n"), (2.5, BEAT), (3.5, BEAT)]
    assert played.end == (4.0, End())


def test_before_the_head_it_is_dropped(play):
    stop = Stop(at=Trigger(time=0.5), until=4.0, beat=1.0)
    assert play([stop], [(3.0, SSE)], until=3.9).out == []
    assert play([stop], [(1.0, Interim(103)), (3.0, SSE)], until=3.9).out == []
    assert [time for time, _ in play([stop], [(3.0, SSE)], until=5.0).out] == [4.0, 4.5]


def test_without_room_it_is_dropped(play):
    stop = Stop(at=Trigger(event=1), until=40.0, beat=1.0)
    played = play([stop], [(1.0, b"data: 1\n\n"), (20.5, 1000)], room=0, window=10, until=22.0)
    assert [time for time, _ in played.body] == [20.5, 20.5, 21.0, 22.0]
    assert played.admitted == 9


def test_for_a_client_that_has_left_it_is_dropped(play):
    played = play([Stop(at=Trigger(event=1), until=40.0, beat=1.0)], [TICKS[0], (2.5, "hangup")], until=30.0)
    assert [time for time, _ in played.body] == [1.0, 2.0]
    assert played.cancelled_at == 2.5


# ---- looking


def test_who_looks_sees_everything_up_to_the_place(play):
    script = [(1.0, b"data: 1\n\nda"), (2.0, b"ta: 2\n\n"), (3.0, b"data: 3\n\n")]
    played = play([Stop(at=Trigger(bytes=15), until=9.0, beat=0.5, looks=True)], script, until=4.0)
    beats = [payload for time, payload in played.body if payload.startswith(b"[")]
    assert beats == [b"[18]", b"[18]", b"[27]", b"[27]"]  # at 2.5, 3.0 (before what comes then), 3.5, 4.0


def test_who_does_not_apply_is_not_asked(play):
    stop = Stop(at=Trigger(bytes=1), until=9.0, looks=True, if_=Condition(status=500))
    played = play([stop], WHOLE)
    assert (times(played), played.not_fired) == ([time for time, _ in TICKS], [("stop", "if")])
    assert isinstance(played.out[0][1], ResponseHead)


def test_what_is_due_on_both_ways_at_one_instant_leaves_on_both(play):
    """The request that is let go has the other way planned anew, where something is due at that very instant."""
    stop = Stop(at=Trigger(moment=Moment.REQUEST), until=4.5)
    script = [(0.0, SSE), (0.0, Upload(b"x")), (0.0, b"data: 1\n\n"), (0.0, Upload(End()))]
    played = play([stop], script, request=POST)
    assert [time for time, _ in played.request] == [4.5] * 3
    assert [time for time, _ in played.out] == [4.5] * 2
