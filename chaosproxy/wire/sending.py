"""What is written through the faults of a connection: into their lines, out of them, to the socket; and its FIN behind.

Must not know: what is read, who is told of an ending.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable

import trio

from chaosproxy.errors import FaultBug
from chaosproxy.model.messages import Abort, Data, End
from chaosproxy.wire.layers import Layers, passed
from chaosproxy.wire.transport import Transport
from chaosproxy.wire.waiting import Waiting

OUTGOING = 256 * 1024
"""Bytes taken by `send` and not yet by the socket, above which no more are taken."""


class Sending(ABC):
    """The half of a connection that writes."""

    def __init__(self, below: Transport, layers: Layers) -> None:
        self.ended: Abort | None = None
        """How a fault has ended it."""
        self._below = below
        self._layers = layers
        self._out = b""
        self._under_way = 0
        """Bytes sent that have not come through."""
        self._shut: Callable[[], None] | None = None
        """What to do to `below` once the End has come through and everything before it has gone: its FIN."""
        self._over = False
        self._lost: ConnectionError | None = None
        """What `recv` and `send` raise."""
        self._error: ConnectionError | None = None
        """The peer's reset, raised where it comes through on its way in, or met by a ring that sent."""
        self._writing = Waiting()

    @abstractmethod
    def _plan(self) -> None:
        """The lines have moved: deadlines and notes may be new."""

    @abstractmethod
    def _end(self, abort: Abort) -> None:
        """A fault ends the connection, behind the data that it has let pass."""

    @abstractmethod
    def _fail(self, error: Exception) -> None:
        """What should not have been has been: report it, and end this connection alone."""

    def send(self, data: bytes) -> int:
        broken = self._lost or self._error
        if broken is not None:
            raise broken
        if self.ended is not None or self._over or self._shut is not None:
            return len(data)  # into the void: nothing more is written, or it would stand behind our own FIN
        first, now = self._layers.lines(outgoing=True)[0], trio.current_time()
        if self.backlog > OUTGOING or not first.wants():
            return 0
        self._under_way += len(data)
        try:
            self._layers.enter(first, data, now)
            self._move_out(now)
        except FaultBug as bug:
            self._fail(bug)
        self._plan()
        return len(data)

    def _move_out(self, now: float) -> None:
        for event in passed(self._layers.lines(outgoing=True), now):
            if self.ended is not None:
                return
            if isinstance(event, Data):
                self._under_way -= len(event.payload)
                self._out += event.payload
                self._flush()
            elif isinstance(event, Abort):
                self._end(event)
            elif isinstance(event, End):
                self._over = True
                self._flush()

    def _flush(self) -> None:
        while self._out:
            taken = self._below.send(self._out)
            if not taken:
                return
            self._out = self._out[taken:]
        if self._over and self._shut is not None:
            shut, self._shut = self._shut, None
            shut()

    @property
    def backlog(self) -> int:
        return len(self._out)

    async def writable(self) -> None:
        full = self.ended is None and not self._out and not self._layers.lines(outgoing=True)[0].wants()
        await self._writing.on(None if full else self._below.writable)
        self._flush()
        try:
            self._move_out(trio.current_time())
        except FaultBug as bug:
            self._fail(bug)

    @property
    def holds(self) -> bool:
        return self.ended is None and bool(self._under_way or (self._shut is not None and not self._out))

    async def emptied(self) -> None:
        """Wait until everything sent, and the FIN behind it, is through: a fault may hold it back for long."""
        while self.holds:
            await self._writing.on(self._below.writable if self._out else None)
            self._flush()
        await self._below.emptied()

    def fin(self) -> None:
        self._leave(self._below.fin)

    def cut(self) -> None:
        self._leave(self._below.cut)

    def _leave(self, shut: Callable[[], None]) -> None:
        if self.ended is not None or self._over or self._shut is not None:
            return
        self._shut = shut
        now = trio.current_time()
        try:
            self._layers.lines(outgoing=True)[0].push_control(End(), now)
            self._move_out(now)
        except FaultBug as bug:
            self._fail(bug)

    def rst(self) -> None:
        self._below.rst()

    def unacknowledged(self) -> int:
        return self._under_way + len(self._out) + self._below.unacknowledged()
