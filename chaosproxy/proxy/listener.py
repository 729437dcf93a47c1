"""Listening sockets: accept, do the TLS handshake, hand the transport to the proxy.

Must not know: what is spoken on a connection.
"""

import itertools
import math
import socket
import ssl
from collections.abc import Callable, Sequence

import trio

from chaosproxy.proxy.bugs import report
from chaosproxy.proxy.gate import Gate
from chaosproxy.proxy.unasked import unasked
from chaosproxy.wire import listen
from chaosproxy.wire.flaws import flawed
from chaosproxy.wire.memory import Memory, TlsError
from chaosproxy.wire.plain import Plain
from chaosproxy.wire.transport import Transport
from chaosproxy.wire.wire import Wire

ACCEPTS_PER_TURN = 16
"""So that clients who come while many streams are busy wait for one turn of theirs, and the streams for few accepts."""
HANDSHAKE = 10.0
"""Seconds that a TLS handshake may take."""

Admit = Callable[[Transport, bool], tuple[int, Transport, Wire | None]]
"""The second: a handshake will follow."""
Accept = Callable[[int, Transport, Wire | None], None]


class Accepted(Plain):
    """A client's connection: the gate is told when it is closed."""

    __slots__ = ("_gate",)

    def __init__(self, connected: socket.socket, gate: Gate) -> None:
        super().__init__(connected)
        self._gate = gate
        gate.came()

    def close(self) -> None:
        if self.socket.fileno() != -1:
            super().close()
            self._gate.left()


class Listener:
    """One listening socket. `url` is what a client should use."""

    def __init__(self, sock: socket.socket, host: str, tls: ssl.SSLContext | None) -> None:
        self._socket = sock
        self._tls = tls
        self._flawed: dict[frozenset[str], ssl.SSLContext] = {}
        self._scope = trio.CancelScope()
        self._backlog = listen.BACKLOG
        port = sock.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        self.url = f"{'https' if tls else 'http'}://{shown}:{port}"

    async def run(self, admit: Admit, accept: Accept, gate: Gate) -> None:
        """Accept until closed, whomever the gate lets pass. `admit` counts a connection and may put a wire on it; with its
        handshake done it goes to `accept`."""
        async with trio.open_nursery() as nursery:
            with self._scope:
                for count in itertools.count(1):
                    self._keep(gate.backlog)
                    await gate.passed()
                    try:
                        connection = await listen.accept(self._socket)
                    except OSError:
                        if self._scope.cancel_called:
                            break  # closed after a client had woken us and before we could take it
                        raise
                    self._take(Accepted(connection, gate), admit, accept, nursery)
                    if not count % ACCEPTS_PER_TURN:
                        await trio.lowlevel.checkpoint()
            nursery.cancel_scope.cancel()

    def _take(self, accepted: Accepted, admit: Admit, accept: Accept, nursery: trio.Nursery) -> None:
        """What goes wrong with it costs this connection, and nobody else."""
        try:
            number, transport, wire = admit(accepted, self._tls is not None)
            context = None if self._tls is None else self._shown(self._tls, wire)
        except Exception as error:  # noqa: BLE001 - the others go on
            report("a connection could not be taken", error)
            accepted.close()
            return
        if context is None:
            accept(number, transport, wire)
        else:
            nursery.start_soon(self._shake, number, transport, wire, context, accept)

    def _keep(self, backlog: int) -> None:
        """So many that wait the kernel is to keep."""
        if backlog != self._backlog:
            self._backlog = backlog
            self._socket.listen(backlog)

    def _shown(self, own: ssl.SSLContext, wire: Wire | None) -> ssl.SSLContext:
        """The context of a handshake: another one where the certificate is to be wrong."""
        flaws = frozenset[str]() if wire is None else wire.flaws
        if not flaws:
            return own
        if flaws not in self._flawed:
            self._flawed[flaws] = flawed(own, flaws)
        return self._flawed[flaws]

    @staticmethod
    async def _shake(number: int, below: Transport, wire: Wire | None, context: ssl.SSLContext, accept: Accept) -> None:
        transport = Memory(below, context, server_side=True)
        try:
            # A fault of the connection takes the time that it likes.
            with trio.move_on_after(HANDSHAKE if wire is None else math.inf) as deadline:
                await transport.handshake()
        except OSError as error:
            unasked(
                number, wire, str(error) if isinstance(error, TlsError) else ""
            )  # else it just left, as health checks do
            if wire is not None and wire.ended is not None:
                await wire.finish()
            transport.close()
            return
        except BaseException:
            transport.close()  # the proxy ends, or a bug does: either way the socket is ours
            raise
        if deadline.cancelled_caught:
            unasked(number, wire)
            transport.close()  # it has said nothing, or not enough: as one that just left
            return
        accept(number, transport, wire)

    def close(self) -> None:
        """Accept nothing further; connections that are there go on."""
        self._scope.cancel()
        if self._socket.fileno() >= 0:
            trio.lowlevel.notify_closing(self._socket)
        self._socket.close()


async def open_all(addresses: Sequence[tuple[str, int]], tls: ssl.SSLContext | None) -> list[Listener]:
    """Listen on every address; UnavailableError, with nothing left open, if one cannot be had."""
    listeners: list[Listener] = []
    try:
        for host, port in addresses:
            for sock in await listen.open_listeners(host, port):
                listeners.append(Listener(sock, host, tls))
                if port == 0:
                    break  # two families of one name would get two ports
    except BaseException:
        for listener in listeners:
            listener.close()
        raise
    return listeners
