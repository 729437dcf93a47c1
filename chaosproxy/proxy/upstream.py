"""Upstream connections: dialled, queued for, shared, kept, given up.

Each upstream has its own pool. HTTP/1: one exchange per connection, idle ones are kept and watched, so that a close or
stray bytes take them out at once. HTTP/2: one connection for all, a second only at the stream limit. Where an upstream
speaks both, each client has its own version; at `max_connections`, which queues what is above it, first come first
served, another version is better than none. Must not know: chains, clients.
"""

import itertools
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import trio

from chaosproxy.errors import UpstreamFault
from chaosproxy.proxy.address import UpstreamAddress
from chaosproxy.proxy.output import Spawn
from chaosproxy.proxy.upstream_connection import Requester, UpstreamConnection
from chaosproxy.scenario.schema import UpstreamOptions

Offers = tuple[str, ...]
"""Versions of HTTP to offer by ALPN, the wanted one first."""
IDLE = 256
"""Connections of one upstream that are kept though nothing runs on them."""


@dataclass(frozen=True, slots=True)
class _Wait:
    fresh: bool
    """A connection that was used is not wanted."""
    number: int


class Upstream:
    """One upstream address and its pool."""

    def __init__(
        self,
        address: UpstreamAddress,
        connect: Callable[["Upstream", Offers], Awaitable[UpstreamConnection]],
        spawn: Spawn,
        options: UpstreamOptions,
    ) -> None:
        """`connect(upstream, offers)` dials, and has the connection run; UpstreamFault with a one-line reason if it cannot."""
        self.address = address
        self.following = self
        """Who is asked next, where this one has failed: the next of the pool."""
        self.connections: dict[UpstreamConnection, None] = {}
        self._free: dict[UpstreamConnection, None] = {}
        """Those that may take a further request, the latest behind the others. One of HTTP/1 that may not is taken out when
        it is met: thousands that are busy are not looked at for every request."""
        self._connect = connect
        self._spawn = spawn
        self._protocol = options.protocol
        self._limit = options.max_connections
        self._queues: dict[Offers, dict[Requester, _Wait]] = {}
        """Who waits, in order: thousands may come and leave at once."""
        self._dialling: Counter[Offers] = Counter()
        self._count = 0
        self._without_h2 = False
        """It was offered h2 and chose HTTP/1.1."""
        self._retired = False

    def _offers(self, client: str) -> Offers:
        if self.address.scheme == "h2c" or self._protocol == "h2":
            return ("h2",)
        if self._protocol == "auto" and client == "h2" and self.address.tls:
            return ("h2", "http/1.1")
        return ("http/1.1",)

    def acquire(self, requester: Requester, protocol: str, *, fresh: bool = False) -> None:
        """Give `requester` a connection, now or later; `protocol` is its client's. `fresh`: none that was used."""
        self._count += 1
        self._queues.setdefault(self._offers(protocol), {})[requester] = _Wait(fresh, self._count)
        self.serve()

    def forget(self, requester: Requester) -> None:
        """`requester` no longer waits."""
        for queue in self._queues.values():
            queue.pop(requester, None)

    def serve(self) -> None:
        """Hand connections to whoever waits; dial if that is not enough."""
        while self._serve_one():
            pass
        for offers, queue in self._queues.items():
            shared = "h2" in offers and not self._without_h2  # one connection may be enough for all
            wanted = min(1, len(queue)) if shared else len(queue)
            while self._dialling[offers] < wanted and self._has_room():
                self._dialling[offers] += 1
                self._spawn(self._dial, offers)

    def _serve_one(self) -> bool:
        firsts = [(*next(iter(queue.items())), offers) for offers, queue in self._queues.items() if queue]
        for requester, wait, offers in sorted(firsts, key=lambda first: first[1].number):
            connection = self._usable(offers, fresh=wait.fresh)
            if connection is not None:
                if connection.silent():
                    del self._queues[offers][requester]
                    requester.upstream_ready(connection, trio.current_time())
                return True  # else it is gone, and who waited may have been served meanwhile
        return False

    def _usable(self, offers: Offers, *, fresh: bool) -> UpstreamConnection | None:
        best = second_best = None
        busy: list[UpstreamConnection] = []
        for connection in reversed(self._free):
            session = connection.session
            if connection.over or not session.reusable:
                if not session.multiplexed:
                    busy.append(connection)  # it comes back when it is released
                continue
            wanted = session.protocol == offers[0] or (self._without_h2 and session.protocol in offers)
            if wanted and not (fresh and connection.used):
                best = connection
                break
            second_best = connection
        for connection in busy:
            del self._free[connection]
        if best is not None:
            return best
        return second_best if not self._dialling[offers] and not self._has_room() else None

    def _has_room(self) -> bool:
        return self._limit is None or len(self.connections) + self._dialling.total() < self._limit

    async def _dial(self, offers: Offers) -> None:
        if self._dialling[offers] > len(self._queues[offers]):  # who asked has left before this has begun
            self._dialling[offers] -= 1
            self.serve()
            return
        try:
            connection = await self._connect(self, offers)
        except Exception as error:
            self._dialling[offers] -= 1
            self._fail(offers, str(error))
            self.serve()
            if isinstance(error, UpstreamFault):
                return
            raise  # a bug, which whoever runs the task reports; nobody waits for it
        self._dialling[offers] -= 1
        if offers[0] == "h2":
            self._without_h2 = connection.session.protocol != "h2"
        self.connections[connection] = self._free[connection] = None
        if not connection.session.reusable:  # to dial once more would be to dial for ever
            self._let_go(connection)
            self._fail(offers, f"{self.address.url} takes no request on a connection that has just begun")
        self.serve()
        if self._retired:
            self._let_go(connection)

    def _fail(self, offers: Offers, reason: str) -> None:
        """A dial has failed: for the one it was for, or for all that would have shared it."""
        queue = self._queues[offers]
        count = len(queue) if "h2" in offers and not self._without_h2 else min(1, len(queue))
        for requester in list(itertools.islice(queue, count)):
            if queue.pop(requester, None) is not None:  # else it has left with another
                requester.upstream_failed(reason, trio.current_time())

    def released(self, connection: UpstreamConnection) -> None:
        """An exchange has left `connection`."""
        if connection.session.reusable and connection in self.connections:
            self._free.pop(connection, None)  # the latest is to be the last
            self._free[connection] = None
            self.serve()
            self._thin_out()

    def _thin_out(self) -> None:
        """Whoever sends a burst leaves no more than IDLE connections behind: the oldest go."""
        for connection in list(itertools.islice(self._free, max(0, len(self._free) - IDLE))):
            if not connection.exchanges:
                del self._free[connection]
                self._let_go(connection)

    def retire(self) -> None:
        """No further requests come: idle connections close now, busy ones when they are done, and so do those to come."""
        self._retired = True
        for connection in list(self.connections):
            self._let_go(connection)

    @staticmethod
    def _let_go(connection: UpstreamConnection) -> None:
        connection.session.close()
        connection.flush()

    def lost(self, connection: UpstreamConnection) -> None:
        """`connection` takes no further requests."""
        if connection in self.connections:
            del self.connections[connection]
            self._free.pop(connection, None)
            self.serve()


class Pool:
    """All upstreams: round robin by request, or pinned by client connection."""

    def __init__(self, upstreams: list[Upstream], *, by_connection: bool) -> None:
        self.upstreams = upstreams
        for upstream, following in zip(upstreams, [*upstreams[1:], *upstreams[:1]], strict=True):
            upstream.following = following
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
