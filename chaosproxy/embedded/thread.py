"""A Trio run in a thread of its own: started, spoken to, ended from any other thread.

What it raises is raised again in the thread that starts, asks or ends it. A child of a fork has no such thread, and is told
so. Must not know: proxies.
"""

import contextlib
import math
import os
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

import trio

from chaosproxy.errors import alone

WITHIN = 30.0
"""Seconds for a run to answer, or to end after it was told to; only a bug takes longer."""
_LOOK = 0.1
"""Seconds between looks whether a run that has not answered is still there."""

T = TypeVar("T")
R = TypeVar("R")


class TrioThread(Generic[T]):
    """`async with context` in a thread, for as long as nobody calls `stop`."""

    def __init__(self, context: contextlib.AbstractAsyncContextManager[T], ended: Callable[[], None]) -> None:
        """`ended` is called, in the thread, once the run is over."""
        self._context, self._ended = context, ended
        self._ready = threading.Event()
        self._told: trio.Event | None = None
        self._token: trio.lowlevel.TrioToken | None = None
        self._value: list[T] = []
        self._process = os.getpid()
        self.failure: BaseException | None = None
        """What ended the run, if it was not told to end."""
        # A daemon: a program that has lost its way out of the block can still leave.
        self._thread = threading.Thread(target=self._run, name="chaosproxy", daemon=True)

    def start(self) -> T:
        """What the context gives."""
        self._thread.start()
        try:
            self._ready.wait()
        except BaseException:  # Ctrl-C: whoever asked will not be there to end it
            self._ready.wait(WITHIN)
            if self._value:
                self.stop()
            raise
        if not self._value:
            self._thread.join()
            raise self._over()
        return self._value[0]

    def check(self) -> None:
        """RuntimeError in a child of a fork: what it shares with the run stands still, locks too."""
        if os.getpid() != self._process:
            raise RuntimeError(
                f"the proxy runs in process {self._process}, and this is a fork of it: "
                "clients here may use proxy.url, everything else of the proxy is there alone"
            )

    def call(self, function: Callable[[], R]) -> R:
        """`function` inside the run, and what it returns. RuntimeError if the run is over, or does not answer."""
        self.check()
        answer: list[R] = []
        raised: list[BaseException] = []
        done = threading.Event()

        def inside() -> None:
            try:
                answer.append(function())
            except BaseException as error:  # noqa: BLE001 - raised again where it was asked
                raised.append(error)
            done.set()

        assert self._token is not None
        try:
            self._token.run_sync_soon(inside)
        except trio.RunFinishedError:
            raise self._over() from None
        for _ in range(math.ceil(WITHIN / _LOOK)):
            if done.wait(_LOOK):
                break
            if not self._thread.is_alive() and not done.is_set():
                raise self._over()
        else:
            raise RuntimeError(f"the proxy's thread has not answered within {WITHIN:g} s")
        if raised:
            raise raised[0]
        return answer[0]

    def stop(self) -> None:
        """End the run and wait for its end; raises what it failed with. In a child of a fork there is none."""
        if os.getpid() != self._process:
            return
        assert self._token is not None
        assert self._told is not None
        with contextlib.suppress(trio.RunFinishedError):  # it has ended by itself, and `failure` says of what
            self._token.run_sync_soon(self._told.set)
        self._thread.join(WITHIN)
        if self.failure is not None:
            raise self.failure
        if self._thread.is_alive():
            raise RuntimeError(f"the proxy's thread has not ended within {WITHIN:g} s")

    def _over(self) -> BaseException:
        return self.failure or RuntimeError("the proxy has ended, as its block has")

    def _run(self) -> None:
        try:
            trio.run(self._main)
        except BaseException as error:  # noqa: BLE001 - raised again by whoever starts, asks or stops
            self.failure = alone(error)
        finally:
            self._ready.set()
            self._ended()

    async def _main(self) -> None:
        self._token, self._told = trio.lowlevel.current_trio_token(), trio.Event()
        async with self._context as value:
            self._value.append(value)
            self._ready.set()
            # Not a cancellation, which would reach the tasks of the context before its end does.
            await self._told.wait()
