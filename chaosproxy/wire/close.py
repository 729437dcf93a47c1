"""How a connection ends on the wire: three endings that a peer can tell apart, and their timing.

| ending            | plain TCP                     | under TLS                                    |
|-------------------|-------------------------------|----------------------------------------------|
| `fin`             | FIN, the peer reads an end    | close_notify, then FIN: a clean end          |
| `no_close_notify` | as `fin`                      | FIN alone: the peer reports a truncation     |
| `rst`             | RST, the peer gets ECONNRESET | RST of the socket below, never a TLS alert   |

Rules: the only file that knows SO_LINGER. Time is Trio's alone, so that virtual time works. Each ending closes the
transport whatever happens, also when it is cancelled. Nobody else may be waiting on the transport meanwhile.
Must not know: why the connection ends, HTTP.
"""

import contextlib
import socket
import struct
from collections.abc import Callable

import trio

from chaosproxy.wire.transport import Transport

LINGER = 2.0
"""Seconds for which `fin` goes on reading, so that the peer's last bytes do not turn our FIN into a RST."""
ACKNOWLEDGED_WITHIN = 0.2
"""Seconds for which `rst` waits until the data before it has arrived."""

_FIRST_POLL, _LAST_POLL = 0.0005, 0.01
_READ = 65536


def reset_on_close(connected: socket.socket) -> None:
    """From now on closing `connected` sends RST instead of FIN (RFC 9293 section 3.10.4, ABORT)."""
    # On Windows the two fields are 16 bits wide, elsewhere they are ints; the value is "on, for no time" in both.
    layout = "hh" if hasattr(socket, "SO_EXCLUSIVEADDRUSE") else "ii"
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack(layout, 1, 0))


async def fin(transport: Transport) -> None:
    """Shut down for writing (under TLS with close_notify first), read and discard until EOF or for `LINGER`, close."""
    await _finish(transport, transport.fin)


async def until_left(transport: Transport) -> None:
    """Send nothing, discard what comes, until the peer has ended. What is to be done then is the caller's."""
    with contextlib.suppress(ConnectionError, trio.ClosedResourceError):
        await transport.writable()
        await _discard(transport)


async def no_close_notify(transport: Transport) -> None:
    """FIN without close_notify, then as `fin`. Without TLS it is `fin`."""
    await _finish(transport, transport.cut)


async def rst(transport: Transport) -> None:
    """Reset, once the kernel reports the data before it as acknowledged, or after 200 ms."""
    try:
        with trio.move_on_after(ACKNOWLEDGED_WITHIN):
            await _acknowledged(transport)
    finally:
        transport.rst()


async def _acknowledged(transport: Transport) -> None:
    """Poll: the kernel has no event for "everything is acknowledged"."""
    pause = _FIRST_POLL
    try:
        while transport.unacknowledged():
            # Under TLS cipher text may still wait in the process; `writable` is what pushes it on.
            await transport.writable()
            await trio.sleep(pause)
            pause = min(2 * pause, _LAST_POLL)
    except (ConnectionError, trio.ClosedResourceError):
        return  # the peer was faster: nothing is left to wait for


async def _finish(transport: Transport, shut_down: Callable[[], None]) -> None:
    try:
        shut_down()
        if transport.holds:
            await _let_go(transport)
        with trio.move_on_after(LINGER):
            # Under TLS the last cipher text may not have fitted; the FIN then follows it, and `writable` sends both.
            await transport.writable()
            await _discard(transport)
    except (ConnectionError, trio.ClosedResourceError):
        pass  # the connection is over already, which is what we are here for
    finally:
        transport.close()


async def _let_go(transport: Transport) -> None:
    """Faults may hold back what was sent for as long as they like, but not for a peer that has gone."""
    async with trio.open_nursery() as nursery:

        async def until_gone() -> None:
            with contextlib.suppress(ConnectionError, trio.ClosedResourceError):
                await _discard(transport)
                await trio.sleep(LINGER)  # it may still read
            nursery.cancel_scope.cancel()

        nursery.start_soon(until_gone)
        with contextlib.suppress(ConnectionError, trio.ClosedResourceError):
            await transport.emptied()
        nursery.cancel_scope.cancel()


async def _discard(transport: Transport) -> None:
    # Closing with unread bytes in the kernel sends RST, which can destroy what the peer has not read yet
    # (RFC 9112 section 9.6): so read on until the peer has ended too.
    while (data := transport.recv(_READ)) != b"":
        if data is None:
            await transport.readable()
        else:
            # A peer that never stops sending must not keep the loop, nor outlive the deadline.
            await trio.lowlevel.checkpoint()
