"""`every` and `times`: firing again, counted on from the first place."""

from dataclasses import dataclass
from random import Random
from typing import ClassVar

import pytest

from chaosproxy.chain.actions import WAKE, Note
from chaosproxy.chain.fault import Condition, Context, FaultSpec
from chaosproxy.chain.trigger import Trigger
from chaosproxy.chain.triggered import Triggered
from chaosproxy.model.messages import Data, End
from chaosproxy.model.vocabulary import Way
from chaosproxy.testing.play import GET

TICKS = [(float(number), b"data: %d\n\n" % number) for number in range(1, 11)]
WHOLE = [*TICKS, (12.0, End())]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark(FaultSpec):
    """Writes down when it fires."""

    name: ClassVar[str] = "mark"
    ways: ClassVar[frozenset[Way]] = frozenset(Way)

    def start(self, context):
        return RunningMark(self.at, context)


class RunningMark(Triggered):
    def fire(self, now):
        return (Note("fired", self._place),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp(FaultSpec):
    """Puts a byte in."""

    name: ClassVar[str] = "stamp"
    edits_body: ClassVar[bool] = True

    def start(self, context):
        return RunningStamp(self.at, context)


class RunningStamp(Triggered):
    def fire(self, now):
        return (Data(b"|"),)


@pytest.mark.parametrize(
    ("at", "times"),
    [
        (Trigger(event=3), [3]),
        (Trigger(event=3, every=2), [3, 5, 7, 9]),
        (Trigger(event=3, every=2, times=2), [3, 5]),
        (Trigger(bytes=9, every=18), [1, 3, 5, 7, 9]),
        (Trigger(chunk=2, every=4), [2, 6, 10]),
        (Trigger(time=2.5, every=3.0), [2.5, 5.5, 8.5, 11.5]),
        (Trigger(time=2.5, every=3.0, times=2), [2.5, 5.5]),
        (Trigger(match="data"), [1]),
        (Trigger(match="data", every=4), [1, 5, 9]),
        (Trigger(match="[2468]", every=2, times=2), [2, 6]),
    ],
)
def test_counts_and_times(play, at, times):
    assert [time for time, _, _ in play([Mark(at=at)], WHOLE).fired] == times


def test_several_firings_in_one_read_each_stand_at_their_place(play):
    played = play([Stamp(at=Trigger(bytes=2, every=3))], [(1.0, b"abcdefghij"), (2.0, End())])
    assert played.data == b"ab|cde|fgh|ij"


def test_as_often_as_asked_and_no_more_however_many_there_are_in_one_read(play):
    played = play([Mark(at=Trigger(match="d", every=1, times=2))], [(1.0, b"data: d\n\n" * 4), (2.0, End())])
    assert [time for time, _, _ in played.fired] == [1.0, 1.0]
    assert played.data == b"data: d\n\n" * 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Rouse(FaultSpec):
    """Wakes at its place, and has nothing to look at."""

    name: ClassVar[str] = "rouse"

    def start(self, context):
        return RunningRouse(self.at, context)


class RunningRouse(Triggered):
    def fire(self, now):
        return (WAKE,)


def test_one_that_wakes_at_its_place_passes_what_it_does_not_look_at(play):
    assert play([Rouse(at=Trigger(event=2))], WHOLE).body == TICKS


class Announced(RunningMark):
    """Has a look at the end of its own, beside its place."""

    def control(self, event, now):
        return (Note("fired", "the end"), event) if isinstance(event, End) else (event,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Announce(FaultSpec):
    name: ClassVar[str] = "announce"

    def start(self, context):
        return Announced(self.at, context)


def test_one_that_looks_at_control_events_itself_is_shown_them_at_rest(play):
    assert play([Announce(at=Trigger(event=2))], WHOLE).fired == [
        (2.0, "announce", "after event 2"),
        (12.0, "announce", "the end"),
    ]


def test_silence_is_counted_anew_from_each_firing_and_each_byte(play):
    at = Trigger(idle=2.0, every=1.0, times=4)
    played = play([Mark(at=at)], [(1.0, b"x"), (5.5, b"x"), (20.0, End())])
    assert [time for time, _, _ in played.fired] == [3.0, 4.0, 5.0, 6.5]


def test_what_was_missed_is_not_made_up_for(play):
    """The condition is decided at 4.2, when the times 1, 2, 3 and 4 have passed."""
    mark = Mark(at=Trigger(time=1.0, every=1.0, times=3), if_=Condition(status=200))
    played = play([mark], [(4.2, b"x"), (20.0, End())])
    assert [time for time, _, _ in played.fired] == [4.2, 5.0, 6.0]


def test_speed_divides_the_times(play):
    fast = Context(Random(0), GET, speed=10.0)
    played = play([Mark(at=Trigger(time=2.0, every=3.0, times=2))], [(9.0, End())], context=fast)
    assert [time for time, _, _ in played.fired] == [0.2, 0.5]
    played = play([Mark(at=Trigger(idle=2.0))], [(0.1, b"x"), (9.0, End())], context=fast)
    assert [time for time, _, _ in played.fired] == [0.3]


@pytest.mark.parametrize(
    ("at", "places"),
    [
        (Trigger(event=2, every=3, times=3), ["after event 2", "after event 5", "after event 8"]),
        (Trigger(bytes=5, every=10, times=2), ["after byte 5", "after byte 15"]),
        (Trigger(chunk=1, every=1, times=2), ["after chunk 1", "after chunk 2"]),
        (Trigger(time=0.1, every=0.2, times=3), ["at 100ms", "at 300ms", "at 500ms"]),
        (Trigger(idle=0.3, every=0.2, times=2), ["after 300ms of silence", "after 200ms of silence"]),
    ],
    ids=str,
)
def test_each_says_where_it_was(play, at, places):
    assert [detail for _, _, detail in play([Mark(at=at)], WHOLE).fired] == places


def test_a_time_is_that_of_the_scenario_whatever_the_speed_and_whatever_was_missed(play):
    twice = Context(Random(0), GET, speed=2.0)
    at = Trigger(time=2.0, every=2.0, times=2)
    assert [detail for _, _, detail in play([Mark(at=at)], WHOLE, context=twice).fired] == ["at 2s", "at 4s"]
    late = Mark(at=Trigger(time=2.0, every=1.0, times=2), if_=Condition(status=200))
    fired = play([late], [(4.2, b"data: 1\n\n"), (9.0, End())]).fired
    assert [(time, detail) for time, _, detail in fired] == [(4.2, "at 2s"), (5.0, "at 5s")]
