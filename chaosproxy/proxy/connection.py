"""One TCP connection with its session: a reader that never waits for a stream, and closing.

Rules: the reader reads, feeds the session and hands each signal on, synchronously. Closing is asked for by the session
(`closing`) and done here, behind everything that was to be written (`Output`).
"""

from abc import abstractmethod
from collections.abc import Awaitable, Callable
from typing import Protocol

import trio

from chaosproxy.proxy.bugs import report
from chaosproxy.proxy.output import Output, Spawn
from chaosproxy.proxy.slices import LINES, beginning
from chaosproxy.session import Closing, Session, Signal
from chaosproxy.wire import close
from chaosproxy.wire.dribbling import Dribbling
from chaosproxy.wire.transport import Transport, TruncatedError
from chaosproxy.wire.wire import Wire

READ = 128 * 1024
"""More is slower: malloc gives such a buffer back to the system behind each read, and every page of it comes anew."""
FIRST = 20 * 1024
"""The first read of HTTP/2 brings no more, which is a frame at least, and what is quick doubles it: nobody knows yet what
the frames will cost."""
READS_PER_TURN = 4
"""So that no connection starves another."""
TURN = 0.002
"""Seconds after which a connection lets the others have their turn, and reads less at once where one read took longer."""
_FINS = (Closing.FIN, Closing.AT_ONCE)
LEAST = 4096
"""Bytes of a read at least; what brings less is not timed."""


def fitting(portion: int, took: float) -> int:
    """How much to read at once, when a read of `portion` took so long: 128 KiB may be thousands of records, each with
    what faults do to it."""
    if took > TURN:
        return max(LEAST, int(portion * TURN / took))
    return min(READ, portion * 2) if took < TURN / 4 else portion


class Shortcut(Protocol):
    """A shorter way for what has been read."""

    def carry(self, data: bytes, now: float) -> bool:
        """Whether `data` (not empty) has been seen to; if not, nothing has happened. Must not wait, must not raise."""
        ...


