"""One alarm for all: never early, the latest word counts, everybody is rung."""

import math

import trio
import trio.testing

from chaosproxy.proxy.alarm import Alarm


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
    sleeper.armed = -math.inf
    await trio.sleep(10)
    assert sleeper.rung == []
