"""One request over a connection of its own, and every moment of the answer written down.

Rules: it waits for a stated time and then gives up; whatever the peer does is an answer with an ending, never an error.
An event counts when it can be decoded, coded bodies included. Time is Trio's, seconds from the request.
Must not know: what is asked, the proxy, what is made of the answer.
"""

import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import trio

from chaosproxy.client.answer import Answer
from chaosproxy.client.body import Body
from chaosproxy.framing.splitter import RecordKind
from chaosproxy.http1.session import Http1Session
from chaosproxy.http2.session import Http2Session
from chaosproxy.model.messages import Abort, Data, End, Event, RequestHead, ResponseHead
from chaosproxy.model.vocabulary import Role
from chaosproxy.session import Arrived, Closed, Session
from chaosproxy.wire import dial
from chaosproxy.wire.transport import Transport, TruncatedError

READ = 65536
MOST = 200_000
"""Pieces of an answer; of one that has more the client has seen enough, and gives up."""


@dataclass(frozen=True, slots=True)
class Peer:
    """Who is asked."""

    host: str
    port: int
    protocol: str
    """`http/1.1` or `h2`; under TLS the one that was agreed on goes before it."""
    context: ssl.SSLContext | None = None
    """TLS, if there is one."""


class Asking:
    """One exchange on one connection."""

    def __init__(
        self,
        transport: Transport,
        protocol: str,
        seen: Callable[[int], None],
        headed: trio.Event,
        other: RecordKind | None = None,
    ) -> None:
        """`seen(events)` is called with each read that brought some; `headed` is set with the answer's head, or at its
        end; `other`: the records of a text whose type has none."""
        self._transport = transport
        self._session: Session = Http2Session(Role.CLIENT) if protocol == "h2" else Http1Session(Role.CLIENT)
        self._seen = seen
        self._other = other
        self._body: Body | None = None
        self._over = False
        self._began = trio.current_time()
        self.answer = Answer(protocol)
        self._headed = headed

    async def ask(self, events: Sequence[Event], patience: float) -> Answer:
        """Send `events`, and read for `patience` seconds or to the end."""
        self._began = trio.current_time()
        with trio.move_on_after(patience):
            await self._ask(events)
        self.answer.ended = self._now()
        if self._body is not None:
            self.answer.text, self.answer.hidden = self._body.text, self._body.hidden_at(self.answer.end)
        self._headed.set()
        return self.answer

    async def _ask(self, events: Sequence[Event]) -> None:
        stream = self._session.open()
        self._session.send(stream, events)
        try:
            while not self._over:
                await self._write()
                for signal in self._receive(await self._read()):
                    match signal:
                        case Arrived(number, arrived) if number == stream:
                            self._arrived(stream, arrived)
                        case Closed():
                            self._over = True
                        case _:
                            pass
        except ConnectionError:
            self._end("rst")

    def _receive(self, data: bytes | None) -> Sequence[object]:
        if data is None:
            return self._session.lost("rst")
        return self._session.receive(data)

    async def _read(self) -> bytes | None:
        """None: reset."""
        while True:
            try:
                data = self._transport.recv(READ)
            except TruncatedError:
                return b""
            except ConnectionError:
                return None
            if data is not None:
                return data
            await self._transport.readable()

    async def _write(self) -> None:
        for data in self._session.outgoing():
            left = data
            while left:
                left = left[self._transport.send(left) :]
                if left:
                    await self._transport.writable()

    def _arrived(self, stream: int, events: Sequence[Event]) -> None:
        answer, now = self.answer, self._now()
        for event in events:
            match event:
                case ResponseHead():
                    answer.status, answer.head = event.status, now
                    answer.headers, answer.framing = event.headers, event.framing
                    self._body = Body(event, self._other)
                    answer.recorded = self._body.recorded
                    self._headed.set()
                case Data(payload):
                    assert self._body is not None
                    piece = self._body.feed(payload, now)
                    answer.pieces.append(piece)
                    self._over = self._over or len(answer.pieces) >= MOST
                    if piece.events:
                        self._seen(piece.events)
                    self._session.grant(stream, len(payload))
                case End():
                    self._end("clean")
                case Abort():
                    self._end(event.cause.partition(":")[2] or event.cause)
                case _:
                    pass

    def _end(self, how: str) -> None:
        self.answer.end = how
        self._over = True

    def _now(self) -> float:
        return trio.current_time() - self._began


async def ask(
    peer: Peer,
    head: RequestHead,
    body: bytes,
    patience: float,
    seen: Callable[[int], None] = lambda _: None,
    headed: trio.Event | None = None,
    other: RecordKind | None = None,
) -> Answer:
    """Dial, ask, close. UpstreamFault if nobody listens there."""
    transport = await dial.connect(peer.host, peer.port, peer.context)
    try:
        protocol = peer.protocol if peer.context is None else transport.alpn or "http/1.1"
        asking = Asking(transport, protocol, seen, trio.Event() if headed is None else headed, other)
        return await asking.ask([head, *([Data(body)] if body else []), End()], patience)
    finally:
        transport.close()
