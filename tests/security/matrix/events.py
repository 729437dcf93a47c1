"""What can happen: each event is a function that makes it so, and one that undoes it where it does not last.

Must not know: what is right.
"""

import errno
import socket
import ssl
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import trio

from chaosproxy.cli.watch import Watch
from chaosproxy.errors import FaultBug
from chaosproxy.journal.jsonl import JournalFile
from chaosproxy.scenario.schema import Scenario
from chaosproxy.wire import dial
from chaosproxy.wire.flaws import flawed
from chaosproxy.wire.links import link
from chaosproxy.wire.memory import Memory
from tests.security.matrix.clients import GONE, H2Client
from tests.security.matrix.trap import ARMED
from tests.security.matrix.upstreams import H2Served, H2Talk
from tests.security.matrix.world import TARGET, World, certificates

CALM = 0xB
"""ENHANCE_YOUR_CALM, which nothing else here says."""
FULL = Path("/dev/full")
"""A device that has no room."""
OTHER = "version: 1\nname: other\nupstream: {max_connections: 50}\nrules:\n  - match: {path: /newcomer}\n    faults: [{respond: 418}]\n"
WRONG = "version: 1\nname: wrong\nrules:\n  - faults: [{cut: {at: {event: none}}}]\n"


@dataclass(frozen=True)
class Event:
    """`about` for a person; `act` makes it happen, `undo` ends it."""

    key: str
    about: str
    act: Callable[[World], Awaitable[None]]
    undo: Callable[[World], None] = lambda _: None
    kind: str = ""
    """upstream, dial, client, h2 client, h2 upstream, bug: what it needs, or whom it takes along."""


# ---- the upstream


async def _reset(w: World) -> None:
    w.upstream.transport.rst()


async def _fin(w: World) -> None:
    w.upstream.transport.fin()


async def _vanish(w: World) -> None:
    w.refuses = _refused
    w.news.unpark_all()
    for served in w.served[w.theirs]:
        if not served.over:
            served.transport.rst()


async def _stop(w: World) -> None:
    w.stopped = True
    for served in w.served[w.theirs]:
        served.transport.stop()


def _continue(w: World) -> None:
    w.stopped = False
    for served in w.served[w.theirs]:
        served.transport.go_on()


async def _stream_reset(w: World) -> None:
    talk = w.talks[-1]
    assert isinstance(talk, H2Talk)
    talk.quits = True
    await talk.peer.reset(talk.number, CALM)


async def _goaway(w: World, *, taken: bool) -> None:
    served = w.upstream
    assert isinstance(served, H2Served)
    latest = max((talk.number for talk in served.talks if isinstance(talk, H2Talk)), default=0)
    if not taken:
        served.talks[-1].quits = True
    await served.peer.goaway(latest if taken else latest - 2)


# ---- dialling


class _Sockets(trio.abc.SocketFactory):
    """Where the kernel gives none, or none that connects."""

    def __init__(self, number: int, *, connects: bool = False) -> None:
        self._error, self._connects = OSError(number, "no socket"), connects

    def socket(self, *_: object) -> "_Sockets":
        if not self._connects:
            raise self._error
        return self

    async def connect(self, _: object) -> None:
        raise self._error

    def close(self) -> None:
        pass


class _Resolver(trio.abc.HostnameResolver):
    """One that knows nobody."""

    async def getaddrinfo(self, *_: object) -> list[object]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    async def getnameinfo(self, *_: object) -> tuple[str, str]:
        raise NotImplementedError


async def _refused() -> None:
    trio.socket.set_custom_socket_factory(_Sockets(errno.ECONNREFUSED, connects=True))
    await dial.dial("127.0.0.1", 80)


async def _no_descriptor() -> None:
    trio.socket.set_custom_socket_factory(_Sockets(errno.EMFILE))
    await dial.dial("127.0.0.1", 80)


async def _no_name() -> None:
    trio.socket.set_custom_hostname_resolver(_Resolver())
    await dial.dial("origin.invalid", 80)


async def _expired(peers: trio.Nursery) -> None:
    server, clients = certificates()
    near, far = link()

    async def serve() -> None:
        try:
            await Memory(far, out_of_date(server), server_side=True).handshake()
        except GONE:
            far.close()

    peers.start_soon(serve)
    with dial._closing(near, "localhost:443", "TLS handshake", dial._handshake_reason):
        await Memory(near, clients["h2"], server_side=False, server_hostname="localhost").handshake()


_FLAWED: dict[int, ssl.SSLContext] = {}


