"""One task's waiting for a time: by a timer of the kernel, watched as sockets are, or by the event loop's own deadline.

epoll counts in whole milliseconds and rounds up, so the loop's own deadline is met half a millisecond late, and each costs
a cancellation. A timer of the kernel (Linux, timerfd_create(2)) is met within a tenth of that. The loop's deadline serves
elsewhere, and where time is not the machine's: a virtual clock must see what it has to jump to.
Must not know: whose times these are.
"""

import ctypes
import math
import os
import sys
import time
from typing import Protocol

import trio

_NANO = 1_000_000_000
_LONGEST = 1e9
"""Seconds; who waits longer is woken in between, and waits on."""


class Timer(Protocol):
    """One time at a time. Of the clock of trio.current_time; may be early, for whoever looks at the clock again."""

    apart: float
    """Seconds that should lie between one time and the next, where there are many: what is due in between is better done
    together."""

    def set(self, time: float) -> None:
        """Wake at `time` (infinite: never), and no more at what was set before."""
        ...

    async def wait(self) -> None:
        """Until the time that is set; then another is to be set before the next `wait`."""
        ...

    def close(self) -> None: ...


class LoopTimer:
    """By a deadline of the event loop."""

    apart = 0.0

    def __init__(self) -> None:
        self._time = math.inf
        self._scope = trio.CancelScope()

    def set(self, time: float) -> None:
        self._time = self._scope.deadline = time

    async def wait(self) -> None:
        self._scope = trio.CancelScope(deadline=self._time)
        with self._scope:
            await trio.sleep_forever()

    def close(self) -> None:
        pass


class _Spec(ctypes.Structure):
    """struct itimerspec: the interval, which stays 0, and the value."""

    _fields_ = [(name, ctypes.c_long) for name in ("every", "every_nanoseconds", "seconds", "nanoseconds")]


class KernelTimer:
    """By a descriptor that becomes readable. OSError where there is none to be had."""

    apart = 0.0005
    """Who has thousands of deadlines a second pays for each turn of the loop; the loop's own deadlines are 1 ms apart."""

    def __init__(self) -> None:
        libc = _LIBC
        if libc is None or not hasattr(libc, "timerfd_create"):
            raise OSError("no timerfd_create")
        # TFD_NONBLOCK and TFD_CLOEXEC are the flags of open(2).
        self._descriptor: int = libc.timerfd_create(time.CLOCK_MONOTONIC, os.O_NONBLOCK | os.O_CLOEXEC)
        if self._descriptor < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        self._settime = libc.timerfd_settime
        self._spec = _Spec()
        self._pointer = ctypes.byref(self._spec)

    def set(self, time: float) -> None:
        # Setting it makes it unreadable as reading would, and 0 disarms it.
        spec = self._spec
        if time == math.inf:
            spec.seconds = spec.nanoseconds = 0
        else:
            left = min(time - trio.current_time(), _LONGEST)
            spec.seconds, spec.nanoseconds = divmod(max(1, math.ceil(left * _NANO)), _NANO)
        self._settime(self._descriptor, 0, self._pointer, None)

    async def wait(self) -> None:
        await trio.lowlevel.wait_readable(self._descriptor)

    def close(self) -> None:
        os.close(self._descriptor)


_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" and sys.maxsize > 2**32 else None


def timer() -> Timer:
    """The more exact one that there is here. Call inside a running event loop."""
    if _is_real():
        try:
            return KernelTimer()
        except OSError:
            pass  # too many descriptors, or a kernel without
    return LoopTimer()


def _is_real() -> bool:
    """A second of the loop's clock is one of the machine's, and nobody jumps over it."""
    clock = trio.lowlevel.current_clock()
    slept = clock.deadline_to_sleep_time(clock.current_time() + 1)
    return 0.5 < slept <= 1 and not hasattr(clock, "autojump_threshold")
