"""What the soak consists of: clients of all kinds, over any transport, drawn by a seed.

Of a hundred exchanges forty share connections, twenty have one of their own, twenty-five are streams of HTTP/2, ten are left
by their client at some byte, five by the upstream. Rules: every request that has gone out whole is counted, and whatever is
answered is read to its end. Must not know: the proxy, but by its scenario.
"""

import contextlib
import math
import random
from collections import Counter
from collections.abc import Awaitable, Callable

import trio

from chaosproxy.http2 import frames
from chaosproxy.testing.recorder import Recorder
from chaosproxy.wire.transport import Transport

FAULTS: dict[str, list[dict[str, object]]] = {
    "none": [],
    "latency": [{"latency": "2ms"}],
    "buffer": [{"buffer": 40}],
    "cut": [{"cut": {"at": {"event": 2}}}],
    "reset": [{"cut": {"at": {"event": 2}, "then": "rst"}}],
    "stall": [{"stall": {"at": {"event": 1}, "for": "2ms"}}],
    "error": [{"error_event": {"at": {"event": 2}}}],
    "inject": [{"inject": {"comment": "x", "at": {"event": 1}}}],
    "pieces": [{"resegment": {"bytes": 25}}],
    "gzip": [{"compress": {"when_accepted": False}}],
    "busy": [{"respond": {"status": 503, "retry_after": 1}}],
    "limit": [{"timeout": {"idle": "30s"}}, {"drop": {"at": {"event": 3}}}],
}
SCENARIO = {
    "version": 1,
    "rules": [{"match": {"path": f"/{name}/*"}, "faults": faults} for name, faults in FAULTS.items() if faults],
}
KEPT = 20
"""Requests of a connection that is kept."""
LASTS = 10
"""So many of them are answered, on average, before the connection ends for one of them."""
STREAMS = 100
"""Of a connection of HTTP/2."""
AT_A_TIME = 20
WHOLE = 0.9
"""So many of the connections of HTTP/2 are not reset by one of their streams."""
ANSWER = 300
"""Bytes of an answer, about; for more nobody waits longer than `LONGEST`."""
LONGEST = 0.02
_CONNECTION_WINDOW = 1 << 20

Connect = Callable[[], Awaitable[Transport]]


class Mix:
    """Draws and asks. `asked` counts what has gone out, by kind."""

    def __init__(self, connect: Connect, seed: int) -> None:
        self.asked: Counter[str] = Counter()
        self._connect = connect
        self._random = random.Random(seed)
        self._kinds = {self.kept: 40 / LASTS, self.alone: 20, self.streams: 25 / STREAMS, self.left: 10, self.broken: 5}
        self._wanted, self._until = 0, math.inf

    @property
    def total(self) -> int:
        """How many requests have gone out."""
        return self.asked.total()

    async def run(self, number: int, workers: int, until: float = math.inf) -> None:
        """So many more, or a few beyond that, or as many as there is time for; each worker does one thing after the other."""
        self._wanted, self._until = self.total + number, until
        async with trio.open_nursery() as nursery:
            for _ in range(workers):
                nursery.start_soon(self._work)

    async def _work(self) -> None:
        kinds, weights = list(self._kinds), list(self._kinds.values())
        while self.total < self._wanted and trio.current_time() < self._until:
            (kind,) = self._random.choices(kinds, weights)
            transport = await self._connect()
            try:
                await kind(Recorder(transport))
            finally:
                transport.close()

    def _path(self, how: str = "", *, whole: bool = False) -> bytes:
        fault = self._random.choice([name for name in FAULTS if not whole or name != "reset"])
        return f"/{fault}/{how or self._random.choice(['plain', 'sse'])}".encode()

    async def kept(self, peer: Recorder) -> None:
        """One request after the other on one connection, as long as that lasts."""
        for _ in range(KEPT):
            self.asked["kept"] += 1
            await _ask(peer, self._path())
            if peer.ending is not None:
                return

    async def alone(self, peer: Recorder) -> None:
        """A connection for each."""
        self.asked["alone"] += 1
        await _ask(peer, self._path())

    async def broken(self, peer: Recorder) -> None:
        """The upstream breaks off."""
        self.asked["broken"] += 1
        await _ask(peer, self._path(self._random.choice(["fin", "rst"])))

    async def left(self, peer: Recorder) -> None:
        """The client leaves at some byte of its request or of the answer, by FIN or by RST."""
        request = _h1(self._path())
        place = self._random.randrange(len(request) + ANSWER)
        self.asked["left"] += place >= len(request)
        await peer.send(request[:place])
        seen = len(request)
        with trio.move_on_after(LONGEST):
            while seen < place and (data := await peer.read()):
                seen += len(data)
        if self._random.random() < 0.5:
            peer.transport.rst()

    async def streams(self, peer: Recorder) -> None:
        """Streams of one connection, some at a time; some are reset by their client."""
        client = H2(peer)
        await client.greet()
        whole = self._random.random() < WHOLE
        for first in range(0, STREAMS, AT_A_TIME):
            paths = {2 * number + 1: self._path(whole=whole) for number in range(first, first + AT_A_TIME)}
            self.asked["streams"] += len(paths)
            await client.ask(paths, reset=self._given_up(paths))
            if peer.ending is not None:
                return

    def _given_up(self, paths: dict[int, bytes]) -> int:
        """One of them, or none. None beside one whose end is that of the connection: whether what is asked next arrives
        would be chance."""
        if any(path.startswith(b"/reset/") for path in paths.values()):
            return 0
        return self._random.choice([0, *paths])


