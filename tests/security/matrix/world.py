"""The world of one cell: the real proxy over links, two upstreams, the client whose exchange it is about, and another one's.

Rules: what is done at which moment is `cell.py`'s; time is virtual. Must not know: what is right.
"""

import contextlib
import functools
import ssl
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import trio

from chaosproxy.embedded.parts import Parts, running
from chaosproxy.embedded.setup import read
from chaosproxy.journal.journal import Journal
from chaosproxy.journal.jsonl import JournalFile
from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.proxy.address import UpstreamAddress
from chaosproxy.proxy.listener import Listener
from chaosproxy.scenario.schema import Scenario
from chaosproxy.wire import tls
from chaosproxy.wire.links import Link, link
from chaosproxy.wire.memory import Memory
from chaosproxy.wire.transport import Transport
from tests.security.matrix import trap
from tests.security.matrix.clients import GONE, Client, H1Client, H2Client, View
from tests.security.matrix.stoppable import Stoppable
from tests.security.matrix.upstreams import H1Served, H2Served, Served, Talk

TARGET, FIRST, SIBLING, NEWCOMER = "/target", "/first", "/sibling", "/newcomer"
ROOM = 16 * 1024
"""Of each link."""
BEATS = 10
"""Events of the other exchange, one a second."""
GRACE = 100.0


def beat(number: int) -> bytes:
    """One of them."""
    return b"data: beat %d\n\n" % number


@functools.cache
def certificates() -> tuple[ssl.SSLContext, dict[str, ssl.SSLContext]]:
    """What clients are met with; and those that trust it, by the version that they offer."""
    with tempfile.TemporaryDirectory() as folder:
        server, ca = tls.server_context("auto", ["localhost"], Path(folder) / "ca.pem")
        clients = {one: tls.client_context(ca, (one,), insecure=False) for one in ("h2", "http/1.1")}
    return server, clients


@functools.cache
def scenario(faults: tuple[str, ...]) -> Scenario:
    """These faults on the exchange that the cell is about."""
    listed = "".join(f"\n      - {fault}" for fault in faults)
    text = f"version: 1\nname: matrix\nrules:\n  - match: {{path: {TARGET}}}\n    faults:{listed}\n"
    with trap.known():
        return read(text if faults else "version: 1\nname: matrix\nrules: []\n")


