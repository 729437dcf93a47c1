"""A whole proxy inside a test: over real sockets (`proxy_on`), or over links in virtual time (`linked`).

Rules: the same parts as the command line's, put together without files, signals and terminal output.
Must not know: what the peers on either side say.
"""

import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import trio

from chaosproxy.embedded.parts import Parts, running
from chaosproxy.embedded.setup import Source, read
from chaosproxy.journal.journal import Journal
from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.proxy.address import UpstreamAddress
from chaosproxy.proxy.proxy import Proxy
from chaosproxy.wire.links import ROOM, link
from chaosproxy.wire.transport import Transport

SEED = 1
WITHIN = 20.0

Serve = Callable[[Transport], Awaitable[None]]
Dialling = Callable[[], Awaitable[None]]


class Proxied:
    """A running proxy, as a test sees it."""

    def __init__(self, proxy: Proxy, url: str = "") -> None:
        self.proxy = proxy
        self.url = url
        self.port = int(url.rpartition(":")[2]) if url else 0
        self._finished = trio.lowlevel.ParkingLot()
        proxy.journal.listen(self._ring)

    def _ring(self, _: ExchangeRecord) -> None:
        self._finished.unpark_all()

    @property
    def exchanges(self) -> list[ExchangeRecord]:
        """The finished exchanges, oldest first."""
        return self.proxy.journal.exchanges

    async def finished(self, count: int = 1, within: float = WITHIN) -> list[ExchangeRecord]:
        """The finished exchanges, once there are `count`. trio.TooSlowError after `within` seconds."""
        with trio.fail_after(within):
            while self.proxy.journal.total < count:
                await self._finished.park()
        return self.exchanges

    async def last(self, count: int = 1, within: float = WITHIN) -> ExchangeRecord:
        """The last of `finished`."""
        return (await self.finished(count, within))[-1]


class Linked(Proxied):
    """A running proxy whose connections are links."""

    def __init__(self, proxy: Proxy, room: int) -> None:
        super().__init__(proxy)
        self._room = room

    def connect(self) -> Transport:
        """A client's end of a new connection."""
        near, far = link(self._room)
        self.proxy.accept(*self.proxy.admit(far))
        return near


@contextlib.asynccontextmanager
async def proxy_on(
    scenario: Source | None,
    *upstreams: str,
    server_tls: ssl.SSLContext | None = None,
    upstream_ca: Path | None = None,
) -> AsyncIterator[Proxied]:
    """A proxy that listens on a free loopback port while the block runs."""
    parts = Parts(upstreams, seed=SEED, upstream_ca=upstream_ca)
    proxy = parts.proxy(read(scenario), Journal())
    (listener,) = await parts.listeners(server_tls)
    async with running(proxy, [listener]):
        yield Proxied(proxy, listener.url)


@contextlib.asynccontextmanager
async def linked(
    scenario: Source | None,
    serve: Serve,
    *,
    upstream: str | tuple[str, ...] = "http://origin",
    room: int = ROOM,
    seed: int = SEED,
    dialling: Dialling = trio.lowlevel.checkpoint,
) -> AsyncIterator[Linked]:
    """A proxy without a socket: `serve(transport)` runs for each connection to the upstream, once `dialling` has
    returned, which may take its time or raise UpstreamFault. Every link holds at most `room` bytes each way."""
    async with trio.open_nursery() as nursery:

        async def connect(
            _address: UpstreamAddress, _offers: tuple[str, ...], wrap: Callable[[Transport], Transport]
        ) -> Transport:
            await dialling()
            near, far = link(room)
            nursery.start_soon(serve, far)
            return wrap(near)

        parts = Parts((upstream,) if isinstance(upstream, str) else upstream, seed=seed)
        proxy = parts.proxy(read(scenario), Journal(), connect)
        async with running(proxy):
            yield Linked(proxy, room)
        nursery.cancel_scope.cancel()
