"""Faults on the raw bytes of a whole connection: a chain between a socket and whoever speaks on it, TLS included.

It is the chain of an exchange without heads: every read or write is one Data, a FIN is the End. An ending does to the
socket what it says, and tells whoever owns the connection (`on_end`), so that the exchanges on it are journalled.
What the peer says last, FIN or RST, stands behind the bytes before it; closing waits until all is through (`emptied`).
Rules: answers at once, like every transport; nobody waits for the socket while it is a fault that holds things up.
A fault that fails costs this connection and nothing else.
Must not know: HTTP, which faults exist.
"""

import contextlib
import math
from collections.abc import Callable, Sequence

import trio

from chaosproxy.chain.conduct import Conduct
from chaosproxy.chain.connection_spec import Lifetime
from chaosproxy.chain.line import Line
from chaosproxy.chain.placed import Notes, Placed
from chaosproxy.errors import FaultBug
from chaosproxy.model.messages import Abort, Data, End
from chaosproxy.model.vocabulary import Manner, Peer, Role, Scope
from chaosproxy.wire import close
from chaosproxy.wire.layers import Layers, can_move, passed
from chaosproxy.wire.plain import address_of
from chaosproxy.wire.sending import Sending
from chaosproxy.wire.transport import Transport
from chaosproxy.wire.waiting import Waiting