class World:
    """A proxy with everybody around it."""

    def __init__(
        self, client: str, upstream: str, script: Callable[["World", Talk], Awaitable[None]], peers: trio.Nursery
    ) -> None:
        self.protocols = (client, upstream)
        self.peers = peers
        self.journal = Journal()
        self.served: tuple[list[Served], list[Served]] = ([], [])
        """The connections to each upstream."""
        self.theirs = 0
        """Which upstream the exchange is to have."""
        self.refuses: Callable[[], Awaitable[None]] | None = None
        """What a dial comes to, where it does not succeed."""
        self.refuses_all = False
        """At both upstreams."""
        self.holds = False
        """No dial to that upstream ends."""
        self.stopped = False
        """That upstream is."""
        self.news = trio.lowlevel.ParkingLot()
        self.links: list[Link] = []
        """The proxy's ends."""
        self.times = 1
        self.go = trio.Event()
        """What was held back by the cell itself goes on."""
        self.shown = certificates()[0]
        self.client: Client
        self.tls: Memory
        self.sibling: Client
        self.rest = b""
        """Of a head of which half is said."""
        self.term, self.second = trio.Event(), trio.Event()
        self.left: float | None = None
        """When the proxy was gone."""
        self.complaints: list[str] = []
        """What would stand on stderr, and what a client's TLS has said."""
        self.meanwhile: View | None = None
        """What a newcomer was answered while the event lasted."""
        self.file: JournalFile | None = None
        self._script = script
        self._proxies: trio.Nursery

    async def begin(self, faults: tuple[str, ...], *, upstreams: int) -> None:
        """The proxy runs; it has so many upstreams, of which the exchange is to get the last."""
        scheme = "h2c" if self.protocols[1] == "h2" else "http"
        self.theirs = upstreams - 1
        self.parts = Parts([f"{scheme}://{name}" for name in ("a", "b")[:upstreams]], seed=1)
        self.proxy = self.parts.proxy(scenario(faults), self.journal, self._connect)
        await self.peers.start(self._serve)

    async def _serve(self, task_status: trio.TaskStatus[None]) -> None:
        """As `run` serves until a signal, and leaves."""
        async with running(self.proxy) as self._proxies:
            task_status.started()
            await self.term.wait()
            async with trio.open_nursery() as leaving:

                async def cancel_at_second() -> None:
                    await self.second.wait()
                    leaving.cancel_scope.cancel()

                leaving.start_soon(cancel_at_second)
                await self.proxy.shut_down(GRACE)
                leaving.cancel_scope.cancel()
        self.left = trio.current_time()

    # ---- upstreams

    async def _connect(
        self, address: UpstreamAddress, _offers: tuple[str, ...], wrap: Callable[[Transport], Transport]
    ) -> Transport:
        await trio.lowlevel.checkpoint()
        index = "ab".index(address.host)
        while index == self.theirs and self.holds and self.refuses is None:
            await self.news.park()
        if self.refuses is not None and (self.refuses_all or index == self.theirs):
            await self.refuses()
        near, far = link(ROOM)
        assert isinstance(near, Link)
        self.links.append(near)
        make = H2Served if self.protocols[1] == "h2" else H1Served
        end = Stoppable(far)
        if self.stopped and index == self.theirs:
            end.stop()
        served = make(end, self._answer)
        self.served[index].append(served)
        self.peers.start_soon(served.serve)
        return wrap(near)

    async def _answer(self, talk: Talk) -> None:
        if talk.path == TARGET:
            await self._script(self, talk)
            return
        await talk.head()
        for number in range(BEATS if talk.path == SIBLING else 1):
            await trio.sleep(talk.path == SIBLING)
            await talk.event(beat(number))
        await talk.end()

    @property
    def upstream(self) -> Served:
        """The connection that the exchange has, or had."""
        return self.served[self.theirs][-1]

    @property
    def talks(self) -> list[Talk]:
        """What the upstreams have heard of the exchange."""
        return [talk for served in (*self.served[0], *self.served[1]) for talk in served.talks if talk.path == TARGET]

    # ---- clients

    async def connect(self) -> Client:
        """A further client."""
        near, far = link(ROOM)
        assert isinstance(far, Link)
        self.links.append(far)
        below = Stoppable(near)
        self.proxy.accept(*self.proxy.admit(far))
        client = self._client(below, below)
        await client.start()
        self.peers.start_soon(client.read)
        return client

    def connect_tls(self, says: int) -> tuple[Client, Memory]:
        """A client that says so many bytes of its handshake."""
        near, far = link(ROOM)
        assert isinstance(far, Link)
        self.links.append(far)
        below = Stoppable(near, says)
        number, wired, wire = self.proxy.admit(far, tls=True)
        self._proxies.start_soon(Listener._shake, number, wired, wire, self.shown, self.proxy.accept)
        context = certificates()[1]["h2" if self.protocols[0] == "h2" else "http/1.1"]
        transport = Memory(below, context, server_side=False, server_hostname="localhost")
        return self._client(transport, below), transport

    def _client(self, transport: Transport, below: Stoppable) -> Client:
        return H2Client(transport, below) if self.protocols[0] == "h2" else H1Client(transport, below)

    async def newcomer(self, path: str = NEWCOMER) -> View:
        """What somebody else is answered, at once."""
        client = await self.connect()
        with contextlib.suppress(*GONE):
            await client.ask(path)
        await trio.sleep(0.05)
        view = client.view(path)
        client.close()
        return view

    # ---- what came of it

    @property
    def record(self) -> ExchangeRecord | None:
        """The exchange in the journal."""
        found = [record for record in self.journal.exchanges if record.request.path == TARGET]
        assert len(found) < 2, found
        return found[0] if found else None

    @property
    def heard(self) -> str:
        """What became of the exchange at the upstream."""
        if not self.talks:
            return "not asked"
        talk = self.talks[-1]
        return "answered" if talk.answered else talk.told or "open"

    @property
    def open_links(self) -> int:
        """Connections that the proxy has not given back."""
        return sum(not one._closed for one in self.links)
