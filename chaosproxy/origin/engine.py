"""The engine: slots, KV blocks and the timetable of every token. No clock and no I/O: the caller says what time it is.

A job waits until a slot and the blocks for its prompt and first token are free, in order of arrival. Its k-th token
(from 0) is made `first + k * gap` after its admission: a timetable, not a row of sleeps. It takes a block whenever its
tokens outgrow those it has; if none is free, the job admitted last gives up its own, waits once more at the front and
goes on from its last token, as vLLM preempts by recomputation. Must not know: who asked, and for what text.
"""

import math
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum

BLOCK = 16
"""Tokens in a KV block, prompt included (vLLM's default)."""


class Link(Enum):
    """The links of the abort chain, from the client inwards."""

    DISCONNECT = "disconnect"
    """The framework looks whether its client has left, and stops the handler."""
    ENGINE = "engine"
    """A handler that stops tells the engine, which stops generating."""
    SCHEDULER = "scheduler"
    """The scheduler forgets the job: its slot is free."""
    BLOCKS = "blocks"
    """The blocks of a forgotten job are free."""


class State(Enum):
    """Of a job."""

    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    ABORTED = "aborted"


@dataclass(slots=True, eq=False)
class Job:
    """One generation: `prompt` and `tokens` are numbers of tokens, `first` and `gap` seconds."""

    prompt: int
    tokens: int
    first: float
    gap: float
    state: State = State.WAITING
    made: int = 0
    """Tokens made so far."""
    blocks: int = 0
    """KV blocks it holds."""
    due: float = math.inf
    """When its next token is made."""
    start: float = math.inf
    """When the first token since its admission is due; those before it are `skipped`."""
    skipped: int = 0

    @property
    def ending(self) -> float:
        """When the token behind those made would be due."""
        return self.start + (self.made - self.skipped) * self.gap

    def blocks_for(self, tokens: int) -> int:
        """The blocks that its prompt and so many tokens need."""
        return -(-(self.prompt + tokens) // BLOCK)


class TooLongError(ValueError):
    """A job that could never have enough blocks."""


class Engine:
    """`slots` jobs run at once and share `kv_blocks`; `broken` links of the abort chain are left out."""

    def __init__(self, slots: int, kv_blocks: int, broken: Collection[Link] = ()) -> None:
        self.slots, self.kv_blocks, self.broken = slots, kv_blocks, frozenset(broken)
        self._waiting: deque[Job] = deque()
        self._running: list[Job] = []
        """In order of admission."""
        self._lost_slots = 0
        self._used = 0
        self._finished = self._aborted = self._preempted = self._tokens = 0

    @property
    def due(self) -> float:
        """When `advance` has something to do; infinity if never."""
        return min((job.due for job in self._running), default=math.inf)

    def stats(self) -> dict[str, int]:
        """What the scheduler believes: a slot that was never given back counts as running. `generating` are the jobs of
        which tokens are made."""
        return {
            "waiting": len(self._waiting),
            "running": len(self._running) + self._lost_slots,
            "finished": self._finished,
            "aborted": self._aborted,
            "preempted": self._preempted,
            "tokens": self._tokens,
            "slots": self.slots,
            "kv_blocks": self.kv_blocks,
            "kv_blocks_used": self._used,
            "generating": len(self._running),
        }

    def submit(self, job: Job, now: float) -> None:
        """Let it wait, or run at once. TooLongError if it needs more blocks than there are."""
        if job.blocks_for(job.tokens) > self.kv_blocks:
            room = self.kv_blocks * BLOCK
            raise TooLongError(
                f"a prompt of {job.prompt} tokens and an answer of {job.tokens} are more than the {room} tokens "
                f"of {self.kv_blocks} KV blocks"
            )
        self._waiting.append(job)
        self._admit(now)

    def abort(self, job: Job, now: float) -> None:
        """Its client has left. Nothing happens to a job that is over."""
        if job.state is State.WAITING:
            self._waiting.remove(job)
        elif job.state is State.RUNNING:
            self._running.remove(job)
            if Link.SCHEDULER in self.broken:
                self._lost_slots += 1  # whoever holds a slot holds its blocks
            elif Link.BLOCKS not in self.broken:
                self._give_back(job)
        else:
            return
        job.state, job.due = State.ABORTED, math.inf
        self._aborted += 1
        self._admit(now)

    def advance(self, now: float) -> list[Job]:
        """Make all tokens that are due, in order and each at its own time, however late it is now; the job of each."""
        made: list[Job] = []
        while self.due <= now:
            job = min(self._running, key=lambda one: one.due)  # the one admitted first, where several are due
            at = job.due
            job.made += 1
            self._tokens += 1
            if job.made == job.tokens:
                self._finish(job)
            else:
                job.due = job.ending
                self._grow(job)
            self._admit(at)
            made.append(job)
        return made

    def _finish(self, job: Job) -> None:
        self._running.remove(job)
        self._give_back(job)
        job.state, job.due = State.FINISHED, math.inf
        self._finished += 1

    def _grow(self, job: Job) -> None:
        """Room for its next token, if need be that of whoever was admitted last, itself included."""
        while job.state is State.RUNNING and (more := job.blocks_for(job.made + 1) - job.blocks) > 0:
            if more <= self.kv_blocks - self._used:
                self._take(job, more)
            else:
                self._preempt(self._running[-1])

    def _preempt(self, job: Job) -> None:
        self._running.remove(job)
        self._give_back(job)
        job.state, job.due = State.WAITING, math.inf
        self._waiting.appendleft(job)
        self._preempted += 1

    def _admit(self, now: float) -> None:
        while self._waiting and len(self._running) + self._lost_slots < self.slots:
            job = self._waiting[0]
            needs = job.blocks_for(job.made + 1)
            if needs > self.kv_blocks - self._used:
                return
            self._take(job, needs)
            self._running.append(self._waiting.popleft())
            job.state = State.RUNNING
            job.start = job.due = now + job.first
            job.skipped = job.made

    def _take(self, job: Job, number: int) -> None:
        job.blocks += number
        self._used += number

    def _give_back(self, job: Job) -> None:
        self._used -= job.blocks
        job.blocks = 0
