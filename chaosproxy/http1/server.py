"""The server role: requests come in, answers go out, one after another on one connection.

A further request is read only when the answer before it has ended (`resume`). A malformed request opens a stream with
an Abort, is answered by the driver, and not a byte behind it is ever read as a request. The End of a request that asks
for a tunnel is withheld until the answer shows whether there will be one; `resume` brings what the answer sets free.
Must not know: who answers, what a client's leaving leads to.
"""

from dataclasses import replace

from chaosproxy.http1.body import RawDecoder, decoder
from chaosproxy.http1.connection import Connection, Inbound, broken, promised_length
from chaosproxy.http1.encoder import BodyEncoder
from chaosproxy.http1.heads import ReceivedRequest, parse_request, request_block
from chaosproxy.http1.lines import Malformed
from chaosproxy.http1.writer import interim_head, response_head
from chaosproxy.model.codes import PROTOCOL_ERROR
from chaosproxy.model.headers import replaced, tokens
from chaosproxy.model.messages import Abort, End, Event, Interim, RequestHead, ResponseHead
from chaosproxy.model.vocabulary import Framing, Peer, Role
from chaosproxy.session import Arrived, Closed, Closing, Gone, Signal

_NO_REQUEST = RequestHead(b"GET", b"/")
"""Stands for a request whose head could not be read, so that it can be answered."""
WAITING = 64 * 1024
"""Bytes of pipelined requests held before the session is no longer hungry."""


