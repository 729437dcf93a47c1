"""Messages in the making: what header blocks, END_STREAM, RST_STREAM and GOAWAY mean for a stream, in either role.

Rules: a message is head, body, trailers, end, and nothing else (RFC 9113 section 8.1); StreamFault where it is not. What
the driver hears of a stream is decided here. Must not know: frames, windows, HPACK.
"""

from collections import deque
from collections.abc import Mapping

from hpack import HeaderTuple

from chaosproxy.http2 import floods, heads
from chaosproxy.http2.blocks import Block
from chaosproxy.http2.core import Core
from chaosproxy.http2.frames import INITIAL_WINDOW_SIZE, MAX_CONCURRENT_STREAMS
from chaosproxy.http2.mistakes import ConnectionFault, StreamFault
from chaosproxy.http2.streams import Death, Part, Stream
from chaosproxy.model.codes import ENHANCE_YOUR_CALM, NO_ERROR, PROTOCOL_ERROR, REFUSED_STREAM, STREAM_CLOSED, code_name
from chaosproxy.model.messages import End, Interim, Trailers
from chaosproxy.model.vocabulary import Framing, Role

MOST_INTERIMS = 32
"""1xx heads before one final head."""
PLAIN_WINDOW = 65_535


class Messages:
    """The peer's messages on one connection."""

    def __init__(self, core: Core, *, max_streams: int, stream_window: int) -> None:
        self._core = core
        self._max_streams = max_streams
        self._wanted = deque([stream_window])
        """Of each of our SETTINGS that has not been acknowledged, the window."""
        self.window = PLAIN_WINDOW
        """What a peer may send on a fresh stream; our own setting counts once it is acknowledged (section 6.5.3)."""
        self.acknowledged = False
        """The peer has acknowledged SETTINGS of ours."""

    # ---- heads, trailers, ends

    def request(self, block: Block) -> None:
        """Server role: a block on a stream that is new."""
        core, streams, wire = self._core, self._core.streams, block.stream
        streams.opened = wire
        if wire > core.last_accepted:  # section 6.8: the client knows that these are not taken
            streams.note(wire, Death.RESET_BY_US)
            return
        if len(streams) >= self._max_streams:  # section 5.1.2
            core.refuse(wire, REFUSED_STREAM)
            return
        stream = streams.start(wire, self.window)
        try:
            head = heads.request_head(block.fields, final=block.end_stream)
            left = heads.body_length(head, head.method)
        except StreamFault as fault:
            if fault.status == 431:
                core.output.control(self._too_large(stream))
                fault.code = NO_ERROR
            self.malformed(stream, fault)
            return
        core.output.introduce(wire)
        stream.method, stream.left, stream.receiving = head.method, left, Part.BODY
        core.arrived(stream.number, head)
        if head.final:
            self.ended(stream)

    def block(self, stream: Stream, block: Block) -> None:
        """A block on a live stream: an answer's head, or trailers. StreamFault if it is malformed or out of place."""
        if stream.silent:
            if block.end_stream:
                self.ended_in_silence(stream)
            return
        if stream.receiving is Part.OVER:  # section 5.1, half-closed (remote)
            raise StreamFault("HEADERS behind END_STREAM", STREAM_CLOSED)
        if stream.receiving is Part.HEAD:
            self._response(stream, block)
            return
        if not block.end_stream:  # section 8.1
            raise StreamFault("a second head, or trailers that do not end the stream")
        trailers = heads.trailer_fields(block.fields)
        self._check_length(stream)
        if trailers:
            self._core.arrived(stream.number, Trailers(trailers))
        self.ended(stream)

    def _response(self, stream: Stream, block: Block) -> None:
        core = self._core
        head = heads.response_head(block.fields, method=stream.method, final=block.end_stream)
        if isinstance(head, Interim):
            stream.interims += 1
            if stream.interims > MOST_INTERIMS:
                raise StreamFault(f"more than {MOST_INTERIMS} interim answers", ENHANCE_YOUR_CALM)
            core.arrived(stream.number, head)
            core.bucket.charge("interim answers", floods.SMALL)
            return
        stream.left = heads.body_length(head, stream.method)
        stream.receiving = Part.BODY
        stream.tunnel = head.framing is Framing.TUNNEL
        core.arrived(stream.number, head)
        if head.final:
            self._finish(stream)

    def ended(self, stream: Stream) -> None:
        """END_STREAM of the peer. StreamFault if its content-length announced more (section 8.1.1)."""
        self._check_length(stream)
        self._finish(stream)

    def _finish(self, stream: Stream) -> None:
        self._core.arrived(stream.number, End())
        stream.receiving = Part.OVER
        if stream.sending is Part.OVER:
            self._core.bury(stream, Death.ENDED)

    def _check_length(self, stream: Stream) -> None:
        if stream.left:
            raise StreamFault(f"END_STREAM {stream.left} bytes short of content-length")

    def ended_in_silence(self, stream: Stream) -> None:
        """The peer has ended a stream that we no longer listen to."""
        stream.receiving = Part.OVER

    def malformed(self, stream: Stream, fault: StreamFault) -> None:
        """The peer's message is broken: its stream is reset, its siblings live."""
        core = self._core
        status = fault.status if core.role is Role.SERVER else 502
        core.fail_stream(stream, core.abort("malformed", fault.code, fault.detail, status=status))

    def _too_large(self, stream: Stream) -> bytes:
        """A head beyond our limit is answered before its stream is reset (RFC 6585 section 5)."""
        self._core.output.introduce(stream.wire)
        block = [HeaderTuple(b":status", b"431"), HeaderTuple(b"content-length", b"0")]
        return self._core.output.head(stream.wire, block, end=True)

    # ---- endings

    def reset(self, wire: int, code: int) -> None:
        """RST_STREAM of the peer (section 6.4)."""
        core = self._core
        stream = core.streams.by_wire.get(wire)
        if stream is None:
            if core.streams.idle(wire):
                raise ConnectionFault(PROTOCOL_ERROR, f"RST_STREAM on stream {wire}, which is idle")
            if core.streams.death(wire) in (None, Death.RESET_BY_PEER):
                core.bucket.charge("RST_STREAM", floods.RESET)
            core.streams.note(wire, Death.RESET_BY_PEER)  # the first one crossed our own ending, and is no mistake
            return
        early = core.role is Role.SERVER and not stream.head_sent
        core.tell(
            stream, core.abort(f"{core.peer}:stream:{code_name(code)}", code), out_of_band=core.role is Role.SERVER
        )
        core.bury(stream, Death.RESET_BY_PEER)
        if early:  # CVE-2023-44487
            core.bucket.charge("RST_STREAM", floods.RESET)

    def goaway(self, last: int, code: int) -> None:
        """GOAWAY of the peer (section 6.8): what it has taken runs on to its end."""
        core = self._core
        core.goaway_received = True
        if core.role is Role.SERVER:
            return  # it speaks of pushed streams, and there are none; a client that goes closes by itself
        abort = core.abort(f"upstream:goaway:{code_name(code)}", REFUSED_STREAM)
        core.end_above(last, abort)
        for number in sorted(core.streams.reserved):
            core.give_back(number, abort.cause)
        core.leaving = True
        core.leave_if_idle()

    # ---- pushes and settings

    def check_push(self) -> None:
        """A PUSH_PROMISE may come: to a client, from a server that has not yet seen our SETTINGS (section 6.6)."""
        if self._core.role is Role.SERVER or self.acknowledged:
            raise ConnectionFault(PROTOCOL_ERROR, "PUSH_PROMISE, which is switched off")

    def pushed(self, promised: int) -> None:
        """Refuse a push that was under way before our SETTINGS had arrived."""
        streams = self._core.streams
        if promised % 2 or promised <= streams.promised:  # section 5.1.1
            raise ConnectionFault(PROTOCOL_ERROR, f"PUSH_PROMISE of stream {promised}")
        streams.promised = promised
        self._core.refuse(promised, REFUSED_STREAM)

    def settings_sent(self, others: Mapping[int, int]) -> None:
        """Further SETTINGS of ours are on their way."""
        latest = self._wanted[-1] if self._wanted else self.window
        self._wanted.append(others.get(INITIAL_WINDOW_SIZE, latest))
        self._max_streams = others.get(MAX_CONCURRENT_STREAMS, self._max_streams)

    def settings_acknowledged(self) -> None:
        """Our SETTINGS are in force at the peer."""
        if not self._wanted:
            self._core.bucket.charge("SETTINGS", floods.SMALL)
            return
        self.acknowledged = True
        wanted = self._wanted.popleft()
        change, self.window = wanted - self.window, wanted
        for stream in self._core.streams.by_wire.values():
            stream.window.resize(change)

    def settings_changed(self) -> None:
        """The peer's SETTINGS are in force: windows may have grown, and fewer streams may be allowed."""
        core = self._core
        core.granted()
        excess = len(core.streams) - core.output.max_streams if core.role is Role.CLIENT else 0
        for number in sorted(core.streams.reserved, reverse=True)[: max(0, excess)]:
            core.give_back(number, "upstream:goaway:NO_ERROR")
