"""The signals that end `run` and `origin`, from the first line of the command to its last.

One that comes before there is anything to end leaves the program at once; then whoever waits hears of it; and once all is
done but the exit status, none changes that any more, unless that takes long, as where a report goes to a pipe that nobody
reads. Rules: who has us ignore SIGHUP or SIGQUIT, as `nohup` does the first, is obeyed; SIGINT and SIGTERM always end. Loads nothing: it is there before
whatever takes time to load. Must not know: what is ended.
"""

import contextlib
import math
import signal
import sys
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import trio

ENDS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
LONG = 1.0
"""Seconds for what is to be done behind the last exchange; a signal that comes later ends that too."""


class Ends:
    """`with` it around the command; in the main thread."""

    _news: "trio.Event"

    def __init__(self) -> None:
        self.count = 0
        """How many there have been."""
        self._closing = math.inf
        """Since when everything is over but reports and verdicts."""
        self._ring: Callable[[], None] | None = None
        self._hearing = False
        self._taken: list[signal.Signals] = []

    def __enter__(self) -> "Ends":
        for number in (getattr(signal, name) for name in ENDS if hasattr(signal, name)):
            if signal.getsignal(number) is not signal.SIG_IGN or number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, self._heard)
                self._taken.append(number)
        return self

    def __exit__(self, *_: object) -> None:
        # Python gives its own handlers up before it has ended; what is ignored stays so.
        for number in self._taken:
            signal.signal(number, signal.SIG_IGN)
        self._mask(blocked=False)

    def over(self) -> None:
        """The Trio run is over; what is still to be done is short, and a signal that comes much later ends it."""
        self.close()
        self._mask(blocked=False)

    def _mask(self, *, blocked: bool) -> None:
        if sys.platform != "win32":
            signal.pthread_sigmask(signal.SIG_BLOCK if blocked else signal.SIG_UNBLOCK, self._taken)

    def _heard(self, _number: int, _frame: FrameType | None) -> None:
        self.count += 1
        if self._hearing:
            return  # signals by the thousand come faster than each is told of, and would stand one in the other
        self._hearing = True
        try:
            if time.monotonic() - self._closing > LONG:
                raise SystemExit(3)
            if self._ring is None:
                raise SystemExit(0)
            self._ring()
        finally:
            self._hearing = False

    def hold(self) -> None:
        """A Trio run begins, in which one that comes is to be found by `listening`."""
        self._ring = _nothing

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """In that run: from now on `heard` tells."""
        import trio  # noqa: PLC0415 - loaded by now

        self._news = trio.Event()
        token = trio.lowlevel.current_trio_token()
        self._ring = lambda: token.run_sync_soon(self._wake, idempotent=True)
        try:
            yield
        finally:
            self._ring = _nothing
            # Trio takes down what signals are written to; thousands that come meanwhile would each be told of on stderr.
            self._mask(blocked=True)

    def close(self) -> None:
        """The last exchange is over."""
        self._closing = time.monotonic()

    def _wake(self) -> None:
        rung, self._news = self._news, type(self._news)()
        rung.set()

    async def heard(self, count: int = 1) -> None:
        """Until there have been so many."""
        while self.count < count:
            await self._news.wait()


def _nothing() -> None:
    pass