class ServerConnection(Connection):
    __slots__ = ("_block", "_end_owed", "_expired", "_finished", "_last", "_request", "_scheme", "_told")

    role = Role.SERVER

    def __init__(self, *, scheme: bytes = b"http") -> None:
        """`scheme` is what a request that came here was made for: https behind TLS."""
        super().__init__()
        self._scheme = scheme
        self._inbound = Inbound.HEAD
        self._block = request_block()
        self._request = _NO_REQUEST
        self._last = False
        """No request is read behind the live one."""
        self._expired = False
        """The next answer says that it is the last."""
        self._finished = False
        """The client's FIN has come."""
        self._told = False
        """The live stream's Gone has been signalled."""
        self._end_owed = False
        """A tunnel was refused: the End of its request has still to be delivered."""

    # receiving

    def _receive(self, data: bytes) -> list[Signal]:
        if self._inbound is Inbound.DEAF:
            return []
        self._waiting += data
        return self.resume()

    def resume(self) -> list[Signal]:
        signals: list[Signal] = []
        if self._end_owed:
            self._end_owed = False
            signals.append(Arrived(self._stream, [End()]))
        if self._inbound is Inbound.TUNNEL:
            signals += self._resume_tunnel()
        elif self._inbound is Inbound.HEAD and self._waiting:
            signals += self._next_request()
        self.hungry = len(self._waiting) <= WAITING
        return signals

    def _resume_tunnel(self) -> list[Signal]:
        signals: list[Signal] = []
        if self._waiting:
            waiting, self._waiting = self._waiting, b""
            signals += self._receive_body(waiting)
        if self._finished:
            signals += self._tunnel_end()
        return signals

    def _next_request(self) -> list[Signal]:
        waiting, self._waiting = self._waiting, b""
        try:
            behind = self._block.feed(waiting)
            if behind is None:
                return []
            request = parse_request(self._block.lines, self._scheme)
            self._block.forget()
        except Malformed as error:
            return self._no_request(error)
        self._begin(request)
        return self._after_head(request, behind)

    def _no_request(self, error: Malformed) -> list[Signal]:
        self._begin(ReceivedRequest(_NO_REQUEST, 0, persistent=False))
        return self._malformed(error, [])

    @property
    def unfinished(self) -> bool:
        return self._inbound is Inbound.HEAD and not self._block.untouched

    def overdue(self) -> list[Signal]:
        # RFC 9110 section 15.5.9
        return self._no_request(Malformed("its head has not come in time", 408)) if self.unfinished else []

    def _begin(self, request: ReceivedRequest) -> None:
        self._count += 1
        self._stream = self._count
        self._request = request.head
        self._last = not request.persistent
        self._told = False
        self._encoder = BodyEncoder(Framing.NONE)
        self._trailers = ()

    def _after_head(self, request: ReceivedRequest, behind: bytes) -> list[Signal]:
        head = request.head
        if head.upgrade or head.method == b"CONNECT":
            self._inbound = Inbound.SWITCH
            self._waiting = behind
            return [Arrived(self._stream, [head])]
        if head.final:
            return [Arrived(self._stream, [head, End()]), *self._message_received(behind)]
        self._inbound = Inbound.BODY
        self._decoder = decoder(head.framing, request.length)
        signals: list[Signal] = [Arrived(self._stream, [head])]
        if behind:
            signals += self._receive_body(behind)
        return _merged(signals)

    def _message_received(self, behind: bytes) -> list[Signal]:
        self._inbound = Inbound.HELD
        self._waiting = behind
        self.hungry = len(behind) <= WAITING
        return []

    def _malformed(self, error: Malformed, events: list[Event]) -> list[Signal]:
        self._inbound = Inbound.DEAF
        self._decoder = None
        self._waiting = b""
        self._last = True
        abort = Abort("malformed", Peer.CLIENT, code=PROTOCOL_ERROR, status=error.status, detail=error.detail)
        return [Arrived(self._stream, [*events, abort])]

    def _fin(self) -> list[Signal]:
        self._finished = True
        if not self._stream:
            detail = "" if self._block.untouched else "FIN within a request head"
            self._over(Closing.FIN)
            return [Closed(detail)]
        if self._inbound is Inbound.TUNNEL:
            return self._resume_tunnel()
        if self._encoder.framing is Framing.TUNNEL and self.closing is not Closing.SILENCE:
            return []  # the tunnel's End has been delivered
        signals = self._cut_short("fin", "")
        if self.closing is Closing.SILENCE:
            self._over(Closing.FIN)
            signals.append(Closed())
        return signals

    def _reset(self, detail: str) -> list[Signal]:
        return self._cut_short("rst", detail) if self._stream else []

    def _cut_short(self, how: str, detail: str) -> list[Signal]:
        """What a live stream is told when the client's way breaks off: in band if its request is not complete, and
        out of band, for its answer is not either."""
        signals: list[Signal] = []
        abort = broken(Peer.CLIENT, how, detail)
        half = self._inbound is Inbound.BODY
        if half or (how == "rst" and self._inbound in (Inbound.SWITCH, Inbound.TUNNEL)):
            self._inbound = Inbound.DEAF
            self._decoder = None
            signals.append(Arrived(self._stream, [abort]))
        if not self._told and not self._encoder.ended:
            self._told = True
            signals.append(Gone(self._stream, abort))
        return signals

    # sending

    def open(self) -> int:
        raise AssertionError("a server opens no streams")

    def answers_once_more(self) -> None:
        """The next answer has `Connection: close` (RFC 9112 section 9.6), and is the last."""
        self._expired = True

    def _write_head(self, head: RequestHead | ResponseHead) -> bytes:
        assert isinstance(head, ResponseHead)
        if self._expired and head.status != 101:
            head = replace(head, headers=replaced(head.headers, b"Connection", b"close"))
        written, framing = response_head(head, self._request.method, self._request.version)
        self._encoder = BodyEncoder(framing, promised_length(head.headers) if framing is Framing.LENGTH else None)
        if framing is Framing.CLOSE or head.version == b"1.0" or b"close" in tokens(head.headers, b"connection"):
            self._last = True
        if self._inbound is Inbound.SWITCH:
            if framing is Framing.TUNNEL:
                self._inbound = Inbound.TUNNEL
                self._decoder = RawDecoder()
            else:
                self._inbound = Inbound.HELD
                self._end_owed = True
        return written

    def _write_interim(self, head: Interim) -> bytes:
        # RFC 9110 section 15.2: none to an HTTP/1.0 client
        return b"" if self._request.version == b"1.0" else interim_head(head)

    def _message_sent(self) -> None:
        if self._encoder.framing is Framing.TUNNEL:
            super()._message_sent()
            return
        self._end_owed = False
        done = self._inbound is Inbound.HELD and self._encoder.complete
        if not done or self._last or self._finished or self._leaving:
            # RFC 9112 section 9.6: an unread rest is read and discarded while the connection is closed in stages
            self._over(Closing.FIN)
            return
        self._stream = 0
        self._inbound = Inbound.HEAD
        self._block = request_block()


def _merged(signals: list[Signal]) -> list[Signal]:
    """A head and the body that came with it as one Arrived."""
    if len(signals) < 2:
        return signals
    head, body = signals[0], signals[1]
    assert isinstance(head, Arrived)
    assert isinstance(body, Arrived)
    return [Arrived(head.stream, head.events + body.events), *signals[2:]]
