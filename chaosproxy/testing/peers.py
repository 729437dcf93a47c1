"""Raw HTTP/1.1 peers for tests: a client that records every read and how the connection ended, an origin that plays scripts.

Rules: they parse as little as possible, so that a test sees bytes; nothing is merged, repaired or retried. Both work over
any transport: real sockets, TLS, or a `link` in virtual time. Time is Trio's.
Must not know: the proxy.
"""

import contextlib
import ssl
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Self

import trio

from chaosproxy.testing.listening import listening
from chaosproxy.testing.recorder import QUIET, WITHIN, Ending, Recorder
from chaosproxy.wire import dial
from chaosproxy.wire.transport import Transport


class RawClient(Recorder):
    """A client that says exactly the bytes it is given. `async with await RawClient.connect(...) as client`."""

    @classmethod
    async def connect(
        cls, host: str, port: int, context: ssl.SSLContext | None = None, server_name: str | None = None
    ) -> Self:
        """Dial, and shake hands if a context is given."""
        return cls(await dial.connect(host, port, context, server_name))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.transport.close()

    async def read_until(self, mark: bytes, within: float = WITHIN) -> bytes:
        """Read on until `mark` stands in what was received (looked for in all of it). trio.TooSlowError after
        `within` seconds, EOFError if the connection ends first."""
        with trio.fail_after(within):
            while mark not in self.received:
                if not await self.read():
                    raise EOFError(f"{self.ending} before {mark!r}: {self.received!r}")
        return self.received

    async def read_all(self, within: float = WITHIN) -> Ending:
        """Read until the end, at most `within` seconds; how it ended, `OPEN` if it did not."""
        with trio.move_on_after(within):
            while await self.read():
                pass
        return self.ending or Ending.OPEN

    async def read_last(self, mark: bytes) -> Ending:
        """As `read_until`, then see whether anything follows: how it ended, `OPEN` if it did not."""
        await self.read_until(mark)
        return await self.read_all(QUIET)

    @property
    def head(self) -> bytes:
        """What was received up to the first empty line, without it."""
        return self.received.partition(b"\r\n\r\n")[0]

    @property
    def body(self) -> bytes:
        """What was received behind the first empty line, with its framing."""
        return self.received.partition(b"\r\n\r\n")[2]


@dataclass(frozen=True, slots=True)
class Pause:
    """A step of a script: wait, while the client's leaving is noticed."""

    seconds: float


Step = bytes | Pause | trio.Event | Ending
"""Bytes are one write; an event is waited for; an ending is the last step."""


@dataclass(slots=True)
class Seen:
    """One request as the origin saw it."""

    connection: int
    head: bytes
    body: bytes
    """With its framing; of a chunked one without trailers."""
    left: Ending | None = None
    """How the client left before the script was over."""
    left_at: float | None = None
    gone: trio.Event = field(default_factory=trio.Event)
    """Set when the client has left, or the script is over."""


class Origin:
    """Answers the nth request with the nth script, the last one for all further; keeps the connection after a script
    without an ending. `requests` tells what came."""

    def __init__(self, *scripts: Sequence[Step], at_head: bool = False) -> None:
        """`at_head`: a script begins at the request's head; what comes behind it is in `peers` alone."""
        self._at_head = at_head
        self._scripts = scripts or ((),)
        self.requests: list[Seen] = []
        self.peers: list[Recorder] = []
        """The connections, raw."""
        self._arrivals = trio.lowlevel.ParkingLot()
        self.connections = 0
        self.port = 0
        self.url = ""

    async def serve(self, transport: Transport) -> None:
        """Serve one connection until it ends."""
        self.connections += 1
        peer = Recorder(transport)
        self.peers.append(peer)
        buffer = bytearray()
        going_on = True
        try:
            while going_on:
                seen = await _request(peer, buffer, self.connections, at_head=self._at_head)
                script = self._scripts[min(len(self.requests), len(self._scripts) - 1)]
                self.requests.append(seen)
                self._arrivals.unpark_all()
                going_on = await _play(peer, buffer, script, seen)
        except EOFError:
            pass  # the client is done with the connection
        finally:
            transport.close()

    async def request(self, number: int, within: float = WITHIN) -> Seen:
        """The request of that number (from 1), waited for. trio.TooSlowError if it does not come."""
        with trio.fail_after(within):
            while len(self.requests) < number:
                await self._arrivals.park()
        return self.requests[number - 1]


@contextlib.asynccontextmanager
async def origin(
    *scripts: Sequence[Step], tls: ssl.SSLContext | None = None, at_head: bool = False
) -> AsyncIterator[Origin]:
    """An `Origin` that listens on a free loopback port while the block runs."""
    served = Origin(*scripts, at_head=at_head)
    async with listening(served.serve, tls) as served.port:
        served.url = f"{'https' if tls else 'http'}://127.0.0.1:{served.port}"
        yield served


async def _request(peer: Recorder, buffer: bytearray, connection: int, *, at_head: bool) -> Seen:
    """The next request; EOFError if the client leaves instead. A body is found by Content-Length or its last chunk."""
    while (end := buffer.find(b"\r\n\r\n")) < 0:
        await _more(peer, buffer)
    head = bytes(buffer[: end + 4])
    del buffer[: end + 4]
    if at_head:
        return Seen(connection, head, b"")
    fields = {line.partition(b":")[0].lower(): line.partition(b":")[2].strip() for line in head.split(b"\r\n")[1:]}
    length = int(fields.get(b"content-length", b"0"))
    if b"chunked" in fields.get(b"transfer-encoding", b""):
        while (last := (b"\r\n" + buffer).find(b"\r\n0\r\n\r\n")) < 0:
            await _more(peer, buffer)
        length = last + 5
    while len(buffer) < length:
        await _more(peer, buffer)
    body = bytes(buffer[:length])
    del buffer[:length]
    return Seen(connection, head, body)


async def _more(peer: Recorder, buffer: bytearray) -> None:
    data = await peer.read()
    if not data:
        raise EOFError
    buffer += data


async def _play(peer: Recorder, buffer: bytearray, script: Sequence[Step], seen: Seen) -> bool:
    """True: the connection may carry a further request."""
    try:
        for step in script:
            if isinstance(step, bytes):
                await peer.send(step)
            elif isinstance(step, Ending):
                await peer.leave(step)
                if step is not Ending.OPEN:
                    return False  # we ended it: whatever the client did afterwards is no leaving
            else:
                await _wait(peer, buffer, step)
            if peer.ending is not None:
                break
    except ConnectionError:
        peer.note(Ending.RST)
    finally:
        seen.left, seen.left_at = peer.ending, peer.ended_at
        seen.gone.set()
    return peer.ending is None


async def _wait(peer: Recorder, buffer: bytearray, step: Pause | trio.Event) -> None:
    """Until the pause is over or the event is set; sooner if the client leaves. What it sends meanwhile is kept."""
    async with trio.open_nursery() as nursery:

        async def watch() -> None:
            with contextlib.suppress(EOFError):  # it has left: the step is over
                while True:
                    await _more(peer, buffer)
            nursery.cancel_scope.cancel()

        nursery.start_soon(watch)
        if isinstance(step, Pause):
            await trio.sleep(step.seconds)
        else:
            await step.wait()
        nursery.cancel_scope.cancel()
