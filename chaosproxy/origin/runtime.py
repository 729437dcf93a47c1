"""The engine on an event loop: one alarm for all jobs, and who waits for a token is woken.

Must not know: HTTP.
"""

import asyncio
import contextlib
import math

from chaosproxy.origin.engine import Engine, Job, Link


class Generation:
    """One job as its handler sees it."""

    def __init__(self, runtime: "Runtime", job: Job) -> None:
        self._runtime, self._job = runtime, job
        self.progress = asyncio.Event()

    async def made(self, count: int) -> bool:
        """Wait until `count` tokens are made; False if the origin closes."""
        while self._job.made < count:
            if self._runtime.closed:
                return False
            self.progress.clear()
            await self.progress.wait()
        return not self._runtime.closed

    async def ended(self) -> bool:
        """Wait until one token more would be made: an engine learns in a step of its own that there is none. False if
        the origin closes."""
        self.progress.clear()
        if not self._runtime.closed:
            with contextlib.suppress(TimeoutError):  # which is what is waited for
                async with asyncio.timeout_at(self._job.ending):
                    await self.progress.wait()
        return not self._runtime.closed

    def leave(self) -> None:
        """The handler is done with it, whether the job is over or not."""
        self._runtime.leave(self._job)


class Runtime:
    """Runs an engine in real time. `speed` divides the durations of every job."""

    def __init__(self, engine: Engine, speed: float = 1.0) -> None:
        self._engine, self._speed = engine, speed
        self._generations: dict[Job, Generation] = {}
        self._alarm: asyncio.TimerHandle | None = None
        self._answering = 0
        self.closed = False

    def stats(self) -> dict[str, int]:
        """The engine's, and how many handlers are at work."""
        return {**self._engine.stats(), "answering": self._answering}

    def start(self, job: Job) -> Generation:
        """Give a job to the engine. TooLongError as there."""
        job.first, job.gap = job.first / self._speed, job.gap / self._speed
        generation = Generation(self, job)
        self._engine.submit(job, asyncio.get_running_loop().time())
        self._generations[job] = generation
        self._answering += 1
        self._set_alarm()
        return generation

    def leave(self, job: Job) -> None:
        """Its handler stops."""
        del self._generations[job]
        if Link.ENGINE not in self._engine.broken:
            self._engine.abort(job, asyncio.get_running_loop().time())
            self._set_alarm()
        self._answering -= 1

    def close(self) -> None:
        """Nothing more is generated; who waits is told."""
        self.closed = True
        if self._alarm is not None:
            self._alarm.cancel()
        for generation in self._generations.values():
            generation.progress.set()

    def _set_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        due = self._engine.due
        if due < math.inf and not self.closed:
            self._alarm = asyncio.get_running_loop().call_at(due, self._ring, due)

    def _ring(self, due: float) -> None:
        now = max(due, asyncio.get_running_loop().time())  # loops ring up to a tick of their clock early
        for job in self._engine.advance(now):
            if job in self._generations:
                self._generations[job].progress.set()
        self._set_alarm()