def _h1(path: bytes) -> bytes:
    return b"GET %s HTTP/1.1\r\nhost: x\r\n\r\n" % path


async def _ask(peer: Recorder, path: bytes) -> None:
    """One exchange over HTTP/1.1, until its answer or the connection has ended."""
    peer.pieces.clear()
    with contextlib.suppress(ConnectionError):  # the next read says how it ended
        await peer.send(_h1(path))
    while await peer.read():
        received = peer.received
        head, end, body = received.partition(b"\r\n\r\n")
        if not end:
            continue
        if b"transfer-encoding: chunked" in head.lower():
            if body.endswith(b"0\r\n\r\n"):
                return
        elif len(body) >= int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0] or 1 << 30):
            return


class H2:
    """A client of HTTP/2 that looks at little more than where streams end."""

    def __init__(self, peer: Recorder) -> None:
        self._peer = peer
        self._rest = b""
        self._open: set[int] = set()

    async def greet(self) -> None:
        await self._peer.send(frames.PREFACE + frames.settings([]) + frames.window_update(0, _CONNECTION_WINDOW))

    async def begin(self, paths: dict[int, bytes]) -> None:
        """All of these at once, and no further."""
        self._open |= paths.keys()
        await self._peer.send(b"".join([_head(number, path) for number, path in paths.items()]))

    async def ask(self, paths: dict[int, bytes], *, reset: int) -> None:
        """All of these at once, until all are over. `reset`: one that is given up as soon as something has come."""
        self._open |= paths.keys()
        written = b"".join([_head(number, path) for number, path in paths.items()])
        while True:
            try:
                await self._peer.send(written)
            except ConnectionError:
                written = b""
            if not self._open:
                return
            data = await self._peer.read()
            if not data:
                return
            self._peer.pieces.clear()
            written = self._heard(data)
            if reset in self._open:
                self._open.discard(reset)
                written += frames.reset(reset, 8)

    def _heard(self, data: bytes) -> bytes:
        """What is to be answered."""
        data, at = self._rest + data, 0
        answers: list[bytes] = []
        while at + frames.HEADER_SIZE <= len(data):
            length_kind, flags, number = frames.HEADER.unpack_from(data, at)
            kind, end = length_kind & 0xFF, at + frames.HEADER_SIZE + (length_kind >> 8)
            if end > len(data):
                break
            if kind == frames.RST_STREAM or (kind in (frames.DATA, frames.HEADERS) and flags & frames.END_STREAM):
                self._open.discard(number)
            elif kind in (frames.SETTINGS, frames.PING) and not flags & frames.ACK:
                answered = data[at + frames.HEADER_SIZE : end] if kind == frames.PING else b""
                answers.append(frames.frame(kind, frames.ACK, 0, answered))
            at = end
        self._rest = data[at:]
        return b"".join(answers)


def _head(number: int, path: bytes) -> bytes:
    """GET over http, the path and the authority not indexed (RFC 7541 section 6.2.2)."""
    block = b"\x82\x86\x04" + bytes([len(path)]) + path + b"\x01\x01x"
    return frames.frame(frames.HEADERS, frames.END_HEADERS | frames.END_STREAM, number, block)
