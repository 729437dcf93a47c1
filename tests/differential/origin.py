"""The origin of the comparison: a raw socket that answers by the request's path, and knows when it sent what.

A request is for `/NAME?ID`: NAME is a script of `SCRIPTS`, ID what `origin.seen` keeps it under. A script is a list of
steps; each event that is sent has its moment in `Seen.sent`, so that a delay can be told in events as well as in
seconds: one that a busy machine stops knows nothing of it, but neither does its client, which runs in the same process.

Rules: nothing is said that the script does not say. Must not know: what stands in between.
"""

import contextlib
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import trio

from chaosproxy.testing.listening import listening
from chaosproxy.testing.recorder import WITHIN, Ending, Recorder
from chaosproxy.wire.transport import Transport
from tests.differential.scripts import BLOCK, GAP, SCRIPTS, Events, Flood, Head, Last, Pause, Step, event, head_of

FIELD = re.compile(r"(?m)^([\w-]+):")
FRAMING = {"transfer-encoding", "content-length", "connection"}


@dataclass(slots=True)
class Seen:
    """One request, as the origin saw it."""

    head: bytes = b""
    began: float = 0.0
    """When the answer's head was sent; where there is none, when the request came."""
    planned: int = 0
    """Events in the whole answer."""
    sent: list[float] = field(default_factory=list)
    """When each event was."""
    pushed: int = 0
    """Body bytes that the kernel has taken."""
    ended: float | None = None
    """When the script was over, by itself or because the peer had left."""
    left: Ending | None = None
    """How the peer left, if it did before the script was over."""
    left_at: float | None = None
    sent_before: int = 0
    """Events that had been sent when it left."""
    here: trio.Event = field(default_factory=trio.Event)
    """The request has come."""
    over: trio.Event = field(default_factory=trio.Event)
    fields: frozenset[str] = frozenset()
    """The names in its own head, without those that are framing."""

    async def arrived(self) -> None:
        """trio.TooSlowError if nobody asks."""
        with trio.fail_after(WITHIN):
            await self.here.wait()

    async def events(self, count: int) -> None:
        """Until so many are sent, and the last one has had its time to arrive."""
        with trio.fail_after(WITHIN):
            while len(self.sent) < count:
                await trio.sleep(GAP / 5)


class Origin:
    """Serves any number of connections."""

    def __init__(self) -> None:
        self.port = 0
        self.seen: dict[str, Seen] = {}

    def expect(self, name: str) -> Seen:
        """What will be seen of the request with that ID."""
        return self.seen.setdefault(name, Seen())

    async def serve(self, transport: Transport) -> None:
        """One connection, request after request."""
        peer, buffer, going_on = Recorder(transport), bytearray(), True
        try:
            while going_on:
                while b"\r\n\r\n" not in buffer:
                    data = await peer.read()
                    if not data:
                        return
                    buffer.extend(data)
                head = bytes(buffer[: buffer.index(b"\r\n\r\n")])
                del buffer[: len(head) + 4]
                path, _, name = head.split(b" ")[1].decode().rpartition("?")
                if path.lstrip("/") not in SCRIPTS:
                    return  # somebody who is looking for an open port
                seen = self.expect(name)
                seen.head = head
                seen.here.set()
                going_on = await _answer(peer, buffer, SCRIPTS[path.lstrip("/")], seen)
        finally:
            transport.close()


@contextlib.asynccontextmanager
async def serving() -> AsyncIterator[Origin]:
    """An `Origin` that listens while the block runs."""
    origin = Origin()
    async with listening(origin.serve) as origin.port:
        yield origin


async def _answer(peer: Recorder, buffer: bytearray, script: Sequence[Step], seen: Seen) -> bool:
    """Play it, until it is over or the peer has left; what comes meanwhile, of the next request, is kept. True: the
    connection may carry a further one."""
    seen.began = trio.current_time()
    seen.planned = sum(step.count for step in script if isinstance(step, Events))
    ending: Ending | None = None
    try:
        async with trio.open_nursery() as nursery:

            async def watch() -> None:
                while data := await peer.read():
                    buffer.extend(data)
                seen.left, seen.left_at, seen.sent_before = peer.ending, peer.ended_at, len(seen.sent)
                nursery.cancel_scope.cancel()

            nursery.start_soon(watch)
            try:
                ending = await _play(peer, script, seen)
            except ConnectionError:
                ending = Ending.OPEN  # it has left: how, the reader is told
            if ending is Ending.OPEN:
                await trio.sleep_forever()
            nursery.cancel_scope.cancel()
        seen.ended = trio.current_time()
        if ending is not None and peer.ending is None:
            await peer.leave(ending)
    finally:
        seen.over.set()
    return ending is None and peer.ending is None


async def _play(peer: Recorder, script: Sequence[Step], seen: Seen) -> Ending | None:
    """How the connection is to end then; None: it may be kept."""
    framing = ""
    for step in script:
        match step:
            case Head():
                framing = step.framing
                seen.began = trio.current_time()
                await peer.send(head_of(step))
                seen.fields = frozenset(FIELD.findall(head_of(step).decode().lower())) - FRAMING
            case Events():
                await _send_events(peer, step, seen, chunked=framing == "chunked")
            case Pause():
                await trio.sleep(step.seconds)
            case Flood():
                await _flood(peer, step, seen, chunked=framing == "chunked")
            case Last():
                if framing == "chunked":
                    await peer.send(b"0\r\n\r\n")
                return Ending.FIN if framing == "close" else None
            case Ending():
                return step
    return None


async def _send_events(peer: Recorder, events: Events, seen: Seen, *, chunked: bool) -> None:
    """Each at its time; those that a busy machine has made late one after the other, with half a gap between them."""
    due = trio.current_time()
    for _ in range(events.count):
        data = event(len(seen.sent) + 1, events.size)
        seen.sent.append(trio.current_time())
        seen.pushed += len(data)
        await peer.send(b"%x\r\n%b\r\n" % (len(data), data) if chunked else data)
        if events.gap:
            due += events.gap
            await trio.sleep_until(max(due, trio.current_time() + events.gap / 2))
            await _let_it_read()


async def _let_it_read() -> None:
    """A client that shares this process reads what has come before the next is sent, however late both are."""
    for _ in range(2):
        await trio.lowlevel.checkpoint()


async def _flood(peer: Recorder, step: Flood, seen: Seen, *, chunked: bool) -> None:
    block = event(0, BLOCK)
    data = b"%x\r\n%b\r\n" % (len(block), block) if chunked else block
    for _ in range(step.nbytes // len(block)):
        await peer.send(data)
        seen.pushed += len(block)
        await trio.lowlevel.checkpoint()
