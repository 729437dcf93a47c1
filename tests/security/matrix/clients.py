"""A client of a cell, over either version of HTTP: it asks, reads to the end, and tells what it has seen.

Must not know: the proxy, what is right.
"""

import contextlib
from abc import ABC, abstractmethod
from dataclasses import dataclass

import trio
from hyperframe.frame import HeadersFrame

from chaosproxy.model.codes import NO_ERROR, code_name
from chaosproxy.testing.h2_peers import H2Peer
from chaosproxy.testing.recorder import Recorder
from chaosproxy.wire.transport import Transport
from tests.security.matrix.stoppable import Stoppable

GONE = (ConnectionError, trio.ClosedResourceError)
UPGRADE = b"Connection: Upgrade\r\nUpgrade: websocket\r\n"


@dataclass(frozen=True)
class View:
    """One answer, as it looks to the client."""

    status: int | None = None
    body: bytes = b""
    whole: bool = False
    ending: str = ""
    """`fin`, `rst`, `stream:CODE`; empty while there is none."""

    @property
    def said(self) -> str:
        """In a few words."""
        what = "nothing" if self.status is None else f"{self.status} {'whole' if self.whole else 'cut'}"
        return what if self.whole else f"{what} {self.ending or 'open'}"


class Client(ABC):
    """One connection; `below` is what can be stopped and broken."""

    def __init__(self, below: Stoppable) -> None:
        self.below = below
        self.asked: list[str] = []
        self.gone = False
        """It has left, in whatever way."""
        self.keeps = False
        """It does not close when the proxy does."""

    async def read(self) -> None:
        """To the end of the connection."""
        with contextlib.suppress(*GONE):
            await self._read()
            if not self.keeps:
                self.below.close()

    def rst(self) -> None:
        self.gone = True
        self.below.rst()

    def fin(self) -> None:
        """Say nothing further, and read on."""
        self.gone = True
        self.below.fin()

    def close(self) -> None:
        """As the kernel does for a process that was killed."""
        self.gone = True
        self.below.close()

    async def ask(self, path: str, *, part: int = 0) -> None:
        """A request; with a `part` one with a body, of which half is said. Where the proxy has gone, nothing happens."""
        if self.gone:
            return
        self.asked.append(path)
        with contextlib.suppress(*GONE):
            await self._ask(path, part)

    async def say(self, data: bytes, *, end: bool = False) -> None:
        """More of the request's body, or into the tunnel."""
        if not self.gone:
            with contextlib.suppress(*GONE):
                await self._say(data, end=end)

    @abstractmethod
    async def start(self) -> None: ...

    @abstractmethod
    async def _read(self) -> None: ...

    @abstractmethod
    async def _ask(self, path: str, part: int) -> None: ...

    @abstractmethod
    async def _say(self, data: bytes, *, end: bool) -> None: ...

    @abstractmethod
    async def half(self, path: str) -> bytes:
        """Say half of a request's head; the other half is answered."""

    @abstractmethod
    async def write(self, data: bytes) -> None: ...

    @abstractmethod
    async def switch(self, path: str) -> None:
        """Ask for a tunnel."""

    @abstractmethod
    def block(self) -> None:
        """Take no more of the answer than there is room for."""

    @abstractmethod
    async def unblock(self) -> None: ...

    @abstractmethod
    def view(self, path: str) -> View:
        """The answer to `path`."""

    @abstractmethod
    def beats(self, path: str) -> list[tuple[float, bytes]]:
        """When which piece of its body came."""


class H1Client(Client):
    def __init__(self, transport: Transport, below: Stoppable) -> None:
        super().__init__(below)
        self.peer = Recorder(transport)

    async def start(self) -> None:
        pass

    async def _read(self) -> None:
        while await self.peer.read():
            pass

    async def _ask(self, path: str, part: int) -> None:
        length = b"Content-Length: %d\r\n" % (2 * part) if part else b""
        method = b"POST" if part else b"GET"
        await self.write(b"%s %s HTTP/1.1\r\nHost: x\r\n%s\r\n" % (method, path.encode(), length) + b"u" * part)

    async def _say(self, data: bytes, *, end: bool) -> None:
        await self.write(data)

    async def half(self, path: str) -> bytes:
        self.asked.append(path)
        await self.write(b"GET %s HTTP/1.1\r\nHo" % path.encode())
        return b"st: x\r\n\r\n"

    async def write(self, data: bytes) -> None:
        await self.peer.send(data)

    async def switch(self, path: str) -> None:
        self.asked.append(path)
        await self.write(b"GET %s HTTP/1.1\r\nHost: x\r\n%s\r\n" % (path.encode(), UPGRADE))

    def block(self) -> None:
        self.below.stop_reading()

    async def unblock(self) -> None:
        self.below.go_on()

    def view(self, path: str) -> View:
        found = _answers(self.peer.received)
        index = self.asked.index(path) if path in self.asked else len(found)
        ending = str(self.peer.ending or "")
        if index >= len(found):
            return View(ending=ending)
        status, body, whole = found[index]
        return View(status, body, whole or (status == 101 and ending == "fin"), ending)

    def beats(self, path: str) -> list[tuple[float, bytes]]:
        found = [(time, data.partition(b"\r\n")[2][:-2]) for time, data in self.peer.pieces]
        return [(time, data) for time, data in found if data.startswith(b"data: ")]


