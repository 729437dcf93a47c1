"""What a connection writes: at once where the socket takes it, by a task where it does not.

Rules: whoever sends calls `flush`, or `write` for both in one. Only when the socket is full does a writer task take over,
and `blocked` is true until it is done. Must not know: what is read, who sends.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable

import trio

from chaosproxy.session import Closing, Session
from chaosproxy.wire.transport import Transport

RESET_WAIT = 0.2
"""Seconds that data before a reset may still wait for a full socket."""

Spawn = Callable[..., object]


class Output(ABC):
    """One connection's."""

    __slots__ = ("_patience", "_queue", "_spawn", "blocked", "broken", "session", "transport")

    def __init__(self, transport: Transport, session: Session, spawn: Spawn) -> None:
        self.transport = transport
        self.session = session
        self.blocked = False
        self.broken = False
        """Nothing can be written any more."""
        self._spawn = spawn
        self._queue: list[bytes] = []
        self._patience: trio.CancelScope
        """The writer's, while there is one: how long it may wait for the socket."""

    @abstractmethod
    def writable(self, now: float) -> None:
        """The socket has taken everything: whoever was held back may send again."""

    @abstractmethod
    def send_failed(self) -> None:
        """The socket takes nothing any more."""

    @abstractmethod
    def act_on_closing(self, closing: Closing) -> None:
        """Everything is written, and the session is done."""

    def flush(self, *, joined: bool = False) -> None:
        """Write what the session wants written, at once where the socket takes it; `joined`: in one write (HTTP/2)."""
        if self.blocked:
            self._hurry()
            return  # what the session has to say waits there, where it is counted
        session = self.session
        chunks = session.outgoing()
        if joined and len(chunks) > 1:
            chunks = [b"".join(chunks)]
        if self.broken:
            return
        if chunks and not self._write(chunks):
            return
        if not self._waits() and session.closing is not None:
            self.act_on_closing(session.closing)

    def write(self, data: bytes) -> bool:
        """Write what the session need not be told of; nothing waits in front of it. Whether the socket has taken all."""
        try:
            sent = self.transport.send(data)
        except OSError:
            self._break()
            return False
        if sent < len(data):
            self._wait_to_write([data[sent:]])
            return False
        return not (self.transport.backlog and self._waits())

    def _write(self, chunks: list[bytes]) -> bool:
        """Whether the socket has taken all of it."""
        send = self.transport.send
        for index, chunk in enumerate(chunks):
            try:
                sent = send(chunk)
            except OSError:
                self._break()
                return False
            if sent < len(chunk):
                self._wait_to_write([chunk[sent:], *chunks[index + 1 :]])
                return False
        return True

    def _waits(self) -> bool:
        """The transport has taken more than the socket has."""
        if not self.transport.backlog:
            return False
        self._wait_to_write([])
        return True

    def _wait_to_write(self, left: list[bytes]) -> None:
        self._queue = left
        self.blocked = True
        self._patience = trio.CancelScope()
        self._hurry()
        self._spawn(self._drain)

    def _hurry(self) -> None:
        """A reset waits for what is before it no longer than `RESET_WAIT`, and some ends do not wait at all."""
        patience = {Closing.RST: RESET_WAIT, Closing.AT_ONCE: 0.0}.get(self.session.closing or Closing.FIN)
        if patience is not None and self._patience.deadline == math.inf:
            self._patience.deadline = trio.current_time() + patience

    async def _drain(self) -> None:
        """The writer task: lives from the moment the socket is full until it has taken everything."""
        queue = self._queue
        try:
            with self._patience:
                while queue or self.transport.backlog:
                    await self.transport.writable()
                    if not queue:
                        continue
                    sent = self.transport.send(queue[0])
                    if sent == len(queue[0]):
                        del queue[0]
                    else:
                        queue[0] = queue[0][sent:]
        except trio.ClosedResourceError:
            return  # the connection has ended meanwhile: nothing of it is to be written any more
        except OSError:
            self._break()
            return
        if self._patience.cancelled_caught:
            queue.clear()
            self.session.outgoing()  # which would follow what was not sent
            self.blocked = False
            assert self.session.closing is not None
            self.act_on_closing(self.session.closing)
        else:
            self.blocked = False
            self.flush()
        if not self.broken:
            self.writable(trio.current_time())

    def _break(self) -> None:
        self.broken, self.blocked = True, False
        self._queue.clear()
        self.send_failed()
