"""A transport straight over a non-blocking TCP socket.

Rules: every call is one system call; nothing is kept here. `socket` is public, so that a pump may call its `recv` itself
where a Python frame per read counts. Errors of the kernel other than a reset (a timed-out peer, no route any more) come
out as ConnectionResetError with the kernel's words: to the layers above all of them are "the connection broke".
Must not know: TLS, HTTP, how an ending is timed (`close.py`).
"""

import contextlib
import errno
import socket
import sys
from collections.abc import Awaitable, Iterator

import trio

from chaosproxy.wire.close import reset_on_close
from chaosproxy.wire.forked import parents_alone

if sys.platform == "linux":
    import array
    import fcntl
    import termios

    def _unacknowledged(descriptor: int) -> int:
        """SIOCOUTQ, which Linux gives the number of TIOCOUTQ: unsent and unacknowledged bytes, see tcp(7)."""
        count = array.array("i", [0])
        fcntl.ioctl(descriptor, termios.TIOCOUTQ, count)
        return count[0]
else:

    def _unacknowledged(descriptor: int) -> int:  # noqa: ARG001 - the signature of the Linux one
        return 0


LEAST_RECEIVED = 16 * 1024
"""Below it a kernel drops what comes in the window that it has announced before, and the peer repeats it for seconds."""


def receive_less(descriptor: int, nbytes: int) -> None:
    """Have the kernel hold about so many bytes that have come and not been read, 16 KiB at least (SO_RCVBUF, which Linux
    doubles for its own needs). The window that it has announced already, 64 KiB at first, may still be used."""
    with _lent(descriptor) as lent:
        lent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, max(nbytes, LEAST_RECEIVED))


def address_of(descriptor: int | None) -> str:
    """The IP address at the other end; empty where there is none, or no longer."""
    if descriptor is None:
        return ""
    with contextlib.suppress(OSError), _lent(descriptor) as lent:
        return str(lent.getpeername()[0])
    return ""


@contextlib.contextmanager
def _lent(descriptor: int) -> Iterator[socket.socket]:
    """The socket of a descriptor that somebody else owns; without a descriptor more, of which there may be none left."""
    lent = socket.socket(fileno=descriptor)
    try:
        yield lent
    finally:
        lent.detach()


class Plain:
    """One connected TCP socket, which from now on belongs to this object."""

    __slots__ = ("alpn", "socket", "tls")
    backlog = 0
    holds = False

    def __init__(self, connected: socket.socket) -> None:
        parents_alone(connected)
        connected.setblocking(False)
        if connected.family in (socket.AF_INET, socket.AF_INET6):
            # Write boundaries are the product: Nagle's algorithm would join small writes (RFC 9293 section 3.7.4).
            with contextlib.suppress(OSError):  # macOS refuses where the peer has left already; the next recv says so
                connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = connected
        self.tls = False
        self.alpn: str | None = None

    @property
    def descriptor(self) -> int | None:
        found = self.socket.fileno()
        return found if found >= 0 else None

    def recv(self, nbytes: int) -> bytes | None:
        try:
            return self.socket.recv(nbytes)
        except BlockingIOError:
            return None
        except OSError as error:
            raise self._translated(error) from None

    def send(self, data: bytes) -> int:
        try:
            return self.socket.send(data)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise self._translated(error) from None

    def readable(self) -> Awaitable[None]:
        descriptor = self.socket.fileno()
        if descriptor < 0:
            raise trio.ClosedResourceError("this transport is closed")
        return trio.lowlevel.wait_readable(descriptor)  # noqa: ASYNC105 - by the caller; a coroutine more costs every read

    def interrupt(self) -> None:
        if self.socket.fileno() >= 0:
            trio.lowlevel.notify_closing(self.socket)

    async def writable(self) -> None:
        self._check_open()
        await trio.lowlevel.wait_writable(self.socket)

    async def emptied(self) -> None:
        await trio.lowlevel.checkpoint()

    def fin(self) -> None:
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError as error:
            # The peer was faster and has reset: nothing is left to shut down, and the next recv says so.
            if error.errno not in (errno.ENOTCONN, errno.ECONNRESET, errno.EPIPE, errno.EBADF):
                raise

    def cut(self) -> None:
        self.fin()

    def rst(self) -> None:
        if self.socket.fileno() != -1:
            reset_on_close(self.socket)
            self.close()

    def unacknowledged(self) -> int:
        return 0 if self.socket.fileno() == -1 else _unacknowledged(self.socket.fileno())

    def close(self) -> None:
        if self.socket.fileno() != -1:
            trio.lowlevel.notify_closing(self.socket)
            self.socket.close()

    def _check_open(self) -> None:
        if self.socket.fileno() == -1:
            raise trio.ClosedResourceError("this transport is closed")

    def _translated(self, error: OSError) -> Exception:
        if self.socket.fileno() == -1:
            return trio.ClosedResourceError("this transport is closed")
        if isinstance(error, (ConnectionResetError, BrokenPipeError)):
            return error
        return ConnectionResetError(error.errno, error.strerror)