class Wire(Sending):
    """One connection. `role` is ours on it: SERVER towards a client, CLIENT towards an upstream."""

    def __init__(self, below: Transport, role: Role, began: float) -> None:
        super().__init__(below, Layers(role, began))
        self.tls = below.tls
        self.alpn = below.alpn
        self.notes = Notes()
        """What the faults did of late, for whoever journals it."""
        self.on_end: Callable[[Abort], None] | None = None
        self.on_bug: Callable[[Exception], None] | None = None
        self.on_due: Callable[[float], None] | None = None
        """Called with the time at which `ring` is wanted; infinite: never again."""
        self.on_full: Callable[[], None] | None = None
        """Called when what a ring has let go does not fit into the socket: somebody has to wait for `writable`."""
        self.on_close: Callable[[], None] | None = None
        self.conduct: Conduct | None = None
        """What the session on it does otherwise, if it does."""
        self.lifetimes: list[Lifetime] = []
        """How long the connection is kept, for whoever keeps it."""
        self.flaws = frozenset[str]()
        """What is to be wrong with the certificate that is shown here."""
        self._role = role
        self.began = began
        self.address = address_of(below.descriptor)
        self._closed = False
        self._last: Abort | End | None = None
        """The last that is read from below, on its way in, and whether it is through."""
        self._last_is_through = False
        self._reading = Waiting()

    def arm(self, placed: Sequence[Placed], now: float) -> None:
        """Put these faults nearest to whoever speaks here."""
        self._layers.alarm = self.on_due
        try:
            self._layers.add(placed, now)
        except FaultBug as bug:
            self._fail(bug)
        self._plan()

    def begin(self, now: float) -> None:
        """Before anything has been said here: what a fault does at once is done now."""
        self.ring(now)
        self._through(self._layers.lines(outgoing=False), now)

    def ring(self, now: float) -> None:
        """The alarm: something in a layer is due."""
        if self._closed:
            return
        try:
            self._layers.wake(now)
            self._let_out(now)
        except Exception as error:  # noqa: BLE001 - the alarm rings for all, who must not end for one
            self._fail(error)
        self._reading.ring()
        self._writing.ring()
        self._plan()
        if self._out and self.on_full is not None:
            self.on_full()

    def _let_out(self, now: float) -> None:
        try:
            self._move_out(now)
        except ConnectionError as error:  # who reads or writes next is told
            self._error, self._out, self._under_way, self._shut = error, b"", 0, None

    def _plan(self) -> None:
        self._layers.take_notes(self.notes)
        if self.on_due is not None and (due := self._layers.due) < math.inf:
            self.on_due(due)

    @property
    def descriptor(self) -> int | None:
        return self._below.descriptor

    def recv(self, nbytes: int) -> bytes | None:
        try:
            return self._recv(nbytes)
        except FaultBug as bug:
            self._fail(bug)
            return self._recv(nbytes)

    def _recv(self, nbytes: int) -> bytes | None:
        now = trio.current_time()
        lines = self._layers.lines(outgoing=False)
        while True:
            ready = None if self._lost is not None else self._through(lines, now)
            if ready is not None:
                return ready
            if self._lost is not None:
                raise self._lost
            if not self._may_read(lines):
                return None
            if self.ended is not None:  # silence: what comes is nobody's, but the peer's leaving is noticed
                while data := self._below.recv(nbytes):
                    pass
                return data
            if not self._read(lines[0], nbytes, now):
                return None

    def _may_read(self, lines: list[Line]) -> bool:
        """Whether there is anything to ask the socket for now."""
        return self.ended is not None or (self._last is None and lines[0].wants() and self.hears)

    @property
    def hears(self) -> bool:
        """The machine is there: the peer is read, and its leaving is seen."""
        return self._layers.hears

    def _read(self, line: Line, nbytes: int, now: float) -> bool:
        """One read, into the first line; False if there is nothing yet."""
        try:
            data = self._below.recv(nbytes)
        except ConnectionError as error:
            self._error = error
            self._last = Abort("peer", Peer.CLIENT, Scope.CONNECTION)
        else:
            if data is None:
                return False
            if data:
                self._layers.enter(line, data, now)
                return True
            self._last = End()
        line.push_control(self._last, now)
        return True

    def _through(self, lines: list[Line], now: float) -> bytes | None:
        """What has passed all lines, joined; None if nothing has. An ending stands behind what it lets pass."""
        parts: list[bytes] = []
        for event in passed(lines, now):
            if isinstance(event, Data):
                parts.append(event.payload)
            elif event is self._last:
                self._last_is_through = True
            elif isinstance(event, Abort):
                self._end(event)
                break
        self._let_out(now)  # a fault that has seen what came may end the other way with it
        self._plan()
        if parts:
            return b"".join(parts)
        if self._last_is_through and self._error is not None:
            self._lost = self._error
        return b"" if self._last_is_through and self._lost is None else None

    def end(self, abort: Abort) -> None:
        """Whoever speaks here is to end it so, for a fault of its own."""
        self._end(abort)

    def _end(self, abort: Abort) -> None:
        """A fault ends the connection, behind the data that it has let pass."""
        if self.ended is not None:
            return
        self.ended = abort
        self._under_way = 0
        self._reading.ring()
        self._writing.ring()
        self._layers.take_notes(self.notes)
        if abort.manner is not Manner.SILENCE:
            self._lost = ConnectionResetError(f"ended by a fault ({abort.cause})")
        if self.on_end is not None:
            self.on_end(abort)

    def _fail(self, error: Exception) -> None:
        """What should not have been has been: report it, and end this connection alone."""
        if self.on_bug is not None:
            self.on_bug(error)
        with contextlib.suppress(FaultBug):
            self._layers.close(trio.current_time())  # others may wait for what its faults share with theirs
        self._layers = Layers(self._role, self.began)  # nobody is asked once more
        self._end(Abort("internal", Peer.PROXY, Scope.CONNECTION, detail=f"{type(error).__name__}: {error}"))

    async def finish(self) -> None:
        """Do to the socket what the ending says; nobody else uses the transport any more."""
        abort = self.ended
        if abort is not None and abort.scope is Scope.CONNECTION and abort.manner is Manner.RESET:
            await close.rst(self._below)
        elif abort is None or abort.manner is not Manner.SILENCE:
            await close.fin(self._below)

    async def readable(self) -> None:
        lines = self._layers.lines(outgoing=False)
        if self._lost is not None or self._last_is_through or can_move(lines):
            await trio.lowlevel.checkpoint()
        else:
            await self._reading.on(self._below.readable if self._may_read(lines) else None)

    def interrupt(self) -> None:
        self._reading.ring()

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._layers.close(trio.current_time())
            if self.on_close is not None:
                self.on_close()
        if self.on_due is not None:
            self.on_due(math.inf)
        self._reading.close()
        self._writing.close()
        self._below.close()
