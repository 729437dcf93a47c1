"""The client of the comparison, over HTTP/1.1 and HTTP/2: what came when, how it ended, and nothing repaired.

Rules: a body is handed out without its framing and coding, in the pieces in which it became readable.
Must not know: who answers.
"""

import contextlib
import socket
from collections.abc import AsyncIterator

import trio

from chaosproxy.testing.h2_peers import H2Peer, h2_client
from chaosproxy.testing.recorder import Recorder
from chaosproxy.wire import dial
from chaosproxy.wire.plain import Plain
from tests.differential.reading import Answer, H1Reading, decoding

CODES = {0: "NO_ERROR", 1: "PROTOCOL_ERROR", 2: "INTERNAL_ERROR", 7: "REFUSED_STREAM", 8: "CANCEL"}
STREAM = 1
SMALL = 32 * 1024


class H1Client:
    """One request on a connection of its own."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._reading = H1Reading()

    async def ask(self, path: str, *, gzip: bool = False) -> None:
        accepted = "Accept-Encoding: gzip\r\n" if gzip else ""
        await self._recorder.send(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{accepted}\r\n".encode())

    async def _read(self) -> bool:
        data = await self._recorder.read()
        if data:
            self._reading.feed(self._recorder.pieces[-1][0], data)
        elif self._recorder.ending is not None and self._recorder.ended_at is not None:
            self._reading.end(self._recorder.ending, self._recorder.ended_at)
        return bool(data)

    async def rest(self, within: float) -> Answer:
        """Everything until it is complete or ends, or for so long."""
        with trio.move_on_after(within):
            while self._reading.answer.ended_at is None and await self._read():
                pass
        return self._reading.answer

    async def leave(self) -> None:
        """Both ways at once, with a FIN."""
        self._recorder.transport.close()
        await trio.lowlevel.checkpoint()

    async def half_close(self) -> None:
        """Says that it has nothing more to say, and reads on."""
        self._recorder.transport.fin()
        await trio.lowlevel.checkpoint()


class H2Client:
    """One request on a session of its own."""

    def __init__(self, peer: H2Peer) -> None:
        self._peer = peer
        self._head_at: float | None = None
        self._over_at: float | None = None
        peer.on_head = self._heard

    def _heard(self, _: int) -> None:
        if self._head_at is None:
            self._head_at = trio.current_time()

    async def ask(self, path: str, *, gzip: bool = False) -> None:
        fields = [(b":method", b"GET"), (b":scheme", b"http"), (b":path", path.encode()), (b":authority", b"localhost")]
        await self._peer.headers(STREAM, fields + ([(b"accept-encoding", b"gzip")] if gzip else []), end=True)

    async def rest(self, within: float) -> Answer:
        with contextlib.suppress(EOFError, trio.TooSlowError):
            await self._peer.until(lambda: self._peer.streams[STREAM].over, within)
        if self._peer.streams[STREAM].over or self._peer.ending is not None:
            self._over_at = trio.current_time()
        return self._answer()

    async def leave(self) -> None:
        """RST_STREAM(CANCEL); the session stays."""
        await self._peer.reset(STREAM)

    async def half_close(self) -> None:
        raise NotImplementedError("END_STREAM is what every request ends with")

    def _answer(self) -> Answer:
        stream = self._peer.streams[STREAM]
        answer = Answer(stream.status, head_at=self._head_at, ended_at=self._over_at)
        if stream.heads:
            answer.fields = {name.decode().lower(): value.decode() for name, value in stream.heads[0]}
        decode = decoding(answer.fields)
        answer.body = [(at, plain) for at, data in stream.frames if (plain := decode(data))]
        if stream.reset is not None:
            answer.ending = f"RST_STREAM {CODES.get(stream.reset, stream.reset)}"
        elif stream.ended:
            answer.ending = "clean"
        elif self._peer.goaways:
            answer.ending = f"GOAWAY {CODES.get(self._peer.goaways[-1][0], self._peer.goaways[-1][0])}"
        elif self._peer.ending is not None:
            answer.ending = f"{self._peer.ending.upper()} of the connection"
        return answer


Client = H1Client | H2Client


@contextlib.asynccontextmanager
async def connected(port: int, protocol: str, *, lazy: bool = False) -> AsyncIterator[Client]:
    """`protocol` is `h1` or `h2`. `lazy`: the client does not read until `rest`, and its kernel takes little for it; over
    HTTP/2 it reads, and gives the stream no credit."""
    transport = await _dial(port, small=lazy)
    if protocol == "h2":
        async with h2_client(transport) as peer:
            if lazy:
                peer.stalled.add(STREAM)
            yield H2Client(peer)
        return
    try:
        yield H1Client(Recorder(transport))
    finally:
        transport.close()


async def _dial(port: int, *, small: bool) -> Plain:
    if not small:
        return await dial.dial("127.0.0.1", port)
    sock = trio.socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL)
    await sock.connect(("127.0.0.1", port))
    return Plain(socket.socket(fileno=sock.detach()))
