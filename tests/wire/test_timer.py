"""A timer is never early by the clock, the latest word counts, and a virtual clock is followed, not the machine's."""

import math
from pathlib import Path

import pytest
import trio
import trio.testing

from chaosproxy.wire import timer as timers
from chaosproxy.wire.timer import KernelTimer, LoopTimer, timer

REAL = [LoopTimer, *([KernelTimer] if hasattr(timers._LIBC, "timerfd_create") else [])]
needs_kernel = pytest.mark.skipif(KernelTimer not in REAL, reason="no timerfd here")


async def rung(one, time: float) -> None:
    """Wait as the alarm does: whoever is woken early looks at the clock and sets it again."""
    while trio.current_time() < time:
        one.set(time)
        with trio.fail_after(20):
            await one.wait()


@pytest.mark.parametrize("kind", REAL)
async def test_a_time_is_met_and_never_missed(kind):
    one = kind()
    try:
        for ahead in (0.02, 1e-9, 0.0, -1.0, 0.003):
            time = trio.current_time() + ahead
            await rung(one, time)
            assert trio.current_time() >= time
    finally:
        one.close()


@pytest.mark.parametrize("kind", REAL)
async def test_the_latest_word_counts(kind):
    """Set while somebody waits: nearer, it wakes them; put off for ever, it does not."""
    one, woken = kind(), trio.Event()

    async def waits(task_status=trio.TASK_STATUS_IGNORED) -> None:
        task_status.started()
        await one.wait()
        woken.set()

    try:
        one.set(trio.current_time() + 3600)
        async with trio.open_nursery() as nursery:
            await nursery.start(waits)
            one.set(trio.current_time() + 0.05)
            one.set(math.inf)
            other = timer()
            await rung(other, trio.current_time() + 0.15)
            other.close()
            assert not woken.is_set()
            one.set(trio.current_time())
            with trio.fail_after(20):
                await woken.wait()
    finally:
        one.close()


@needs_kernel
async def test_the_kernel_s_timer_is_taken_in_real_time_and_given_back():
    one = timer()
    assert isinstance(one, KernelTimer)
    held = Path(f"/proc/self/fd/{one._descriptor}")
    assert "timerfd" in str(held.readlink())
    one.close()
    assert not held.is_symlink()


@needs_kernel
async def test_without_it_the_loop_s_own_serves(monkeypatch):
    monkeypatch.setattr(timers, "_LIBC", None)
    assert isinstance(timer(), LoopTimer)


@pytest.mark.parametrize(
    "clock",
    [trio.testing.MockClock(autojump_threshold=0), trio.testing.MockClock(rate=1), trio.testing.MockClock(rate=9)],
)
def test_a_virtual_clock_is_followed(clock):
    async def kind() -> type:
        return type(timer())

    assert trio.run(kind, clock=clock) is LoopTimer
