"""`python -m tests.security.matrix.peer`: the upstream or the client of a cell as a process of its own, which can be killed
and stopped.

It is told on stdin, a word a line: `rst`, `fin`, `go`, `report`; it answers each on stdout with what it has seen, as JSON.
Must not know: the proxy, events, what is right.
"""

import json
import socket
import sys
from pathlib import Path

import trio

from chaosproxy.testing.h2_peers import H2Peer
from chaosproxy.testing.listening import listening
from chaosproxy.wire import tls
from chaosproxy.wire.memory import Memory
from chaosproxy.wire.plain import Plain
from chaosproxy.wire.transport import Transport
from tests.security.matrix.clients import GONE, Client, H1Client, H2Client
from tests.security.matrix.states import STATES, State
from tests.security.matrix.stoppable import Stoppable
from tests.security.matrix.upstreams import H1Served, H2Served, Served, Talk
from tests.security.matrix.world import FIRST, TARGET, beat

TIMES = {"h1": 60, "h2": 2}
"""How often what has to be more than a kernel takes, or a window, is said."""
SIBLING, BEATS, GAP = "/sibling", 20, 0.1
"""What another client is answered meanwhile."""


class Here:
    """As much of a world as a state knows in this process."""

    theirs = 0

    def __init__(self, protocol: str, peers: trio.Nursery) -> None:
        self.protocols = (protocol, protocol)
        self.peers = peers
        self.times = TIMES[protocol]
        self.go = trio.Event()
        self.complaints: list[str] = []
        self.rest = b""
        self.holds = False
        self.news = trio.lowlevel.ParkingLot()
        self.client: Client
        self.served: list[Served] = []
        self.reached = False
        """What brings the exchange to its state is done."""
        self.tls: Memory
        self.below: Plain
        self.ca: Path

    def connect_tls(self, says: int) -> tuple[Client, Memory]:
        """The connection is there: its handshake."""
        below = Stoppable(self.below, says)
        offers = ("h2",) if self.protocols[0] == "h2" else ("http/1.1",)
        context = tls.client_context(self.ca, offers, insecure=False)
        self.tls = Memory(below, context, server_side=False, server_hostname="127.0.0.1")
        return made(self.protocols[0], self.tls, below), self.tls


def made(protocol: str, transport: Transport, below: Stoppable) -> Client:
    """A client of that version."""
    return H2Client(transport, below) if protocol == "h2" else H1Client(transport, below)


def serving(protocol: str, transport: Stoppable, here: Here, state: State | None) -> Served:
    """A connection to an upstream; without a state one that answers only others."""

    async def answer(talk: Talk) -> None:
        if talk.path == TARGET and state is not None:
            await state.answer(here, talk)
            return
        await talk.head()
        for number in range(BEATS if talk.path == SIBLING else 1):
            if talk.path == SIBLING:
                await trio.sleep(GAP)
                if number == BEATS - 1:
                    await here.go.wait()
            await talk.event(beat(number))
        await talk.end()

    served = (H2Served if protocol == "h2" else H1Served)(transport, answer)
    here.served.append(served)
    return served


def heard(here: Here) -> dict[str, object]:
    """What an upstream has to report."""
    talks = [talk for served in here.served for talk in served.talks if talk.path == TARGET]
    talk = talks[-1] if talks else None
    return {
        "heard": "not asked" if talk is None else "answered" if talk.answered else talk.told or "open",
        "body": len(talk.body) if talk else 0,
        "sent": len(talk.sent) if talk else 0,
        "connections": len(here.served),
        "open": sum(not served.over for served in here.served),
    }


def seen(here: Here, state: State) -> dict[str, object]:
    """What a client has to report."""
    if not hasattr(here, "client"):
        return {}
    view = here.client.view(TARGET)
    body = state.body * here.times if state.key == "blocked" else state.body
    return {
        "reached": here.reached,
        "first": here.client.view(FIRST).whole,
        "status": view.status,
        "said": view.said,
        "whole": view.whole,
        "ending": view.ending,
        "body": len(view.body),
        "exact": body.startswith(view.body),
        "all": view.body == body,
        "own": view.body.startswith(b"chaosproxy: "),
    }


async def upstream(state: State, protocol: str, here: Here) -> None:
    """Serve, until the process ends."""
    context = tls.server_context("auto", ["127.0.0.1"], Path(sys.argv[4]))[0] if state.phase == "dialling" else None

    async def serve(transport: Transport) -> None:
        if context is not None:
            idle = serving(protocol, Stoppable(transport), here, state)
            await here.go.wait()
            here.served.remove(idle)
            transport = Memory(transport, context, server_side=True)
            try:
                await transport.handshake()
            except GONE:
                return
        await serving(protocol, Stoppable(transport), here, state).serve()

    async with listening(serve) as port:
        say({"port": port})
        await trio.sleep_forever()


async def client(state: State, here: Here) -> None:
    """Connect, and bring the exchange to its state."""
    sock = socket.socket()
    if state.key == "blocked":
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**20)
    sock.connect(("127.0.0.1", int(sys.argv[4])))
    sock.setblocking(False)
    here.below = Plain(sock)
    here.ca = Path(sys.argv[5])
    if state.key != "handshake":
        below = Stoppable(here.below)
        here.client = made(here.protocols[0], below, below)
        await here.client.start()
        here.peers.start_soon(here.client.read)
        if isinstance(peer := getattr(here.client, "peer", None), H2Peer):  # nothing of it may come within half a frame
            await peer.until(lambda: peer.settings and peer.acknowledged)
    await state.reach(here)
    here.reached = True


async def commands(state: State, here: Here, *, is_client: bool) -> None:
    """Until stdin ends, and the process with it."""
    stdin = trio.lowlevel.FdStream(sys.stdin.fileno())
    rest = b""
    async for data in stdin:
        *words, rest = (rest + data).split(b"\n")
        for word in words:
            target = here.client if is_client else here.served[-1].transport if here.served else None
            if word == b"go":
                here.go.set()
                if is_client:
                    here.peers.start_soon(state.rest, here)
            elif word in (b"rst", b"fin") and target is not None:
                (target.rst if word == b"rst" else target.fin)()
            say(seen(here, state) if is_client else heard(here))
    here.peers.cancel_scope.cancel()


def say(what: object) -> None:
    """One line."""
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


async def main() -> None:
    """`peer upstream STATE PROTOCOL CA`, `peer client STATE PROTOCOL PORT CA`."""
    role, key, protocol = sys.argv[1:4]
    state = next(state for state in STATES if state.key == key)
    async with trio.open_nursery() as peers:
        here = Here(protocol, peers)
        peers.start_soon(lambda: commands(state, here, is_client=role == "client"))
        if role == "upstream":
            await upstream(state, protocol, here)
        else:
            await client(state, here)


if __name__ == "__main__":
    trio.run(main)
