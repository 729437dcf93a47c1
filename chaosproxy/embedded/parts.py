"""From options to a running proxy: the one place that puts the parts together, for the command line, for Python, for tests.

Must not know: signals, terminals, threads; who looks at the exchanges.
"""

import contextlib
import random
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import trio

from chaosproxy.errors import UpstreamFault, UsageError
from chaosproxy.journal.journal import Journal
from chaosproxy.proxy.address import UpstreamAddress, parse_listen, parse_upstream
from chaosproxy.proxy.dialling import Dial, Wiring
from chaosproxy.proxy.listener import Listener, open_all
from chaosproxy.proxy.planner import Planner
from chaosproxy.proxy.proxy import Proxy
from chaosproxy.scenario.schema import Scenario
from chaosproxy.wire import dial, tls
from chaosproxy.wire.tls import Spelling, as_option
from chaosproxy.wire.transport import Transport

SEEDS = 2**31


class Parts:
    """What a proxy is made of, checked. UsageError names the option that is wrong."""

    def __init__(
        self,
        upstreams: Sequence[str],
        *,
        listen: Sequence[str] = ("127.0.0.1:0",),
        seed: int | None = None,
        speed: float = 1.0,
        tls: str | None = None,
        ca_out: Path | None = None,
        upstream_ca: Path | None = None,
        upstream_insecure: bool = False,
        spelt: Spelling = as_option,
    ) -> None:
        """As the options of `run`; `tls` is `auto` or `CERT:KEY`. Without a seed, and with none in the scenario, one is
        drawn, once. `spelt`: how whoever gave an option calls it."""
        self.upstreams = tuple(parse_upstream(text) for text in upstreams)
        self._addresses = [parse_listen(text) for text in listen]
        self._seed, self._drawn = seed, random.SystemRandom().randrange(SEEDS)
        self._speed = speed
        self._tls, self._ca_out = tls, ca_out
        self._upstream_ca, self._insecure = upstream_ca, upstream_insecure
        self._spelt = spelt
        self._contexts: dict[tuple[str, ...], ssl.SSLContext] = {}
        if any(address.tls for address in self.upstreams):
            self._context(("http/1.1",))  # a CA file that cannot be read is said now, not at the first request

    def lead_to(self, upstream: str) -> None:
        """For what is known only when it runs; before there is a proxy."""
        self.upstreams = (*self.upstreams, parse_upstream(upstream))

    def planner(self, scenario: Scenario) -> Planner:
        """The scenario with its seed and speed, and its counters at the start."""
        seeds = (self._seed, scenario.seed, self._drawn)
        return Planner(scenario, next(seed for seed in seeds if seed is not None), self._speed)

    def proxy(self, scenario: Scenario, journal: Journal, connect: Dial | None = None) -> Proxy:
        """A proxy that reaches its upstreams over sockets, or however `connect` does."""
        return Proxy(Wiring(self.upstreams, connect or self._dial), self.planner(scenario), journal)

    def server_tls(self) -> tuple[ssl.SSLContext | None, Path | None]:
        """What clients are met with, and the file of its CA certificate: ours to remove where no `ca_out` was given."""
        if not self._tls:
            return None, None
        return tls.server_context(self._tls, [host for host, _ in self._addresses], self._ca_out, spelt=self._spelt)

    async def listeners(self, server_tls: ssl.SSLContext | None = None) -> list[Listener]:
        """Listening on every address; UnavailableError if one is taken."""
        return await open_all(self._addresses, server_tls)

    async def _dial(
        self, address: UpstreamAddress, offers: tuple[str, ...], wrap: Callable[[Transport], Transport]
    ) -> Transport:
        try:
            context = self._context(offers) if address.tls else None
        except UsageError as error:  # the file was there when we began
            raise UpstreamFault(f"{address.url}: {error}") from error
        return await dial.connect(address.host, address.port, context, wrap=wrap)

    def _context(self, offers: tuple[str, ...]) -> ssl.SSLContext:
        context = self._contexts.get(offers)
        if context is None:
            context = tls.client_context(self._upstream_ca, offers, insecure=self._insecure, spelt=self._spelt)
            self._contexts[offers] = context
        return context


@contextlib.asynccontextmanager
async def running(proxy: Proxy, listeners: Sequence[Listener] = ()) -> AsyncIterator[trio.Nursery]:
    """The proxy serves while the block runs. At its end the listeners are closed, and running exchanges are ended and
    journalled. What the block raises comes out as it is, not in a group."""
    raised: BaseException | None = None
    try:
        async with trio.open_nursery() as nursery:
            await nursery.start(proxy.run)
            for listener in listeners:
                nursery.start_soon(listener.run, proxy.admit, proxy.accept, proxy.gate)
            try:
                yield nursery
            except BaseException as error:
                raised = error
                raise
            finally:
                proxy.end_all()
                nursery.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        if raised is None or group.exceptions != (raised,):
            raise
    finally:
        for listener in listeners:
            listener.close()
    if raised is not None:
        raise raised
