"""The upstream of a cell, over either version of HTTP: a script answers each request, and what the proxy did is noted.

Must not know: the proxy, what is right.
"""

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable

import trio

from chaosproxy.model.codes import code_name
from chaosproxy.testing.h2_peers import H2Peer
from chaosproxy.testing.recorder import Ending, Recorder
from tests.security.matrix.stoppable import Stoppable

GONE = (ConnectionError, trio.ClosedResourceError)
H1_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
SWITCHING = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
H2_HEAD = [(b":status", b"200"), (b"content-type", b"text/event-stream")]


class Talk(ABC):
    """One request, and its answer. Who says something though the proxy has left gets a ConnectionError."""

    path: str

    def __init__(self) -> None:
        self.sent = b""
        """Of the answer's body; what is being written is not yet in it."""
        self.answered = False
        """To its end."""
        self.quits = False
        """The upstream itself has ended it."""

    @property
    @abstractmethod
    def body(self) -> bytes:
        """What has come of the request's body; in a tunnel, of what the client says."""

    @property
    @abstractmethod
    def complete(self) -> bool:
        """The request has come to its end, or the client's way through the tunnel."""

    @property
    @abstractmethod
    def told(self) -> str:
        """How the proxy has left, while the answer was under way: `fin`, `rst`, `stream:CODE`; empty if it has not."""

    async def head(self, *, switch: bool = False) -> None:
        """200; or into a tunnel."""
        self._check()
        await self._head(switch=switch)

    async def event(self, payload: bytes) -> None:
        """A piece of the body."""
        self._check()
        await self._piece(payload)
        self.sent += payload

    async def end(self) -> None:
        """The end mark; of a tunnel, of this way."""
        self._check()
        await self._end()
        self.answered = True

    def _check(self) -> None:
        if self.told or self.quits:
            raise BrokenPipeError(self.told or "it was ended here")

    @abstractmethod
    async def until(self, condition: Callable[[], object]) -> None:
        """Until it holds; looked at after each read."""

    @abstractmethod
    async def _head(self, *, switch: bool) -> None: ...

    @abstractmethod
    async def _piece(self, payload: bytes) -> None: ...

    @abstractmethod
    async def _end(self) -> None: ...


Script = Callable[[Talk], Awaitable[None]]


class Served(ABC):
    """One connection to the upstream."""

    def __init__(self, transport: Stoppable, script: Script) -> None:
        self.transport = transport
        self.talks: list[Talk] = []
        self.over = False
        self._script = script
        self._answers: trio.Nursery

    async def serve(self) -> None:
        """Until it has ended."""
        try:
            async with trio.open_nursery() as self._answers:
                with contextlib.suppress(*GONE):
                    await self._read()
                self._answers.cancel_scope.cancel()
        finally:
            self.over = True
            self.transport.close()

    @abstractmethod
    async def _read(self) -> None: ...

    def _begin(self, talk: Talk) -> None:
        self.talks.append(talk)
        self._answers.start_soon(self._answer, talk)

    async def _answer(self, talk: Talk) -> None:
        with contextlib.suppress(*GONE):  # the proxy has left
            await self._script(talk)
        self.done()

    def done(self) -> None:
        """A script is over."""


class H1Talk(Talk):
    def __init__(self, served: "H1Served", path: str, length: int) -> None:
        super().__init__()
        self.path, self.length = path, length
        self.got = bytearray()
        self.tunnel = False
        self._served = served

    @property
    def body(self) -> bytes:
        return bytes(self.got)

    @property
    def complete(self) -> bool:
        if self.tunnel:
            return self._served.peer.ending is not None
        return len(self.got) == self.length

    @property
    def told(self) -> str:
        ending = self._served.peer.ending
        half_closed = self.tunnel and ending is Ending.FIN
        return "" if ending is None or half_closed or self.answered else str(ending)

    async def until(self, condition: Callable[[], object]) -> None:
        while not condition():
            await self._served.news.park()

    async def _head(self, *, switch: bool) -> None:
        self.tunnel = switch
        await self._served.peer.send(SWITCHING if switch else H1_HEAD)

    async def _piece(self, payload: bytes) -> None:
        await self._served.peer.send(payload if self.tunnel else b"%x\r\n%s\r\n" % (len(payload), payload))

    async def _end(self) -> None:
        if self.tunnel:
            self._served.transport.fin()
        else:
            await self._served.peer.send(b"0\r\n\r\n")


class H1Served(Served):
    """HTTP/1.1: requests have a Content-Length, or no body."""

    def __init__(self, transport: Stoppable, script: Script) -> None:
        super().__init__(transport, script)
        self.peer = Recorder(transport)
        self.news = trio.lowlevel.ParkingLot()
        self._buffer = b""
        self._finished = False
        """The latest script is over."""

    def done(self) -> None:
        self._finished = True
        self.news.unpark_all()

    async def _read(self) -> None:
        while data := await self.peer.read():
            self._buffer += data
            self._look()
            self.news.unpark_all()
        self.news.unpark_all()
        talk = self.talks[-1] if self.talks else None
        if isinstance(talk, H1Talk) and talk.tunnel and not talk.told:
            while not self._finished:
                await self.news.park()  # the other way goes on

    def _look(self) -> None:
        while self._buffer:
            talk = self.talks[-1] if self.talks else None
            if isinstance(talk, H1Talk) and (talk.tunnel or not talk.complete):
                taken = len(self._buffer) if talk.tunnel else talk.length - len(talk.got)
                talk.got += self._buffer[:taken]
                self._buffer = self._buffer[taken:]
                continue
            head, gap, rest = self._buffer.partition(b"\r\n\r\n")
            if not gap:
                return
            self._buffer = rest
            fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
            length = int(fields.get(b"content-length", b"0"))
            self._finished = False
            self._begin(H1Talk(self, head.split(b" ")[1].decode(), length))


class H2Talk(Talk):
    def __init__(self, peer: H2Peer, number: int) -> None:
        super().__init__()
        self.peer, self.number = peer, number
        self.stream = peer.streams[number]
        self.path = dict(self.stream.heads[0])[b":path"].decode()

    @property
    def body(self) -> bytes:
        return self.stream.body

    @property
    def complete(self) -> bool:
        return self.stream.ended

    @property
    def told(self) -> str:
        if self.answered:
            return ""
        if self.stream.reset is not None:
            return f"stream:{code_name(self.stream.reset)}"
        return "" if self.peer.ending is None else str(self.peer.ending)

    async def until(self, condition: Callable[[], object]) -> None:
        with contextlib.suppress(EOFError):
            await self.peer.until(condition, within=10_000)

    async def _head(self, *, switch: bool) -> None:
        await self.peer.headers(self.number, [(b":status", b"200")] if switch else H2_HEAD)

    async def _piece(self, payload: bytes) -> None:
        await self.peer.data(self.number, payload)

    async def _end(self) -> None:
        await self.peer.data(self.number, b"", end=True)


class H2Served(Served):
    """HTTP/2."""

    def __init__(self, transport: Stoppable, script: Script) -> None:
        super().__init__(transport, script)
        self.peer = H2Peer(transport, client=False)
        self.peer.on_head = self._head

    def _head(self, number: int) -> None:
        if not any(isinstance(talk, H2Talk) and talk.number == number for talk in self.talks):
            self._begin(H2Talk(self.peer, number))

    async def _read(self) -> None:
        await self.peer.start()
        await self.peer.read()