class Connection(Output):
    """The reader of one connection; `handle` says what a signal means on its side."""

    __slots__ = (
        "_clock", "_ending", "_left", "_portion", "_rest", "_wake", "deaf", "lingering", "most", "number", "over", "paused",
        "shortcut", "sliced", "wire",
    )  # fmt: skip

    def __init__(
        self, transport: Transport, session: Session, number: int, spawn: Spawn, wire: Wire | None = None
    ) -> None:
        """`spawn(async_function, *args)` starts a task that outlives the reader (nursery.start_soon)."""
        super().__init__(transport, session, spawn)
        self.number = number
        self.wire = wire
        self._clock = trio.lowlevel.current_clock()
        """For whoever asks for the time of every event: by `trio.current_time` it costs three calls."""
        if wire is not None:
            wire.on_full = self.flush
        self.shortcut: Shortcut | None = None
        self.over = False
        """The peer has said its last."""
        self._portion = FIRST if session.multiplexed else READ
        self.most = READ
        """Bytes of a read at most."""
        self.sliced = False
        """Faults look at what comes, so that every record may cost something: few are handled at once."""
        self._rest = b""
        """Of the last read, what is to be handled in a further turn."""
        self.paused = False
        self.deaf = False
        """Nothing is read, whoever wants to."""
        self._wake: trio.Event | None = None
        self._left = False
        """The reader is to stop. No cancel scope for that: each would cost an idle stream 0.7 KiB."""
        self._ending: Closing | None = None
        self.lingering = 0.0
        """So many seconds pass before a FIN of ours."""

    @abstractmethod
    def handle(self, signal: Signal, now: float) -> None:
        """One signal of the session. Must not wait, must not raise."""

    def read_done(self, now: float) -> None:
        """One read has been handled."""

    @staticmethod
    def now() -> float:
        """The driver's clock."""
        return trio.current_time()

    @abstractmethod
    def owes(self) -> bool:
        """Something still has to be written though the peer has said its last."""

    def half_closed(self) -> None:
        """The peer has said its last, and something is owed to it. Must not raise."""

    def failed(self) -> None:
        """A mistake of ours has ended the reader; it has been reported. Must not raise."""

    @abstractmethod
    def closed(self, *, lost: bool) -> None:
        """The connection is gone; `lost`: not by us. Must not raise."""

    async def run(self, early: bytes = b"") -> None:
        """The reader; returns when the connection is closed. `early` was read before the protocol was known."""
        try:
            try:
                self.flush()
                if early:
                    self._fed(self.session.receive(early), trio.current_time())
                    early = b""  # not to be kept as long as this runs
                while not self.over:
                    if self.paused or not self.session.hungry:
                        self._wake = trio.Event()
                        await self._wake.wait()
                    elif self._rest:
                        await trio.lowlevel.checkpoint()
                    else:
                        await self.transport.readable()
                    if not self.paused:
                        self._read()
                while self.owes() and not self._left:
                    self.half_closed()
                    self._wake = trio.Event()
                    await self._wake.wait()
            except trio.ClosedResourceError:
                if not self._left:
                    raise
            self.unpause()  # nothing may watch a descriptor that is about to be somebody else's
            await self._finish()
        except Exception as error:  # noqa: BLE001 - a bug here costs this connection: the tasks of the others go on
            report("a connection has failed", error)
            self.failed()
        finally:
            self.unpause()
            self.transport.close()
            lost, self.broken = self.broken, True  # an exchange that ends with it may still have something to say
            self.closed(lost=lost)

    def _read(self) -> None:
        began = now = self._clock.current_time()
        signals: list[Signal] | None
        for _ in range(READS_PER_TURN):
            portion = self._portion
            try:
                data = self._rest or self.transport.recv(portion)
                if data and self.sliced and len(data) > LINES:
                    data = self._slice(data)
                else:
                    self._rest = b""
            except TruncatedError as error:
                signals = self.session.lost("no_close_notify", str(error))
                data = b""
            except OSError as error:
                signals = self.session.lost("rst", error.strerror or str(error))
                data, self.broken = b"", True
            else:
                if data is None:
                    if not self.broken:
                        return
                    data = b""
                if data and self.shortcut is not None and self.shortcut.carry(data, now):
                    if len(data) < LEAST:
                        return
                    signals = None
                else:
                    # A failed send has eaten the error that `recv` would have raised; what is left looks like a FIN.
                    signals = self.session.receive(data) if data or not self.broken else self.session.lost("rst")
            if not data:
                self.over = True
            if signals is not None:
                self._fed(signals, now)
            if (len(data) < LEAST and not self._rest) or self.paused or self.over:
                return
            before, now = now, self._clock.current_time()
            if not self._rest:
                self._portion = min(fitting(portion, now - before), self.most)
            if (len(data) < portion and not self._rest) or now - began > TURN:
                return

    def _slice(self, data: bytes) -> bytes:
        """What of it to handle now; the rest is for a further turn."""
        end = beginning(data)
        self._rest = data[end:]
        return data[:end]

    def heard(self, signals: list[Signal], now: float) -> None:
        """What the session has to say of itself, without a read."""
        if not self._left:
            self._fed(signals, now)

    def _fed(self, signals: list[Signal], now: float) -> None:
        """What one read has brought."""
        for signal in signals:
            self.handle(signal, now)
        self.read_done(now)
        self.flush()

    def pause(self) -> None:
        """Stop reading: what has been read is not yet admitted."""
        self.paused = True

    def unpause(self) -> None:
        """Go on reading."""
        if self.deaf:
            return
        self.paused = False
        self.wake()

    def credit(self, stream: int, admitted: int, *, wants: bool) -> None:
        """Tell the peer how many bytes of what it sent on `stream` were admitted; on HTTP/1 by reading on or not."""
        if self.session.multiplexed:
            if admitted:
                self.session.grant(stream, admitted)
                self.flush()
        elif wants:
            if self.paused:
                self.unpause()
        elif not self.paused:
            self.pause()

    def read_nothing(self) -> None:
        """Whoever wants to go on reading, until `read_again`."""
        self.unpause()  # nor watch the socket
        self.deaf = True
        self.pause()

    def read_again(self) -> None:
        """Unless somebody has to wait for it."""
        self.deaf = False
        self.unpause()

    def dribble(self) -> None:
        """What the session marks as `Slowly` is to be written so."""
        if not isinstance(self.transport, Dribbling):
            self.transport = Dribbling(self.transport)

    def wake(self) -> None:
        """Have the reader look again whether it may read."""
        if self._wake is not None:
            self._wake.set()
            self._wake = None

    async def _drain(self) -> None:
        await super()._drain()
        self.wake()  # it may have waited for what we answer to be written

    def send_failed(self) -> None:
        """The reader takes what is still there, if there may be anything, then reports the loss in its own turn."""
        self.unpause()

    def act_on_closing(self, closing: Closing) -> None:
        if closing is self._ending:
            return
        self._ending = closing
        if closing is Closing.HALF or (closing in _FINS and not (self.wire or self.lingering)):
            self.transport.fin()  # now: in the reader's next turn it would stand behind whatever else is done in this one
        if closing is not Closing.HALF and closing is not Closing.SILENCE:
            self.leave()

    def leave(self) -> None:
        """Stop at once and give the socket back, whatever is under way."""
        self.over = self._left = True
        self.read_nothing()
        self.wake()
        self.transport.interrupt()

    async def _finish(self) -> None:
        ending: Callable[[Transport], Awaitable[None]] = close.fin
        if self._ending is Closing.RST:
            ending = close.rst
        elif self._ending is Closing.NO_CLOSE_NOTIFY:
            ending = close.no_close_notify
        if self.wire is not None and self.wire.ended is not None:
            await self.wire.finish()
        elif not self.broken:
            await ending(self.transport)
