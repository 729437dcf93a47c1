"""One alarm for all: never early, the latest word counts, everybody is rung."""

import gc
import math
import weakref

import trio
import trio.testing

from chaosproxy.proxy.alarm import MANY, Alarm
from chaosproxy.wire.timer import LoopTimer


class Sleeper:
    def __init__(self) -> None:
        self.armed = math.inf
        self.rung: list[float] = []

    def ring(self, now: float) -> None:
        self.rung.append(now)


async def test_everybody_is_rung_at_their_time(autojump_clock, nursery):
    alarm = Alarm()
    nursery.start_soon(alarm.run)
    sleepers = [Sleeper() for _ in range(3)]
    for sleeper, time in zip(sleepers, (3, 1, 2), strict=True):
        alarm.set(sleeper, time)
    await trio.sleep(10)
    assert [sleeper.rung for sleeper in sleepers] == [[3], [1], [2]]


async def test_an_earlier_time_replaces_a_later_one(autojump_clock, nursery):
    alarm, sleeper = Alarm(), Sleeper()
    nursery.start_soon(alarm.run)
    alarm.set(sleeper, 5)
    await trio.sleep(1)
    alarm.set(sleeper, 2)
    await trio.sleep(10)
    assert sleeper.rung == [2]


async def test_whoever_is_rung_may_ask_for_more(autojump_clock, nursery):
    alarm = Alarm()

    class Again(Sleeper):
        def ring(self, now: float) -> None:
            super().ring(now)
            if len(self.rung) < 3:
                alarm.set(self, now + 1)

    sleeper = Again()
    nursery.start_soon(alarm.run)
    alarm.set(sleeper, 1)
    await trio.sleep(10)
    assert sleeper.rung == [1, 2, 3]


async def test_whoever_is_over_is_not_rung(autojump_clock, nursery):
    alarm, sleeper = Alarm(), Sleeper()
    nursery.start_soon(alarm.run)
    alarm.set(sleeper, 1)
    alarm.forget(sleeper)
    await trio.sleep(10)
    assert sleeper.rung == []


async def test_whoever_is_over_is_not_held_in_memory(autojump_clock, nursery):
    """An exchange of a second that may last an hour is not kept for an hour."""
    alarm, longest = Alarm(), Sleeper()
    nursery.start_soon(alarm.run)
    alarm.set(longest, 3600)
    gone = []
    for _ in range(1000):
        sleeper = Sleeper()
        gone.append(weakref.ref(sleeper))
        alarm.set(sleeper, 3600)
        alarm.set(sleeper, 1800)
        alarm.forget(sleeper)
    del sleeper
    gc.collect()
    assert sum(one() is not None for one in gone) < 200
    await trio.sleep(4000)
    assert longest.rung == [3600]


async def test_the_timer_is_set_once_for_all_who_are_due_together(autojump_clock, nursery, monkeypatch):
    """And not at all where a deadline only moves farther away."""
    times: list[float] = []

    class Counted(LoopTimer):
        def set(self, time: float) -> None:
            times.append(time)
            super().set(time)

    monkeypatch.setattr("chaosproxy.proxy.alarm.timer", Counted)
    alarm = Alarm()

    class Again(Sleeper):
        def ring(self, now: float) -> None:
            super().ring(now)
            if len(self.rung) == 1:
                alarm.set(self, now + 1)

    sleepers = [Again() for _ in range(100)]
    for sleeper in sleepers:
        alarm.set(sleeper, 1)
    nursery.start_soon(alarm.run)
    await trio.sleep(0.5)
    alarm.set(Sleeper(), 7)
    await trio.sleep(5)
    assert {tuple(sleeper.rung) for sleeper in sleepers} == {(1, 2)}
    assert times == [1, 2, 7]


async def test_never_early_in_real_time(nursery):
    alarm, done = Alarm(), trio.Event()
    asked, early = [], []

    class Strict(Sleeper):
        def ring(self, now: float) -> None:
            super().ring(now)
            early.extend(["early"] if now < asked[-1] or trio.current_time() < asked[-1] else [])
            if len(self.rung) == 50:
                done.set()
                return
            asked.append(now + len(self.rung) / 1e5)
            alarm.set(self, asked[-1])

    nursery.start_soon(alarm.run)
    sleeper = Strict()
    asked.append(trio.current_time())
    alarm.set(sleeper, asked[-1])
    with trio.fail_after(20):
        await done.wait()
    assert not early


async def test_what_is_due_close_together_is_rung_together(autojump_clock, nursery, monkeypatch):
    """Where there are few, each is rung to the moment; thousands a second share their turns. Nobody is early."""

    class Sparing(LoopTimer):
        apart = 0.5

    monkeypatch.setattr("chaosproxy.proxy.alarm.timer", Sparing)
    alarm = Alarm()
    nursery.start_soon(alarm.run)
    few = [1 - number / 64 for number in range(MANY)]
    many = [1 + number / 8 for number in range(1, 5)] + [2.25]
    far = 2.25 + 4 * MANY * 0.5
    asked = [*few, *many, far, far + 1 / 64]
    sleepers = [Sleeper() for _ in asked]
    for sleeper, time in zip(sleepers, asked, strict=True):
        alarm.set(sleeper, time)
    late = Sleeper()
    await trio.sleep(2.5)
    alarm.set(late, 2.625)
    await trio.sleep(100)
    shared = [1.125, 1.625, 1.625, 1.625, 2.25]
    assert [sleeper.rung for sleeper in sleepers] == [[time] for time in [*few, *shared, far, far + 1 / 64]]
    assert late.rung == [2.75]


async def test_one_far_time_is_kept_once(autojump_clock, nursery):
    """A limit of a day behind a delay of a second, at every event."""
    alarm = Alarm()

    class Far(Sleeper):
        def ring(self, now: float) -> None:
            super().ring(now)
            alarm.set(self, 86_400)

    sleeper = Far()
    alarm.set(sleeper, 86_400)
    nursery.start_soon(alarm.run)
    for second in range(1, 1001):
        alarm.set(sleeper, second - 0.5)
        await trio.sleep(1)
    assert len(sleeper.rung) == 1000
    assert len(alarm._heap) < 200
