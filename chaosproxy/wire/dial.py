"""Connecting to an upstream: every address of its name, the TLS handshake, errors in one line.

No proxy of the environment is ever used. Must not know: what is said on the connection.
"""

import contextlib
import os
import socket
import ssl
from collections.abc import Callable, Iterator
from typing import Protocol

import trio

from chaosproxy.errors import UpstreamFault
from chaosproxy.wire.memory import Memory, TlsError
from chaosproxy.wire.plain import Plain
from chaosproxy.wire.transport import Transport

WITHIN = 30.0
"""Seconds for connecting and, again, for the handshake."""


class Closable(Protocol):
    """A socket, or a transport."""

    def close(self) -> None: ...


async def dial(host: str, port: int) -> Plain:
    """A TCP connection to the first address that answers (RFC 8305). UpstreamFault with the reason if none does."""
    if _is_address(host):
        return await _straight(host, port)
    if host.rstrip(".").lower() == "localhost":
        return await _loopback(port)
    try:
        with trio.fail_after(WITHIN):
            stream = await trio.open_tcp_stream(host, port)
    except trio.TooSlowError:
        raise UpstreamFault(f"{host}:{port}: no answer within {WITHIN:g} s") from None
    except (OSError, UnicodeError) as error:
        raise UpstreamFault(f"{host}:{port}: {_reason(error)}") from error
    return Plain(socket.socket(fileno=stream.socket.detach()))


async def _loopback(port: int) -> Plain:
    """`localhost` is both loopback addresses, whatever a resolver knows of it (RFC 6761 section 6.3)."""
    with contextlib.suppress(UpstreamFault):
        return await _straight("::1", port)
    try:
        return await _straight("127.0.0.1", port)
    except UpstreamFault as fault:
        raise UpstreamFault(f"localhost:{port}: {_reason(fault)}") from fault.__cause__


def _is_address(host: str) -> bool:
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, host)
        except OSError:
            continue
        return True
    return False


async def _straight(host: str, port: int) -> Plain:
    """One address, one attempt: without the cost of a resolver and a race."""
    try:
        sock = trio.socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    except OSError as error:  # no descriptor is left, or the machine has no such family
        raise UpstreamFault(f"{host}:{port}: {_reason(error)}") from error
    with _closing(sock, f"{host}:{port}", "answer", _reason):
        await sock.connect((host, port))
    return Plain(socket.socket(fileno=sock.detach()))


@contextlib.contextmanager
def _closing(opened: Closable, where: str, awaited: str, said: Callable[[OSError], str]) -> Iterator[None]:
    """What is `awaited` comes in time, or whatever goes wrong closes what was opened and is said in one line."""
    try:
        with trio.fail_after(WITHIN):
            yield
    except trio.TooSlowError:
        opened.close()
        raise UpstreamFault(f"{where}: no {awaited} within {WITHIN:g} s") from None
    except OSError as error:
        opened.close()
        raise UpstreamFault(f"{where}: {said(error)}") from error
    except BaseException:
        opened.close()
        raise


def _unwrapped(transport: Transport) -> Transport:
    return transport


async def connect(
    host: str,
    port: int,
    context: ssl.SSLContext | None,
    server_name: str | None = None,
    wrap: Callable[[Transport], Transport] = _unwrapped,
) -> Transport:
    """`dial`, and the handshake where a context is given; SNI and the name verified are `server_name`, else `host`.
    `wrap` may put something between the socket and TLS."""
    below = wrap(await dial(host, port))
    if context is None:
        return below
    with _closing(below, f"{host}:{port}", "TLS handshake", _handshake_reason):
        transport = Memory(below, context, server_side=False, server_hostname=server_name or host)
        await transport.handshake()
    return transport


def _handshake_reason(error: OSError) -> str:
    said = str(error) if isinstance(error, TlsError) else f"TLS: {error}"
    return said + next((f"; {hint}" for words, hint in _USUALLY.items() if words in said), "")


_USUALLY = {
    "certificate refused": "--upstream-ca names whom to trust, --upstream-insecure trusts everybody",
    "not TLS": "is it an http:// upstream?",
    "plain HTTP": "is it an http:// upstream?",
}
"""What a handshake that fails usually comes from."""


def _reason(error: BaseException) -> str:
    """The kernel's or resolver's own words; of several attempts that failed, those of the first."""
    if isinstance(error, UnicodeError):
        return "no host name"
    if isinstance(error, BaseExceptionGroup):
        return _reason(error.exceptions[0])
    if isinstance(error, OSError) and error.errno:
        # A resolver's numbers are its own; a failed connect of Trio names the address once more.
        return str(error.strerror) if isinstance(error, socket.gaierror) else os.strerror(error.errno)
    return _reason(error.__cause__) if error.__cause__ is not None else str(error)