def out_of_date(server: ssl.SSLContext) -> ssl.SSLContext:
    """Made once."""
    return _FLAWED.setdefault(id(server), _FLAWED.get(id(server)) or flawed(server, {"expired"}))


async def _no_dial(w: World, refuses: Callable[[], Awaitable[None]]) -> None:
    w.refuses, w.refuses_all = refuses, True
    w.news.unpark_all()
    w.meanwhile = await w.newcomer()


async def _no_certificate(w: World) -> None:
    await _no_dial(w, partial(_expired, w.peers))


def _dials(w: World) -> None:
    w.refuses, w.refuses_all = None, False


# ---- the client


async def _client_rst(w: World) -> None:
    w.client.rst()


async def _client_fin(w: World) -> None:
    w.client.fin()


async def _client_killed(w: World) -> None:
    w.client.close()


async def _client_stop(w: World) -> None:
    w.client.below.stop()


def _client_continues(w: World) -> None:
    if not w.client.gone:
        w.client.below.go_on()


async def _client_stream_reset(w: World) -> None:
    assert isinstance(w.client, H2Client)
    await w.client.reset(TARGET)


async def _client_goaway(w: World) -> None:
    assert isinstance(w.client, H2Client)
    await w.client.peer.goaway(0)


# ---- the proxy


async def _full(w: World) -> None:
    w.file = JournalFile(FULL, w.complaints.append)
    w.journal.listen(w.file)


async def _term(w: World) -> None:
    w.term.set()


async def _term_twice(w: World) -> None:
    w.term.set()
    await trio.sleep(0.2)
    w.second.set()


async def _reload(w: World, text: str) -> None:
    def follow(scenario: Scenario) -> None:
        w.proxy.reload(w.parts.planner(scenario))

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "scenario.yaml")
        file.write_text("version: 1\n", "utf-8")
        watch = Watch((file,), follow, w.complaints.append)
        file.write_text(text, "utf-8")
        watch.check()
    w.meanwhile = await w.newcomer()


async def _spring(w: World, raises: Callable[[], BaseException]) -> None:
    ARMED[-1].spring(raises(), trio.current_time())


EVENTS = (
    Event("killed", "the upstream is killed, and refuses", _vanish, _dials, "upstream"),
    Event("reset", "the upstream resets its connection", _reset, kind="upstream"),
    Event("fin", "the upstream closes its connection", _fin, kind="upstream"),
    Event("stopped", "the upstream is stopped, and goes on", _stop, _continue, "upstream"),
    Event("client reset", "the client resets", _client_rst, kind="client"),
    Event("client fin", "the client closes its way", _client_fin, kind="client"),
    Event("client killed", "the client is killed", _client_killed, kind="client"),
    Event("client stopped", "the client is stopped, and goes on", _client_stop, _client_continues, "client"),
    Event("client stream", "RST_STREAM of the client", _client_stream_reset, kind="h2 client"),
    Event("stream", "RST_STREAM of the upstream", _stream_reset, kind="h2 upstream"),
    Event("client goaway", "GOAWAY of the client", _client_goaway, kind="h2 client"),
    Event("goaway", "GOAWAY of the upstream, which serves on", partial(_goaway, taken=True), kind="h2 upstream"),
    Event("goaway refused", "GOAWAY of the upstream that takes the stream along", partial(_goaway, taken=False), kind="h2 upstream"),
    Event("no descriptor", "EMFILE at each dial", partial(_no_dial, refuses=_no_descriptor), _dials, "dial"),
    Event("no name", "the upstream's name is not found", partial(_no_dial, refuses=_no_name), _dials, "dial"),
    Event("certificate", "a certificate has expired", _no_certificate, _dials, "dial"),
    Event("full", "the journal's disk is full", _full),
    Event("term", "SIGTERM", _term),
    Event("second term", "a second SIGTERM", _term_twice),
    Event("reload", "another scenario is loaded", partial(_reload, text=OTHER)),
    Event("bad reload", "a scenario with a mistake is to be loaded", partial(_reload, text=WRONG)),
    Event("bug", "a fault raises FaultBug", partial(_spring, raises=lambda: FaultBug(0, "x_trap", None, "a bug")), kind="bug"),
    Event("exception", "a fault raises an exception", partial(_spring, raises=lambda: ZeroDivisionError("a bug")), kind="bug"),
    Event("memory", "a fault raises MemoryError", partial(_spring, raises=lambda: MemoryError("a bug")), kind="bug"),
)  # fmt: skip
