"""Upstream connections: dialled, queued for, shared, kept, given up.

Each upstream has its own pool. HTTP/1: one exchange per connection, idle ones are kept and watched, so that a close or
stray bytes take them out at once. HTTP/2: one connection for all, a second only at the stream limit. `max_connections`
queues what is above it, first come first served. Must not know: chains, clients.
"""

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Protocol

import trio

from chaosproxy.errors import UpstreamFault
from chaosproxy.model.messages import Event
from chaosproxy.proxy.address import UpstreamAddress
from chaosproxy.proxy.connection import Connection, Spawn
from chaosproxy.session import Arrived, Closed, Closing, Gone, Granted, Session, Signal, Stopped
from chaosproxy.wire.transport import Transport
from chaosproxy.wire.wire import Wire


class Requester(Protocol):
    """What asks for an upstream connection and then uses one stream of it."""

    def upstream_ready(self, connection: "UpstreamConnection", now: float) -> None:
        """A connection that can open a stream now."""
        ...

    def upstream_failed(self, reason: str, now: float) -> None:
        """No connection could be made; one line why."""
        ...

    def response_events(self, events: list[Event], now: float) -> None:
        """Events of the answer, in order."""
        ...

    def upstream_writable(self, now: float) -> None:
        """More of the request may be sent."""
        ...

    def request_unwanted(self, now: float) -> None:
        """The upstream does not want the rest of the request."""
        ...


class UpstreamConnection(Connection):
    """One connection to an upstream, with the exchanges that use it now."""

    def __init__(
        self,
        transport: Transport,
        session: Session,
        number: int,
        spawn: Spawn,
        upstream: "Upstream",
        wire: Wire | None = None,
    ) -> None:
        super().__init__(transport, session, number, spawn, wire)
        self.upstream = upstream
        self.exchanges: dict[int, Requester] = {}
        self.used = False
        """It has carried an exchange before, so that an end before any answer may be a race with its idle timeout."""

    def handle(self, signal: Signal, now: float) -> None:
        match signal:
            case Arrived(stream, events):
                exchange = self.exchanges.get(stream)
                if exchange is not None:
                    exchange.response_events(events, now)
            case Granted(stream):
                if stream:
                    exchange = self.exchanges.get(stream)
                    if exchange is not None:
                        exchange.upstream_writable(now)
                else:
                    self.writable(now)
            case Stopped(stream):
                exchange = self.exchanges.get(stream)
                if exchange is not None:
                    exchange.request_unwanted(now)
            case Closed():
                self.over = True
                self.upstream.lost(self)
            case Gone():  # the server role's alone
                pass

    def writable(self, now: float) -> None:
        for exchange in list(self.exchanges.values()):
            exchange.upstream_writable(now)

    def owes(self) -> bool:
        return bool(self.exchanges) and not self.broken

    def closed(self) -> None:
        self.over = True
        self.upstream.lost(self)

    async def _finish(self) -> None:
        # A client that is gone is gone at once: no lingering, which would hide it from an upstream that only writes.
        if self._ending is Closing.RST or self.wire is not None:
            await super()._finish()
        elif not self.broken:
            self.transport.fin()

    def release(self, stream: int) -> None:
        """The exchange on `stream` is done with this connection."""
        self.exchanges.pop(stream, None)
        self.used = True
        self.unpause()
        if not self.session.reusable and not self.exchanges and self.session.closing is None:
            self.session.close()
        self.flush()
        self.upstream.released(self)


class Upstream:
    """One upstream address and its pool."""

    def __init__(
        self,
        address: UpstreamAddress,
        connect: Callable[["Upstream", str], Awaitable[UpstreamConnection]],
        spawn: Spawn,
        max_connections: int | None,
    ) -> None:
        """`connect(upstream, client_protocol)` dials; UpstreamFault with a one-line reason if it cannot."""
        self.address = address
        self._connect = connect
        self._spawn = spawn
        self._limit = max_connections
        self._waiting: deque[tuple[Requester, str]] = deque()
        self._dialling = 0
        self.connections: list[UpstreamConnection] = []

    def acquire(self, requester: Requester, protocol: str, now: float, *, fresh: bool = False) -> None:
        """Give `requester` a connection, now or later; `protocol` is its client's. `fresh`: none that was used."""
        if not fresh and not self._waiting:
            connection = self._usable(protocol)
            if connection is not None:
                requester.upstream_ready(connection, now)
                return
        self._waiting.append((requester, protocol))
        self._dial_if_needed()

    def forget(self, requester: Requester) -> None:
        """`requester` no longer waits."""
        self._waiting = deque(entry for entry in self._waiting if entry[0] is not requester)

    def _usable(self, protocol: str) -> UpstreamConnection | None:
        for connection in reversed(self.connections):
            session = connection.session
            if session.reusable and not connection.over and self.suits(session.protocol, protocol):
                return connection
        return None

    def suits(self, spoken: str, client: str) -> bool:
        """Whether a connection that speaks `spoken` may carry a request of a `client` protocol."""
        return True

    def _dial_if_needed(self) -> None:
        room = self._limit is None or len(self.connections) + self._dialling < self._limit
        multiplexed = any(connection.session.protocol == "h2" for connection in self.connections)
        enough = (
            self._dialling > 0 if multiplexed or self.address.scheme == "h2c" else self._dialling >= len(self._waiting)
        )
        if self._waiting and room and not enough:
            self._dialling += 1
            self._spawn(self._dial, self._waiting[-1][1])

    async def _dial(self, protocol: str) -> None:
        try:
            connection = await self._connect(self, protocol)
        except UpstreamFault as fault:
            self._dialling -= 1
            if self._waiting:
                requester, _ = self._waiting.popleft()
                requester.upstream_failed(str(fault), trio.current_time())
            self._dial_if_needed()
            return
        self._dialling -= 1
        self.connections.append(connection)
        self.serve()
        await connection.run()

    def serve(self) -> None:
        """Hand connections to whoever waits; dial if that is not enough."""
        while self._waiting:
            requester, protocol = self._waiting[0]
            connection = self._usable(protocol)
            if connection is None:
                break
            self._waiting.popleft()
            requester.upstream_ready(connection, trio.current_time())
        self._dial_if_needed()

    def released(self, connection: UpstreamConnection) -> None:
        """An exchange has left `connection`."""
        if connection.session.reusable:
            self.serve()

    def retire(self) -> None:
        """No further requests come: idle connections close now, busy ones when they are done."""
        for connection in list(self.connections):
            connection.session.close()
            connection.flush()

    def lost(self, connection: UpstreamConnection) -> None:
        """`connection` takes no further requests."""
        if connection in self.connections:
            self.connections.remove(connection)
            self.serve()


class Pool:
    """All upstreams: round robin by request, or pinned by client connection."""

    def __init__(self, upstreams: list[Upstream], *, by_connection: bool) -> None:
        self.upstreams = upstreams
        self._by_connection = by_connection
        self._turn = 0
        self._pins: dict[int, Upstream] = {}

    def choose(self, client_connection: int) -> Upstream:
        """The upstream for the next request of a client connection."""
        if self._by_connection:
            if client_connection not in self._pins:
                self._pins[client_connection] = self._next()
            return self._pins[client_connection]
        return self._next()

    def unpin(self, client_connection: int) -> None:
        """The client connection is gone."""
        self._pins.pop(client_connection, None)

    def _next(self) -> Upstream:
        upstream = self.upstreams[self._turn % len(self.upstreams)]
        self._turn += 1
        return upstream
