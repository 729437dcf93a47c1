"""What both roles of an HTTP/1.1 connection share: feeding the body decoder, queueing writes, the endings.

One exchange is live at a time; `_stream` is its number, 0 between exchanges. One call of `send` makes one write.
Rules: nothing raises; what is sent to a stream that is no longer live is ignored.
Must not know: sockets, time, what the driver does with a signal.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from enum import Enum, auto

from chaosproxy.http1.asked import AskedChunks, encoder_asked, joined, slow_head
from chaosproxy.http1.body import Decoder
from chaosproxy.http1.chunked import ChunkedDecoder
from chaosproxy.http1.encoder import BodyEncoder, chunk
from chaosproxy.http1.lines import Malformed
from chaosproxy.http1.writer import interim_head
from chaosproxy.model.codes import CANCEL, INTERNAL_ERROR
from chaosproxy.model.headers import Headers, first
from chaosproxy.model.messages import (
    Abort,
    Data,
    End,
    Event,
    Goaway,
    Interim,
    RequestHead,
    ResponseHead,
    Trailers,
)
from chaosproxy.model.vocabulary import Framing, Manner, Peer, Role, Scope
from chaosproxy.session import Arrived, Closed, Closing, Signal

UNBOUNDED = 1 << 40
"""HTTP/1 has no windows: the transport alone pushes back."""


class Inbound(Enum):
    """What the next bytes of the peer are."""

    IDLE = auto()
    """Client role: nothing may come."""
    HEAD = auto()
    BODY = auto()
    HELD = auto()
    """Server role: the request is complete; what follows it waits for the answer's end."""
    SWITCH = auto()
    """Server role: a tunnel has been asked for; what follows is either its first bytes or a further request."""
    TUNNEL = auto()
    DEAF = auto()
    """Whatever comes is dropped."""


