"""Admission: who has room, who is credited, and that nothing stays behind once there is room again."""

import math
from dataclasses import dataclass
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaosproxy.chain.actions import At, Floor, Rest
from chaosproxy.chain.chain import Chain
from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Fault, FaultSpec
from chaosproxy.chain.trigger import Trigger
from chaosproxy.chain.triggered import Triggered
from chaosproxy.errors import FaultBug
from chaosproxy.faults import Buffer, ClientAbort, Cut, Timeout
from chaosproxy.model.messages import Abort, Data, End, Interim, ResponseHead
from chaosproxy.model.vocabulary import Framing
from chaosproxy.testing.play import SSE
from chaosproxy.testing.play import play as watched

TEN = [(float(number), b"0123456789") for number in range(1, 9)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipe(FaultSpec):
    """A second of latency, with room."""

    name: ClassVar[str] = "pipe"
    room: int = 0

    def start(self, context):
        return RunningPipe(self.room)


class RunningPipe(Fault):
    def __init__(self, room):
        self.capacity = room

    def data(self, data, now):
        return (At(now + 1.0, data),)

    def control(self, event, now):
        return (At(now + 1.0, event),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop(FaultSpec):
    name: ClassVar[str] = "stop"
    seconds: float
    room: int = 0

    def start(self, context):
        running = RunningStop(self.at, context)
        running.seconds, running.capacity = self.seconds, self.room
        return running


class RunningStop(Triggered):
    def fire(self, now):
        return (Floor(now + self.seconds),)


def test_without_faults_the_exit_admits_a_window_beyond_what_was_taken(play):
    played = play([], TEN, room=0, window=25)
    assert (played.bytes_in, played.admitted, played.bytes_out) == (80, 30, 0)


def test_what_the_client_takes_at_once_waits_nowhere_however_much_it_is():
    line = Chain([], began=0.0, window=25).response
    line.push_control(ResponseHead(200), 0.0)
    line.take(0.0)
    assert line.pass_through(Data(b"0123456789" * 8), 1.0, room=math.inf)
    assert (line.bytes_out, bool(line.waiting), line.take_admitted()) == (80, False, 80)
    assert not line.pass_through(Data(b"0123456789" * 8), 2.0, room=79)
    assert (line.bytes_out, bool(line.waiting), line.take_admitted()) == (80, True, 80)
    assert not line.pass_through(Data(b"0123456789"), 3.0, room=math.inf)
    assert (line.bytes_out, line.wants(), line.take_admitted()) == (80, False, 0)


def test_a_fault_at_rest_adds_no_room_however_much_it_claims(play):
    resting = [Stop(at=Trigger(event=100), seconds=1.0, room=1000)] * 3 + [Cut(at=Trigger(bytes=10**6))]
    assert play(resting, TEN, room=0, window=25).admitted == 30


def test_an_awake_fault_adds_its_capacity_and_no_more_than_one_event(play):
    assert play([Buffer(bytes=100)], TEN, room=0, window=25).admitted == 80
    # 32 held and 32 let go; then the exit is full, and what was let go counts as held until it leaves.
    many = [(float(number), b"0123456789") for number in range(1, 30)]
    assert play([Buffer(bytes=32)], many, room=0, window=25).admitted == 70


def test_capacity_nought_admits_what_the_next_place_admits(play):
    assert play([Pipe()], TEN, room=0, window=25).admitted == 30


def test_latency_without_room_is_a_throttle_and_with_room_is_none(play):
    burst = [(1.0, b"0123456789")] * 3
    assert [time for time, _ in play([Pipe()], burst).body] == [3.0, 4.0, 5.0]
    assert [time for time, _ in play([Pipe(room=100)], burst).body] == [2.0, 2.0, 2.0]


def test_a_whole_read_passes_in_one_step_where_it_fits(play):
    assert play([], [(1.0, [b"a"] * 5)], room=0, window=100).admitted == 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Waking(FaultSpec):
    """Awake from 5.0 on, and does nothing then either."""

    name: ClassVar[str] = "waking"

    def start(self, context):
        return RunningWaking()


class RunningWaking(Fault):
    rest = Rest(time=5.0, idle=100.0)


def test_a_fault_that_wakes_while_its_output_is_blocked_loses_nothing(play):
    played = play([Waking()], [*TEN, (9.0, 1000), (10.0, b"!")], room=0, window=25)
    assert played.body == [(9.0, b"0123456789")] * 8 + [(10.0, b"!")]


def test_what_waits_moves_up_when_the_client_takes(play):
    played = play([Buffer(bytes=20)], [*TEN, (9.0, End()), (10.0, 30), (11.0, 1000)], room=0, window=25)
    assert [time for time, _ in played.body] == [10.0, 10.0, 11.0, 11.0]
    assert played.data == b"0123456789" * 8
    assert played.admitted == 80
    assert isinstance(played.end[1], End)


def test_a_slow_client_is_never_rung_for(play):
    """What is due and has no room is moved by whoever makes room: `play` fails where a ring does not lead on."""
    played = play([Buffer(bytes=4), Pipe(room=8)], [*TEN, (9.0, End())], room=0, window=5)
    assert played.bytes_out == 0


@settings(max_examples=60)
@given(
    sizes=st.lists(st.integers(1, 50), min_size=1, max_size=4),
    rooms=st.lists(st.integers(1, 40), max_size=8),
    window=st.integers(1, 60),
    split=st.booleans(),
)
def test_everything_comes_in_the_end(sizes, rooms, window, split):
    faults = [Buffer(bytes=size) for size in sizes] + [Pipe(room=7), Stop(at=Trigger(bytes=30), seconds=3.0)]
    script = [*TEN, (9.0, End()), *((10.0 + 5 * number, room) for number, room in enumerate(rooms)), (200.0, 1000)]
    played = watched(faults, script, room=0, window=window, split=split, lazy=False)
    assert played.data == b"0123456789" * 8
    assert played.admitted == 80
    assert isinstance(played.end[1], End)


def test_http2_takes_to_the_byte_and_http1_whole_pieces(play):
    script = [(1.0, b"0123456789"), (2.0, 3), (3.0, 3)]
    assert play([], script, room=1, split=True).body == [(1.0, b"0"), (2.0, b"123"), (3.0, b"456")]
    assert play([], script, room=1).body == [(1.0, b"0123456789")]


def test_control_events_need_no_room_but_keep_their_place():
    chain = Chain([], began=0.0)
    chain.start(0.0)
    line = chain.response
    early = Interim(103)
    line.push_control(early, 0.0)
    line.push_control(SSE, 0.0)
    assert line.take(0.0, 0) == [early, SSE]
    line.push([Data(b"x")], 0.0)
    line.push_control(End(), 0.0)
    assert line.take(0.0, 0) == []
    assert line.waiting
    assert line.take(0.0) == [Data(b"x"), End()]
    assert not line.waiting


def test_the_next_read_is_welcome_until_one_waits():
    chain = Chain([], began=0.0, window=4)
    chain.start(0.0)
    line = chain.response
    line.push_control(ResponseHead(200, framing=Framing.CHUNKED), 0.0)
    line.push([Data(b"12345")], 0.0)
    assert line.wants()
    line.push([Data(b"6"), Data(b"7")], 0.0)
    assert not line.wants()
    assert line.take_admitted() == 5
    line.take(0.0)
    assert line.wants()
    assert (line.take_admitted(), line.take_admitted()) == (2, 0)


# ---- stalls and silence


def test_a_stall_holds_everything_from_its_place_and_lets_it_go_at_once(play):
    stop = [Stop(at=Trigger(bytes=20), seconds=3.5, room=1000)]
    played = play(stop, [*TEN, (9.0, End())])
    assert [time for time, _ in played.body] == [1.0, 2.0, 5.5, 5.5, 5.5, 6.0, 7.0, 8.0]


def test_a_stall_ahead_does_not_sleep_with_nothing_to_hold(play):
    stop = [Stop(at=Trigger(bytes=10), seconds=9.0, room=1000)]
    played = play(stop, [(1.0, b"0123456789"), (8.0, b"x"), (9.0, End())])
    assert played.out[2:] == [(10.0, Data(b"x")), (10.0, End())]


def test_the_idle_clock_stands_still_while_nothing_can_leave(play):
    faults = [Timeout(idle=3.0)]
    played = play(faults, [(1.0, b"12345"), (20.0, 5), (22.5, b"x"), (23.0, End())], room=0, window=5)
    assert played.fired == []
    played = play(faults, [(1.0, b"12345"), (20.0, 5)], room=0, window=5)
    assert played.end[0] == 23.0  # it counts from when the client reads again


def test_the_idle_clock_of_a_place_with_room_before_it_does_not_stand_still(play):
    played = play([Timeout(idle=3.0), Buffer(bytes=100)], [(1.0, b"12345"), (20.0, 5)], room=0, window=5)
    assert played.fired[0][:2] == (4.0, "timeout")


def test_keep_alives_are_looked_through_and_that_clock_stands_still_too(play):
    faults = [Timeout(idle=3.0, ignore=("comments",))]
    script = [
        (1.0, b"data: x\n\n"),
        (2.0, b": c\n\n"),
        (3.0, b": c\n\n"),
        (20.0, 100),
        (22.5, b": c\n\n"),
        (30.0, End()),
    ]
    assert play(faults, script).fired == [(4.0, "timeout", "abort after 3s (idle)")]
    assert play(faults, script, room=0, window=5).fired == [(23.0, "timeout", "abort after 3s (idle)")]


# ---- places that swallow


def test_a_hangup_frees_what_waited_for_the_client(play):
    """The place that ignores it drains what has come and what still comes: nothing stays at the entry."""
    script = [*TEN, (9.0, "hangup"), (10.0, b"more"), (11.0, End())]
    played = play([ClientAbort(mode="ignore")], script, room=0, window=5)
    assert played.cancelled_at is None
    assert played.admitted == played.bytes_in == 84


def test_a_closed_place_swallows_what_its_upstream_still_sends(play):
    played = play([Cut(at=Trigger(bytes=10), side="client")], [*TEN, (9.0, End())], window=5)
    assert (played.data, played.admitted, played.cancelled_at) == (b"0123456789", 80, None)


def test_a_place_that_is_over_does_not_block_a_hop_that_drains(play):
    hops = [[ClientAbort(mode="ignore")], [Cut(at=Trigger(bytes=10), then=(Ending("rst"),))]]
    played = play(hops, [*TEN, (9.0, End())], window=5)
    assert (played.data, played.admitted, played.cancelled_at) == (b"0123456789", 80, None)
    assert isinstance(played.end[1], Abort)


# ---- what a fault may not do


class Ringing(Fault):
    due = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rings(FaultSpec):
    name: ClassVar[str] = "rings"

    def start(self, context):
        return Ringing()


class Raising(Fault):
    def data(self, data, now):
        raise KeyError(data.payload)


@dataclass(frozen=True, slots=True, kw_only=True)
class Raises(FaultSpec):
    name: ClassVar[str] = "raises"

    def start(self, context):
        return Raising()


class Emptying(Fault):
    def data(self, data, now):
        return (Data(b""), data, Data(b""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Empties(FaultSpec):
    name: ClassVar[str] = "empties"

    def start(self, context):
        return Emptying()


def test_a_fault_whose_deadline_does_not_move_is_named(play):
    with pytest.raises(FaultBug, match=r"'rings' in hop 0.*still due"):
        play([Rings()], [])


def test_what_a_fault_says_of_a_secret_is_masked():
    said = FaultBug(
        0, "own", "x", ValueError("https://me:pa55@host/?api_key=canary-7 failed; authorization: Bearer c-8")
    )
    assert not [secret for secret in ("pa55", "canary-7", "c-8") if secret in str(said)]
    assert "failed" in str(said)


def test_a_fault_that_raises_is_named_with_what_it_raised(play):
    with pytest.raises(FaultBug, match=r"'raises' in hop 0 failed on Data: KeyError\(b'x'\)"):
        play([Raises()], [(1.0, b"x")])


def test_an_empty_piece_is_dropped_for_on_http1_it_would_be_the_end(play):
    assert play([Empties()], [(1.0, b"x")]).body == [(1.0, b"x")]
