"""The client role: a request goes out, its answer comes back, and the connection may be used again.

Rules: bytes that no request has asked for are never the start of an answer; a connection is reusable only if nobody
could doubt where the answer ended. An answer cut short is an in-band Abort behind the data that came before.
Must not know: pools, who asks, what a broken answer leads to.
"""

from chaosproxy.http1.body import RawDecoder, decoder
from chaosproxy.http1.connection import UNBOUNDED, Connection, Inbound, broken, promised_length
from chaosproxy.http1.encoder import BodyEncoder
from chaosproxy.http1.heads import ReceivedResponse, parse_response, response_block
from chaosproxy.http1.lines import Malformed
from chaosproxy.http1.writer import is_old, request_head
from chaosproxy.model.headers import tokens
from chaosproxy.model.messages import Abort, End, Event, RequestHead, ResponseHead
from chaosproxy.model.vocabulary import Framing, Peer, Role
from chaosproxy.session import Arrived, Closed, Closing, Granted, Signal, Stopped

INTERIMS = 32
"""1xx heads before one final head."""


class ClientConnection(Connection):
    __slots__ = ("_block", "_interims", "_persistent", "_request", "_switching")

    role = Role.CLIENT

    def __init__(self) -> None:
        super().__init__()
        self.reusable = True
        self._request: RequestHead | None = None
        """Of the live stream, once its head has gone out."""
        self._persistent = True
        self._block = response_block()
        self._interims = 0
        self._switching = False
        """A tunnel has been asked for and is neither granted nor refused."""

    # receiving

    def _receive(self, data: bytes) -> list[Signal]:
        if self._inbound is Inbound.DEAF:
            return []
        if self._request is None or not self._stream:
            return self._unasked()
        events: list[Event] = []
        behind: bytes | None = data
        try:
            while behind:
                behind = self._block.feed(behind)
                if behind is None:
                    break
                answer = parse_response(self._block.lines, self._request)
                events.append(answer.head)
                self._block = response_block()
                if isinstance(answer.head, ResponseHead):
                    return self._answered(answer, answer.head, events, behind)
                self._count_interim()
        except Malformed as error:
            return self._malformed(error, events)
        return [Arrived(self._stream, events)] if events else []

    def _count_interim(self) -> None:
        self._interims += 1
        if self._interims > INTERIMS:
            raise Malformed(f"more than {INTERIMS} interim heads")

    def _answered(
        self, answer: ReceivedResponse, head: ResponseHead, events: list[Event], behind: bytes
    ) -> list[Signal]:
        """The final head is the last of `events`."""
        self._persistent = self._persistent and answer.persistent
        signals: list[Signal] = []
        if self._switching and head.framing is Framing.TUNNEL:
            self._inbound = Inbound.TUNNEL
            self._decoder = RawDecoder()
            self._encoder = BodyEncoder(Framing.TUNNEL)
            signals.append(Granted(self._stream))
        self._switching = False
        if head.final:
            events.append(End())
            arrived = Arrived(self._stream, events)
            return [arrived, *self._message_received(behind)]
        if self._decoder is None:
            self._inbound = Inbound.BODY
            self._decoder = decoder(head.framing, answer.length)
        arrived = Arrived(self._stream, events)
        if behind:
            body = self._receive_body(behind)
            if body:
                assert isinstance(body[0], Arrived)
                events.extend(body[0].events)
                signals += body[1:]
        return [arrived, *signals]

    def _message_received(self, behind: bytes) -> list[Signal]:
        signals: list[Signal] = []
        complete = self._encoder.complete
        if not complete:
            signals.append(Stopped(self._stream))
        if behind:
            self._over(Closing.FIN)
            signals.append(Closed("bytes behind a complete answer"))
        elif not complete or not self._persistent or self._leaving:
            self._over(Closing.FIN)
        else:
            self._stream = 0
            self._inbound = Inbound.IDLE
            self._request = None
            self.reusable = True
        return signals

    def _unasked(self) -> list[Signal]:
        """An answer before its request would be taken for that of the next one: whoever sends it is not listened to
        any more."""
        if self._stream:
            return self._malformed(Malformed("an answer before the request had gone out"), [])
        self._over(Closing.FIN)
        return [Closed("bytes that no request had asked for")]

    def _malformed(self, error: Malformed, events: list[Event]) -> list[Signal]:
        abort = Abort("malformed", Peer.UPSTREAM, detail=error.detail)
        signals: list[Signal] = [Arrived(self._stream, [*events, abort]), Closed()]
        self._over(Closing.FIN)
        return signals

    def _fin(self) -> list[Signal]:
        stream = self._stream
        if self._inbound is Inbound.TUNNEL:
            return self._tunnel_end()
        if not stream or self._inbound is Inbound.DEAF:
            if self._encoder.framing is not Framing.TUNNEL or not stream:
                self._over(Closing.FIN)
            return [Closed()]
        if self._decoder is not None and self._decoder.ends_with_connection:
            signals: list[Signal] = [Arrived(stream, [End()])]
            if not self._encoder.complete:
                signals.append(Stopped(stream))
        else:
            where = "within the body" if self._inbound is Inbound.BODY else "before the end of the head"
            signals = [Arrived(stream, [broken(Peer.UPSTREAM, "fin", where)])]
        self._over(Closing.FIN)
        return [*signals, Closed()]

    def _reset(self, detail: str) -> list[Signal]:
        if not self._stream or self._inbound is Inbound.DEAF:
            return []
        return [Arrived(self._stream, [broken(Peer.UPSTREAM, "rst", detail)])]

    def resume(self) -> list[Signal]:
        return []

    # sending

    def open(self) -> int:
        assert self.reusable, "this connection takes no request now"
        self.reusable = False
        self._count += 1
        self._stream = self._count
        self._inbound = Inbound.HEAD
        self._block = response_block()
        self._interims = 0
        self._request = None
        self._trailers = ()
        self._encoder = BodyEncoder(Framing.CHUNKED)  # nothing is complete before the head
        return self._stream

    def allowance(self, stream: int) -> int:
        """Nothing may enter a tunnel before there is one."""
        return 0 if self._switching else UNBOUNDED

    def _write_head(self, head: RequestHead | ResponseHead) -> bytes:
        assert isinstance(head, RequestHead)
        written, framing = request_head(head)
        self._request = head
        self._persistent = not is_old(head) and b"close" not in tokens(head.headers, b"connection")
        self._switching = bool(head.upgrade) or head.method == b"CONNECT"
        self._encoder = BodyEncoder(framing, promised_length(head.headers) if framing is Framing.LENGTH else None)
        return written
