"""A transport that writes marked parts of what it is given slowly: so many bytes at a time, on a schedule.

To whoever sends it looks like a socket that is full: `send` takes less than all, `writable` waits for the next turn. So it is
put over a connection's transport only when something is to be written slowly, and nothing else needs to know. The turns are
computed from the first, never added up from sleeps. Must not know: what the marked parts are.
"""

from collections import deque
from collections.abc import Callable

import trio

from chaosproxy.model.asked import Dribble
from chaosproxy.session import Slowly
from chaosproxy.wire.transport import Transport
from chaosproxy.wire.waiting import Waiting

STOOD_STILL = 1.0
"""Seconds by which turns that come late are still made up for; who is later stood still."""


class Dribbling:
    """Over `below`, which does everything else."""

    def __init__(self, below: Transport) -> None:
        self.tls, self.alpn = below.tls, below.alpn
        self._below = below
        self._segments: deque[tuple[int, Dribble | None]] = deque()
        """What is left of the element under way."""
        self._inside = False
        """The first of them has begun."""
        self._turn = 0.0
        """When the next piece of a slow segment may go."""
        self._waiting = Waiting()

    def send(self, data: bytes) -> int:
        if not self._segments:
            if not isinstance(data, Slowly):
                return self._below.send(data)
            self._segments.extend(data.segments)
        length, dribble = self._segments[0]
        if dribble is None:
            return self._sent(self._below.send(data[:length]), None)
        now = trio.current_time()
        if not self._inside:
            self._inside, self._turn = True, max(self._turn, now)
        if self._turn > now:
            return 0
        self._turn = max(self._turn, now - STOOD_STILL)
        return self._sent(self._below.send(data[: min(length, dribble.nbytes)]), dribble)

    def _sent(self, taken: int, dribble: Dribble | None) -> int:
        if taken and dribble is not None:
            self._turn += dribble.every
        left = self._segments[0][0] - taken
        if left:
            self._segments[0] = (left, dribble)
        else:
            self._segments.popleft()
            self._inside = False
        return taken

    async def writable(self) -> None:
        if self._inside and self._turn > trio.current_time():
            await self._waiting.on(self._next_turn)
        await self._below.writable()

    async def _next_turn(self) -> None:
        await trio.sleep_until(self._turn)

    def close(self) -> None:
        self._waiting.close()
        self._below.close()

    # ---- everything else

    @property
    def backlog(self) -> int:
        return self._below.backlog

    @property
    def descriptor(self) -> int | None:
        return self._below.descriptor

    @property
    def holds(self) -> bool:
        return self._below.holds

    @property
    def recv(self) -> Callable[[int], bytes | None]:
        return self._below.recv

    async def readable(self) -> None:
        await self._below.readable()

    def interrupt(self) -> None:
        self._below.interrupt()

    async def emptied(self) -> None:
        await self._below.emptied()

    def fin(self) -> None:
        self._below.fin()

    def cut(self) -> None:
        self._below.cut()

    def rst(self) -> None:
        self._below.rst()

    def unacknowledged(self) -> int:
        return self._below.unacknowledged()
