"""Listening sockets, and accepting from them.

Must not know: what becomes of a connection.
"""

import errno
import os
import socket

import trio

from chaosproxy.errors import cannot_listen
from chaosproxy.wire.forked import parents_alone

BACKLOG = 1024
SILENT, ASKED_EVERY, ASKED = 60, 15, 4
"""A client that has been silent for so many seconds is asked by the kernel whether it is there, so often, so many times. One
whose machine has gone without a word is so noticed after two minutes, as a reset (RFC 9293 section 3.8.4)."""
PAUSE = 0.1
"""Seconds to wait when there is no descriptor or memory for a further connection."""

_SCARCE = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
_PASSING = {errno.ECONNABORTED, errno.EPROTO, errno.EINTR}
_ABSENT = {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}
"""One family of a name may be missing, as in a container without IPv6 whose hosts file still has ::1 for localhost."""


async def open_listeners(host: str, port: int) -> list[socket.socket]:
    """Non-blocking sockets that listen on every address of `host`; with port 0 on the first alone, for one name has one
    port. UnavailableError if none can be had, or if one of them is taken."""
    try:
        found = await trio.socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise cannot_listen(host, port, error) from error
    sockets: list[socket.socket] = []
    absent: OSError | None = None
    for family, kind, protocol, _, address in found:
        try:
            sockets.append(_listening(family, kind, protocol, address))
        except OSError as error:
            if error.errno in _ABSENT:
                absent = error
                continue
            for sock in sockets:
                sock.close()
            raise cannot_listen(host, port, error) from error
        if port == 0:
            break
    if absent is not None and not sockets:
        raise cannot_listen(host, port, absent) from absent
    return sockets


def _listening(family: int, kind: int, protocol: int, address: object) -> socket.socket:
    sock = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        _ask_the_silent(sock)
        sock.setblocking(False)
        sock.bind(address)  # type: ignore[arg-type] # getaddrinfo made it for bind
        sock.listen(BACKLOG)
    except OSError:
        sock.close()
        raise
    parents_alone(sock)
    return sock


def _ask_the_silent(sock: socket.socket) -> None:
    """Connections inherit it. Of upstreams nobody asks: who sends nothing there may be meant to be forgotten on the way."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (("TCP_KEEPIDLE", SILENT), ("TCP_KEEPINTVL", ASKED_EVERY), ("TCP_KEEPCNT", ASKED)):
        if hasattr(socket, option):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


async def accept(listener: socket.socket) -> socket.socket:
    """The next connection; at once, without letting others run, if one is there. Where descriptors or memory are scarce
    it waits and tries again; others wait in the kernel. OSError if `listener` itself is unusable."""
    while True:
        try:
            connection, _ = listener.accept()
        except BlockingIOError:
            await trio.lowlevel.wait_readable(listener)
        except OSError as error:
            if error.errno in _SCARCE:
                await trio.sleep(PAUSE)
            elif error.errno not in _PASSING:
                raise
        else:
            return connection