class Connection(ABC):
    """See `chaosproxy.session.Session`."""

    __slots__ = (
        "_count", "_decoder", "_encoder", "_inbound", "_leaving", "_outgoing", "_stream", "_trailers",
        "_waiting", "closing", "hungry", "reusable",
    )  # fmt: skip

    role: Role
    protocol = "http/1.1"
    multiplexed = False

    def __init__(self) -> None:
        self.closing: Closing | None = None
        self.reusable = False
        self.hungry = True
        self._count = 0
        self._stream = 0
        self._inbound = Inbound.IDLE
        self._decoder: Decoder | None = None
        self._waiting = b""
        """Bytes that have come and whose turn has not."""
        self._encoder = BodyEncoder(Framing.NONE)
        self._trailers: Headers = ()
        self._outgoing: list[bytes] = []
        self._leaving = False

    # receiving

    def receive(self, data: bytes) -> list[Signal]:
        if self._decoder is not None and data and not self._waiting:
            return self._receive_body(data)
        return self._receive(data) if data else self._fin()

    @property
    def unfinished(self) -> bool:
        return False

    def overdue(self) -> list[Signal]:
        return []

    @property
    def open_chunk(self) -> int | None:
        decoder = self._decoder
        return decoder.open_chunk if type(decoder) is ChunkedDecoder and not self._waiting else None

    def scan_chunks(self, data: bytes, *, parts: bool) -> list[tuple[int, int]] | None:
        decoder = self._decoder
        return decoder.scan(data, parts=parts) if isinstance(decoder, ChunkedDecoder) else None

    def _receive_body(self, data: bytes) -> list[Signal]:
        assert self._decoder is not None
        events: list[Event] = []
        try:
            behind = self._decoder.feed(data, events)
        except Malformed as error:
            return self._malformed(error, events)
        if behind is None:
            return [Arrived(self._stream, events)] if events else []
        self._decoder = None
        events.append(End())
        arrived = Arrived(self._stream, events)
        return [arrived, *self._message_received(behind)]

    @abstractmethod
    def _receive(self, data: bytes) -> list[Signal]:
        """Bytes that are no piece of a body, or that others wait in front of."""

    @abstractmethod
    def _message_received(self, behind: bytes) -> list[Signal]:
        """The peer's message is complete; `behind` are the bytes behind it."""

    @abstractmethod
    def _malformed(self, error: Malformed, events: list[Event]) -> list[Signal]:
        """The peer has broken the protocol behind `events`."""

    @abstractmethod
    def _fin(self) -> list[Signal]: ...

    @abstractmethod
    def _reset(self, detail: str) -> list[Signal]:
        """The connection is no more; what the live stream is told of it."""

    def lost(self, how: str, detail: str = "") -> list[Signal]:
        if how == "rst":
            signals = self._reset(detail)
            self._over(Closing.FIN)
        else:
            signals = self._fin()
        if not any(isinstance(signal, Closed) for signal in signals):
            signals.append(Closed(detail))
        return signals

    def _tunnel_end(self) -> list[Signal]:
        """The peer's FIN in a tunnel: its way has ended, ours goes on until it does too."""
        self._decoder = None
        self._inbound = Inbound.DEAF
        signals: list[Signal] = [Arrived(self._stream, [End()])]
        if self._encoder.ended:
            self._over(Closing.FIN)
            signals.append(Closed())
        return signals

    # sending

    def send(self, stream: int, events: Sequence[Event]) -> None:
        if stream != self._stream or (self.closing is not None and self.closing is not Closing.HALF):
            return
        parts: list[bytes] = []
        ending: End | Abort | None = None
        slow = type(self._encoder) is AskedChunks
        for event in events:
            match event:
                case Data():
                    parts.append(self._encoder.data(event))
                case RequestHead() | ResponseHead():
                    parts.append(self._write_head(event))
                    slow = bool(event.asked)
                    if slow:
                        parts[-1] = slow_head(parts[-1], event.asked)
                        self._encoder = encoder_asked(self._encoder, event.asked)
                case Interim():
                    parts.append(self._write_interim(event))
                case Trailers():
                    self._trailers = event.headers
                case End():
                    parts.append(self._encoder.end(self._trailers))
                    ending = event
                case Abort():
                    ending = event
                case Goaway():
                    pass  # HTTP/1 has no word for it
        written = joined(parts) if slow else b"".join(parts)
        if written:
            self._outgoing.append(written)
        if isinstance(ending, Abort):
            self.abort(stream, ending)
        elif ending is not None:
            self._message_sent()

    def repeats_chunks(self, stream: int, left: int) -> bool:
        encoder = self._encoder
        live = stream == self._stream and self.closing is None and not self._outgoing
        return live and type(encoder) is BodyEncoder and encoder.is_in_chunk(left)

    def chunk_is_open(self, left: int) -> None:
        self._encoder.chunk_is_open(left)

    def incoming(self, stream: int) -> None:
        return None

    def framer(self, stream: int) -> Callable[[bytes], bytes] | None:
        return chunk if self.repeats_chunks(stream, 0) else None

    @property
    def in_full(self) -> bool:
        return self._encoder.complete

    @abstractmethod
    def _write_head(self, head: RequestHead | ResponseHead) -> bytes:
        """The head's bytes; sets the encoder for what follows."""

    def _write_interim(self, head: Interim) -> bytes:
        return interim_head(head)

    def _message_sent(self) -> None:
        """Our End is queued; the half close of a tunnel is the same for both roles."""
        if self._encoder.framing is not Framing.TUNNEL:
            return
        if self._inbound is Inbound.TUNNEL:
            self.closing = Closing.HALF
        else:
            self._over(Closing.FIN)

    def outgoing(self) -> list[bytes]:
        written, self._outgoing = self._outgoing, []
        return written

    def allowance(self, stream: int) -> int:
        return UNBOUNDED

    def grant(self, stream: int, nbytes: int) -> None:
        """Nothing to credit."""

    # ending

    def abort(self, stream: int, abort: Abort) -> None:
        if stream != self._stream or not stream:
            return
        match abort.manner:
            case Manner.SILENCE:
                self._over(Closing.SILENCE)
                self._stream = stream  # a silent client may still leave, and that is news
            case Manner.RESET if abort.scope is Scope.CONNECTION:
                self._over(Closing.RST)
            case Manner.NO_CLOSE_NOTIFY:
                self._over(Closing.NO_CLOSE_NOTIFY)
            case Manner.MID_CHUNK:
                half = self._encoder.half_chunk()
                if half:
                    self._outgoing.append(half)
                self._over(Closing.FIN)
            case Manner.AT_ONCE:
                self._over(Closing.AT_ONCE)
            case Manner.RESET | Manner.FIN | Manner.GOAWAY:
                if broken := self._encoder.broken_off():
                    self._outgoing.append(broken)
                self._over(Closing.FIN)

    def close(self) -> None:
        self._leaving = True
        self.reusable = False
        if not self._stream and self.closing is None:
            self._over(Closing.FIN)

    def _over(self, closing: Closing) -> None:
        """The connection has served: no stream is live, nothing is read any more."""
        self.closing = closing
        self.reusable = False
        self.hungry = True
        self._stream = 0
        self._inbound = Inbound.DEAF
        self._decoder = None
        self._waiting = b""


def promised_length(headers: Headers) -> int | None:
    """The bytes that a head written with the framing LENGTH promises, 0 where the writer adds the field; None where
    its field is no number: then nobody can tell when the promise is kept."""
    value = first(headers, b"content-length")
    if value is None:
        return 0
    return int(value) if value.isdigit() else None


def broken(peer: Peer, how: str, detail: str) -> Abort:
    """The Abort for a message cut short by the connection's end: `how` is "fin" or "rst" (see the table in `Abort`)."""
    code = CANCEL if peer is Peer.CLIENT else INTERNAL_ERROR  # what it means to the other side, if that speaks HTTP/2
    if how == "rst":
        return Abort(f"{peer}:rst", peer, Scope.CONNECTION, Manner.RESET, code, detail=detail)
    return Abort(f"{peer}:fin", peer, Scope.STREAM, Manner.FIN, code, detail=detail)
