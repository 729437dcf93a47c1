"""A byte pipe whose `recv` and `send` answer at once; only `readable` and `writable` wait.

That is what lets a timer deliver without a task switch. Every transport takes any other as `below`:
`Plain(socket)`, `Memory(below, context)` for TLS, `Wire(below, ...)` for connection faults.
Must not know: who speaks on it, what is said.
"""

from collections.abc import Awaitable
from typing import Protocol


class Transport(Protocol):
    """One end of a connection. Errors: `recv` and `send` raise ConnectionResetError or BrokenPipeError when the peer
    has reset; `recv` raises `TruncatedError` when TLS ended without close_notify."""

    tls: bool
    alpn: str | None
    """The protocol agreed in the handshake; None without TLS or without agreement."""

    @property
    def backlog(self) -> int:
        """Bytes that `send` took and the layer below has not: `writable` hands them on."""
        ...

    @property
    def descriptor(self) -> int | None:
        """The socket's descriptor, for who wants to watch it; None where there is none."""
        ...

    def recv(self, nbytes: int) -> bytes | None:
        """Up to `nbytes`; b"" = the peer's FIN (under TLS: close_notify); None = nothing yet."""
        ...

    def send(self, data: bytes) -> int:
        """How many bytes were taken; 0 = full for now. TLS takes all or none."""
        ...

    def readable(self) -> Awaitable[None]:
        """Wait until `recv` has something to say."""
        ...

    def interrupt(self) -> None:
        """Let whoever waits in `readable` go on, by trio.ClosedResourceError or not; who waits in `writable` may get it too."""
        ...

    async def writable(self) -> None:
        """Wait until `send` may take something."""
        ...

    @property
    def holds(self) -> bool:
        """Faults hold back something of what was sent."""
        ...

    async def emptied(self) -> None:
        """Wait until they do no more."""
        ...

    def fin(self) -> None:
        """Shut down for writing, under TLS with close_notify first. Reading goes on."""
        ...

    def cut(self) -> None:
        """FIN without close_notify. Without TLS the same as `fin`."""
        ...

    def rst(self) -> None:
        """TCP RST (linger 0), now; the transport is closed afterwards."""
        ...

    def unacknowledged(self) -> int:
        """Bytes that the kernel has taken and the peer has not acknowledged; 0 where that cannot be told."""
        ...

    def close(self) -> None:
        """Give the socket back. Whoever waits in `readable` or `writable` gets trio.ClosedResourceError."""
        ...


class TruncatedError(ConnectionError):
    """TLS ended by a bare FIN: no close_notify."""
