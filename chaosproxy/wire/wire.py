"""Faults on the raw bytes of a whole connection: a chain between a socket and whoever speaks on it, TLS included.

It is the chain of an exchange without heads: every read or write is one Data, a FIN is the End. An ending does to the
socket what it says, and tells whoever owns the connection (`on_end`), so that the exchanges on it are journalled.
Rules: answers at once, like every transport. Must not know: HTTP, which faults exist.
"""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import trio

from chaosproxy.chain.chain import Chain
from chaosproxy.chain.line import Line
from chaosproxy.chain.placed import Noted, Placed
from chaosproxy.model.messages import Abort, Data, End, Event
from chaosproxy.model.places import Manner, Role, Scope
from chaosproxy.wire import close
from chaosproxy.wire.transport import Transport

OUTGOING = 256 * 1024
"""Bytes taken by `send` and not yet by the socket, above which no more are taken."""


class Wire:
    """One connection. `role` is ours on it: SERVER towards a client, CLIENT towards an upstream."""

    def __init__(self, below: Transport, role: Role, began: float) -> None:
        self.tls = below.tls
        self.alpn = below.alpn
        self.notes: list[Noted] = []
        """What the faults did, for whoever journals it."""
        self.on_end: Callable[[Abort], None] | None = None
        self.on_due: Callable[[float], None] | None = None
        """Called with the time at which `ring` is wanted, each time it changes."""
        self._below = below
        self._role = role
        self.began = began
        self._layers = [Chain((), began=began)]
        self._passed = {"request": 0, "response": 0}
        self._out = b""
        self._shut: Callable[[], None] | None = None
        """What to do to `below` once the End has come through and everything before it has gone: its FIN."""
        self._over = False
        self._ended: Abort | None = None
        self._lost: ConnectionError | None = None
        self._scope: trio.CancelScope | None = None

    # ---- arming

    def arm(self, placed: Sequence[Placed], now: float) -> None:
        """Put these faults nearest to whoever speaks here. What has passed before counts: byte N is byte N of the connection."""
        chain = Chain(placed, began=self.began)
        chain.start(now)
        for line in (chain.request, chain.response):
            for stage in line.stages:
                stage.bytes = self._passed[line.way]
            for stage in line.stages:
                if stage.span is not None:
                    stage.span.plan()
        self._layers.append(chain)
        self._plan()

    @property
    def due(self) -> float:
        """When `ring` is wanted; infinite if never."""
        return min((chain.due for chain in self._layers), default=math.inf)

    def ring(self, now: float) -> None:
        """Do what is due."""
        for chain in self._layers:
            if chain.due <= now:
                chain.wake(now)
        self._move_out(now)
        if self._scope is not None:
            self._scope.cancel()
        self._plan()

    def _take_notes(self) -> None:
        for chain in self._layers:
            self.notes.extend(chain.notes)
            chain.notes.clear()

    def _plan(self) -> None:
        self._take_notes()
        if self.on_due is not None and self.due < math.inf:
            self.on_due(self.due)

    # ---- the transport

    def _lines(self, *, outgoing: bool) -> list[Line]:
        """The lines that bytes of one way pass, in their order."""
        response = outgoing == (self._role is Role.SERVER)
        if outgoing:
            return [chain.response if response else chain.request for chain in reversed(self._layers)]
        return [chain.response if response else chain.request for chain in self._layers]

    @property
    def descriptor(self) -> int | None:
        return self._below.descriptor

    def recv(self, nbytes: int) -> bytes | None:
        now = trio.current_time()
        if self._lost is not None:
            raise self._lost
        lines = self._lines(outgoing=False)
        while True:
            ready = self._through(lines, now)
            if ready is not None:
                return ready
            if self._lost is not None:
                raise self._lost
            if self._ended is None and not lines[0].wants():
                return None
            data = self._below.recv(nbytes)
            if self._ended is not None:  # silence: what comes is nobody's, but the peer's leaving is noticed
                if data:
                    continue
                return data
            if data is None:
                return None
            if data:
                self._passed[lines[0].way] += len(data)
                lines[0].push([Data(data)], now)
            else:
                lines[0].push_control(End(), now)
            self._plan()

    def _through(self, lines: list[Line], now: float) -> bytes | None:
        """What has passed all lines, joined; None if nothing has. An ending stands behind what it lets pass."""
        parts: list[bytes] = []
        for event in self._passed_all(lines, now):
            if isinstance(event, Data):
                parts.append(event.payload)
            elif isinstance(event, Abort):
                self._end(event)
                break
            elif isinstance(event, End):
                return b"".join(parts)
        return b"".join(parts) if parts else None

    @staticmethod
    def _passed_all(lines: list[Line], now: float) -> list[Event]:
        """Move what has passed each line into the next; what has passed the last."""
        for line, following in pairwise(lines):
            for event in line.take(now):
                if isinstance(event, Data):
                    following.push([event], now)
                else:
                    following.push_control(event, now)
        return lines[-1].take(now)

    def send(self, data: bytes) -> int:
        if self._lost is not None:
            raise self._lost
        if self._ended is not None:
            return len(data)  # into the void: nothing more is written
        lines = self._lines(outgoing=True)
        now = trio.current_time()
        if self.backlog > OUTGOING or not lines[0].wants():
            return 0
        self._passed[lines[0].way] += len(data)
        lines[0].push([Data(data)], now)
        self._move_out(now)
        self._plan()
        return len(data)

    def _move_out(self, now: float) -> None:
        for event in self._passed_all(self._lines(outgoing=True), now):
            if self._ended is not None:
                return
            if isinstance(event, Data):
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

    def _end(self, abort: Abort) -> None:
        """A fault ends the connection, behind the data that it has let pass."""
        if self._ended is not None:
            return
        self._ended = abort
        self._take_notes()
        if abort.manner is not Manner.SILENCE:
            self._lost = ConnectionResetError(f"ended by a fault ({abort.cause})")
        if self.on_end is not None:
            self.on_end(abort)

    async def finish(self) -> None:
        """Do to the socket what the ending says; nobody else uses the transport any more."""
        abort = self._ended
        if abort is not None and abort.scope is Scope.CONNECTION and abort.manner is Manner.RESET:
            await close.rst(self._below)
        elif abort is None or abort.manner is not Manner.SILENCE:
            await close.fin(self._below)

    @property
    def ended(self) -> Abort | None:
        """The ending that a fault has made."""
        return self._ended

    @property
    def backlog(self) -> int:
        held = 0 if self._ended is not None else sum(len(line.exit.events) for line in self._lines(outgoing=True))
        return len(self._out) + held

    async def readable(self) -> None:
        if self._lost is not None:
            return
        with trio.CancelScope() as self._scope:
            await self._below.readable()
        self._scope = None

    async def writable(self) -> None:
        await self._below.writable()
        self._flush()
        self._move_out(trio.current_time())

    def fin(self) -> None:
        self._leave(self._below.fin)

    def cut(self) -> None:
        self._leave(self._below.cut)

    def _leave(self, shut: Callable[[], None]) -> None:
        if self._ended is not None:
            return
        self._shut = shut
        now = trio.current_time()
        lines = self._lines(outgoing=True)
        lines[0].push_control(End(), now)
        self._move_out(now)

    def rst(self) -> None:
        self._below.rst()

    def unacknowledged(self) -> int:
        return len(self._out) + self._below.unacknowledged()

    def close(self) -> None:
        self._below.close()
