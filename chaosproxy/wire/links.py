"""A bounded connection in memory: two transports, joined, for tests in virtual time.

Rules: it blocks like the kernel does. Each way holds at most `room` bytes; one `send` is one `recv`, never merged; data
that arrived before a reset is read before the reset is seen, as on Linux; closing with unread bytes resets the peer; two
tasks may not wait for the same thing. Must not know: sockets, TLS, HTTP.
"""

import errno
from collections import deque

import trio

from chaosproxy.wire.transport import Transport

ROOM = 65536


class _Bell:
    """Where one task may wait until somebody rings."""

    __slots__ = ("_task",)

    def __init__(self) -> None:
        self._task: trio.lowlevel.Task | None = None

    async def wait(self) -> None:
        if self._task is not None:
            raise trio.BusyResourceError("another task is already waiting here")
        self._task = trio.lowlevel.current_task()

        def abort(_: object) -> trio.lowlevel.Abort:
            self._task = None
            return trio.lowlevel.Abort.SUCCEEDED

        await trio.lowlevel.wait_task_rescheduled(abort)

    def ring(self) -> None:
        if self._task is not None:
            task, self._task = self._task, None
            trio.lowlevel.reschedule(task)


class _Way:
    """One direction: what was sent and not yet received, and how it ended."""

    __slots__ = ("closed", "filled", "fin", "freed", "parts", "room", "rst", "size")

    def __init__(self, room: int) -> None:
        self.room = room
        self.parts: deque[bytes] = deque()
        self.size = 0
        self.filled, self.freed = _Bell(), _Bell()
        """For the receiver that waits for data, and for the sender that waits for room."""
        self.fin = False
        """The sender has shut down."""
        self.rst = False
        """The connection was reset towards the receiver."""
        self.closed = False
        """The receiver has closed: what arrives now is answered by a reset."""


class Link:
    """One end. It implements `wire.transport.Transport`."""

    __slots__ = ("_closed", "_incoming", "_outgoing", "alpn", "tls")
    backlog = 0
    descriptor = None
    holds = False

    def __init__(self, incoming: _Way, outgoing: _Way) -> None:
        self._incoming, self._outgoing = incoming, outgoing
        self._closed = False
        self.tls = False
        self.alpn: str | None = None

    def recv(self, nbytes: int) -> bytes | None:
        self._check_open()
        way = self._incoming
        if way.parts:
            part = way.parts.popleft()
            if len(part) > nbytes:
                way.parts.appendleft(part[nbytes:])
                part = part[:nbytes]
            way.size -= len(part)
            way.freed.ring()
            return part
        if way.rst:
            raise ConnectionResetError(errno.ECONNRESET, "Connection reset by peer")
        return b"" if way.fin else None

    def send(self, data: bytes) -> int:
        self._check_open()
        way = self._outgoing
        if way.fin or self._incoming.rst:
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")
        if way.closed:
            # As with the kernel: this send still succeeds, and the peer's answer to it is a reset.
            self._incoming.rst = True
            self._incoming.filled.ring()
            return len(data)
        part = bytes(data[: way.room - way.size])
        if part:
            way.parts.append(part)
            way.size += len(part)
            way.filled.ring()
        return len(part)

    async def readable(self) -> None:
        self._check_open()
        way = self._incoming
        if way.parts or way.fin or way.rst:
            await trio.lowlevel.checkpoint()
        else:
            await way.filled.wait()
            self._check_open()

    def interrupt(self) -> None:
        self._incoming.filled.ring()

    async def writable(self) -> None:
        self._check_open()
        way = self._outgoing
        if way.size < way.room or way.fin or way.closed or self._incoming.rst:
            await trio.lowlevel.checkpoint()
        else:
            await way.freed.wait()
            self._check_open()

    async def emptied(self) -> None:
        await trio.lowlevel.checkpoint()

    def fin(self) -> None:
        if not self._closed and not self._outgoing.fin:
            self._outgoing.fin = True
            self._outgoing.filled.ring()
            self._outgoing.freed.ring()

    def cut(self) -> None:
        self.fin()

    def rst(self) -> None:
        if not self._closed:
            self._reset_peer()
            self._close()

    def unacknowledged(self) -> int:
        return 0

    def close(self) -> None:
        if not self._closed:
            if self._incoming.parts:
                self._reset_peer()  # unread data at close: RFC 2525 section 2.17
            self.fin()
            self._close()

    def _reset_peer(self) -> None:
        self._outgoing.rst = True
        self._outgoing.filled.ring()

    def _close(self) -> None:
        self._closed = True
        self._incoming.closed = True
        self._incoming.parts.clear()
        self._incoming.size = 0
        for bell in (self._incoming.filled, self._incoming.freed, self._outgoing.freed):
            bell.ring()

    def _check_open(self) -> None:
        if self._closed:
            raise trio.ClosedResourceError("this end of the link is closed")


def link(room: int = ROOM) -> tuple[Transport, Transport]:
    """Two joined ends, with `room` bytes in each direction."""
    there, back = _Way(room), _Way(room)
    return Link(back, there), Link(there, back)
