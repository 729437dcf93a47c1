"""The demo's client: one request over a connection of its own, and every moment of the answer written down.

Rules: it waits for a stated time and then gives up; whatever the peer does is an answer with an ending, never an error.
An event counts when it can be decoded, coded bodies included. Time is Trio's, seconds from the request.
Must not know: what is asked, the proxy, how it is drawn.
"""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import trio

from chaosproxy.framing.choose import kind_of, splitter_for
from chaosproxy.http1.session import Http1Session
from chaosproxy.http2.session import Http2Session
from chaosproxy.model.headers import first
from chaosproxy.model.messages import Abort, Data, End, Event, RequestHead, ResponseHead
from chaosproxy.model.vocabulary import Role
from chaosproxy.session import Arrived, Closed, Session
from chaosproxy.wire import dial
from chaosproxy.wire.transport import Transport, TruncatedError

READ = 65536
CODED = {b"gzip": zlib.MAX_WBITS + 16, b"deflate": zlib.MAX_WBITS}
GAVE_UP = "gave up"


@dataclass(slots=True)
class Answer:
    """What came, and when."""

    protocol: str
    status: int | None = None
    retry_after: str | None = None
    content_type: str = ""
    head: float | None = None
    events: list[tuple[float, int]] = field(default_factory=list)
    """(seconds, how many could be decoded then)"""
    traffic: list[tuple[float, int]] = field(default_factory=list)
    """(seconds, body bytes)"""
    end: str = GAVE_UP
    """`clean`, `fin`, `rst`, `stream:CODE` ..., `gave up`."""
    ended: float = 0.0
    text: bytes = b""
    """The body, decoded as far as it came."""


class Body:
    """Takes the coding off a body and finds its events."""

    def __init__(self, head: ResponseHead) -> None:
        coding = (first(head.headers, b"content-encoding") or b"").lower()
        self._decoder = zlib.decompressobj(CODED[coding]) if coding in CODED else None
        readable = self._decoder is not None or coding in {b"", b"identity"}
        kind = kind_of(first(head.headers, b"content-type")) if readable else None
        self._splitter = splitter_for(kind) if kind is not None else None
        self.text = b""

    def feed(self, payload: bytes) -> int:
        """How many events can be decoded now that could not be before."""
        if self._decoder is not None:
            try:
                payload = self._decoder.decompress(payload)
            except zlib.error:
                return 0  # a coding that is broken hides the rest, as it does from every client
        self.text += payload
        return len(self._splitter.feed(payload)) if self._splitter is not None and payload else 0


class Asking:
    """One exchange on one connection."""

    def __init__(self, transport: Transport, protocol: str, seen: Callable[[int], None], headed: trio.Event) -> None:
        """`seen(events)` is called with each read that brought some; `headed` is set with the answer's head, or at its
        end."""
        self._transport = transport
        self._session: Session = Http2Session(Role.CLIENT) if protocol == "h2" else Http1Session(Role.CLIENT)
        self._seen = seen
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
            self.answer.text = self._body.text
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
                    answer.content_type = (first(event.headers, b"content-type") or b"").decode("latin-1")
                    answer.retry_after = (first(event.headers, b"retry-after") or b"").decode("latin-1") or None
                    self._body = Body(event)
                    self._headed.set()
                case Data(payload):
                    assert self._body is not None
                    answer.traffic.append((now, len(payload)))
                    count = self._body.feed(payload)
                    if count:
                        answer.events.append((now, count))
                        self._seen(count)
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
    address: tuple[str, int],
    head: RequestHead,
    body: bytes,
    protocol: str,
    patience: float,
    seen: Callable[[int], None] = lambda _: None,
    headed: trio.Event | None = None,
) -> Answer:
    """Dial, ask, close. UpstreamFault if nobody listens there."""
    transport = await dial.dial(*address)
    try:
        asking = Asking(transport, protocol, seen, trio.Event() if headed is None else headed)
        return await asking.ask([head, *([Data(body)] if body else []), End()], patience)
    finally:
        transport.close()