def _answers(received: bytes) -> list[tuple[int, bytes, bool]]:
    """Status, body and whether it is whole, one after the other."""
    found = []
    at = 0
    while (behind := received.find(b"\r\n\r\n", at) + 4) > 3:
        head = received[at:behind].lower()
        status = int(head.split(b" ")[1])
        if status == 101:
            return [*found, (status, received[behind:], False)]
        if b"transfer-encoding: chunked" in head:
            body, whole, at = _unchunked(received, behind)
        else:
            at = behind + int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
            body, whole = received[behind:at], at <= len(received)
        found.append((status, body, whole))
    return found


def _unchunked(received: bytes, at: int) -> tuple[bytes, bool, int]:
    """The body, as far as it has come, whether it has its end, and where that is."""
    parts = []
    while (begins := received.find(b"\r\n", at) + 2) > 1:
        length = int(received[at : begins - 2], 16)
        at = begins + length + 2
        parts.append(received[begins : begins + length])
        if not length or at > len(received):
            return b"".join(parts), not length and at <= len(received), at
    return b"".join(parts), False, len(received)


class H2Client(Client):
    def __init__(self, transport: Transport, below: Stoppable) -> None:
        super().__init__(below)
        self.peer = H2Peer(transport, client=True)
        self._next = 1

    async def start(self) -> None:
        await self.peer.start()

    async def _read(self) -> None:
        await self.peer.read()

    def number(self, path: str) -> int:
        """The stream of it."""
        return 1 + 2 * self.asked.index(path)

    async def _ask(self, path: str, part: int) -> None:
        number = self.number(path)
        fields = [(b":method", b"POST" if part else b"GET"), (b":scheme", b"http"), (b":path", path.encode())]
        length = [(b"content-length", b"%d" % (2 * part))] if part else []
        await self.peer.headers(number, [*fields, (b":authority", b"x"), *length], end=not part)
        if part:
            await self.peer.data(number, b"u" * part)

    async def _say(self, data: bytes, *, end: bool) -> None:
        await self.peer.data(self.number(self.asked[-1]), data, end=end)

    async def half(self, path: str) -> bytes:
        self.asked.append(path)
        fields = [(b":method", b"GET"), (b":scheme", b"http"), (b":path", path.encode()), (b":authority", b"x")]
        block = self.peer._encoder.encode(fields)
        frame = HeadersFrame(self.number(path), block, flags=["END_HEADERS", "END_STREAM"]).serialize()
        await self.write(frame[:12])
        return frame[12:]

    async def write(self, data: bytes) -> None:
        await self.peer.recorder.send(data)

    async def switch(self, path: str) -> None:
        self.asked.append(path)
        fields = [(b":method", b"CONNECT"), (b":protocol", b"websocket"), (b":scheme", b"http")]
        await self.peer.headers(self.number(path), [*fields, (b":path", path.encode()), (b":authority", b"x")])

    def block(self) -> None:
        self.peer.stalled.add(self.number(self.asked[-1]) if self.asked else 1)

    async def unblock(self) -> None:
        if self.peer.stalled and not self.gone:
            (number,) = self.peer.stalled
            self.peer.stalled.clear()
            with contextlib.suppress(*GONE):
                await self.peer.credit(number, 2**20)

    async def reset(self, path: str) -> None:
        """RST_STREAM(CANCEL)."""
        self.peer.streams[self.number(path)].reset = 8
        await self.peer.reset(self.number(path))

    def view(self, path: str) -> View:
        ending = str(self.peer.ending or "")
        if path not in self.asked:
            return View(ending=ending)
        stream = self.peer.streams[self.number(path)]
        if stream.reset not in (None, NO_ERROR):
            ending = f"stream:{code_name(stream.reset)}"
        return View(stream.status, stream.body, stream.ended, ending)

    def beats(self, path: str) -> list[tuple[float, bytes]]:
        return self.peer.streams[self.number(path)].frames
