"""Raw HTTP/2 peers beside honest streams, through the whole proxy in virtual time: what was said to them, who noticed."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import islice

import trio
from hpack import Decoder
from trio.testing import wait_all_tasks_blocked

from chaosproxy.http2.frames import PREFACE
from chaosproxy.testing.h2_peers import H2Peer, h2_client
from chaosproxy.testing.proxied import Linked
from chaosproxy.testing.recorder import Ending, Recorder
from chaosproxy.wire.transport import Transport
from tests.security.flooding import Attack
from tests.security.h2_frames import DATA, GOAWAY, HEADERS, RST, Said, apart
from tests.virtual.shipped import event

PERIOD = 0.05
"""Seconds between two events of an honest stream: twenty a second."""


@dataclass
class Heard:
    """What a raw peer was told."""

    goaways: list[int]
    """Their codes."""
    resets: list[tuple[int, int]]
    """Stream and code."""
    statuses: dict[int, bytes]
    bodies: dict[int, bytes]
    ended: set[int]


class Odd:
    """A raw peer on one connection, that says what it likes; by itself it answers nothing."""

    def __init__(self, transport: Transport, *, client: bool = True) -> None:
        self.said = Said()
        self._recorder = Recorder(transport)
        self._decoder = Decoder()
        self._decoder.max_allowed_table_size = 2**32 - 1  # whatever it announces
        self._read, self._preface = b"", not client
        self.heard = Heard([], [], {}, {}, set())

    @property
    def ending(self) -> Ending | None:
        return self._recorder.ending

    async def say(self, data: bytes) -> None:
        """All of it, or until it is over."""
        with suppress(ConnectionError):
            await self._recorder.send(data)

    async def listen(self, until: Callable[[], object] = lambda: False, within: float = 20.0) -> None:
        """Until that holds, or the connection ends. trio.TooSlowError if neither comes."""
        with trio.fail_after(within):
            while not until() and (data := await self._recorder.read()):
                self._recorder.pieces.clear()
                self._take(data)

    def _take(self, data: bytes) -> None:
        self._read += data
        if self._preface:
            if len(self._read) < len(PREFACE):
                return
            self._read, self._preface = self._read.removeprefix(PREFACE), False
        whole = 0
        while len(self._read) >= whole + 9:
            end = whole + 9 + int.from_bytes(self._read[whole : whole + 3], "big")
            if end > len(self._read):
                break
            whole = end
        frames, self._read = self._read[:whole], self._read[whole:]
        for kind, flags, stream, payload in apart(frames):
            self._note(kind, flags, stream, payload)

    def _note(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        heard = self.heard
        if kind == GOAWAY:
            heard.goaways.append(int.from_bytes(payload[4:8], "big"))
        elif kind == RST:
            heard.resets.append((stream, int.from_bytes(payload, "big")))
        elif kind == HEADERS:
            fields = dict(self._decoder.decode(payload, raw=True))
            heard.statuses.setdefault(stream, bytes(fields.get(b":status", b"")))
        elif kind == DATA:
            heard.bodies[stream] = heard.bodies.get(stream, b"") + payload
        if kind in (DATA, HEADERS) and flags & 1:
            heard.ended.add(stream)

    def leave(self) -> None:
        self._recorder.transport.close()

    async def reset(self) -> None:
        await self._recorder.leave(Ending.RST)


class Watched:
    """An honest stream, twenty events a second, that somebody watches."""

    def __init__(self, peer: H2Peer, stream: int) -> None:
        self.peer, self.stream = peer, stream
        self._began = trio.current_time()

    async def begun(self) -> None:
        """Its head has come."""
        await self.peer.until(lambda: self.peer.streams[self.stream].heads)

    async def over(self, count: int) -> None:
        """It has come to its end, with every event of it whole and on time."""
        seen = self.peer.streams[self.stream]
        await self.peer.until(lambda: seen.over, within=10_000)
        assert (seen.ended, seen.reset, seen.status) == (True, None, 200)
        times = [round((time - self._began) / PERIOD, 6) for time, _ in seen.frames]
        assert times[:count] == list(range(count))
        assert seen.body == b"".join([*map(event, range(1, count + 1)), b"data: [DONE]\n\n"])


@asynccontextmanager
async def watched(transport: Transport) -> AsyncIterator[Watched]:
    """On a connection of its own."""
    async with h2_client(transport) as peer:
        one = Watched(peer, 1)
        await peer.request(1, "/sse")
        yield one


async def quiet(proxied: Linked, clients: int, exchanges: int, within: float = 100.0) -> None:
    """No more of them are left."""
    with trio.fail_after(within):
        while len(proxied.proxy._clients) > clients or len(proxied.proxy._exchanges) > exchanges:
            await trio.sleep(1)


PARTS = 200
"""Of an attack in one write."""


async def attacks(odd: Odd, attack: Attack) -> None:
    """As fast as it is read, until it is over; nobody else has to wait meanwhile, so no time passes."""
    await odd.say(attack.first)
    parts, sent = attack.parts(), 0
    async with trio.open_nursery() as nursery:
        nursery.start_soon(odd.listen)
        while odd.ending is None and not odd.heard.goaways and sent < attack.within + PARTS:
            some = list(islice(parts, PARTS))
            sent += len(some)
            await odd.say(b"".join(some))
            await wait_all_tasks_blocked()
