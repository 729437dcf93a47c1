"""What we hear: frames of the peer become signals, and whatever breaks a rule costs as little as the rule allows.

Rules: every frame is judged here, in the order of arrival, before h2 hears of it; a message that is malformed costs its
stream (RFC 9113 section 8.1.1), the connection falls only where the RFC leaves no choice. Late frames of a stream that we
have reset are dropped, their bytes credited to the connection and their header blocks decoded. Must not know: bytes on
sockets, what the driver does with a signal.
"""

from chaosproxy.http2 import floods, frames, heads
from chaosproxy.http2.blocks import Block, Blocks
from chaosproxy.http2.core import Core
from chaosproxy.http2.cutter import Cutter
from chaosproxy.http2.frames import HEADER, HEADER_SIZE
from chaosproxy.http2.messages import PLAIN_WINDOW, Messages
from chaosproxy.http2.mistakes import ConnectionFault, StreamFault
from chaosproxy.http2.straight import Incoming
from chaosproxy.http2.streams import Death, Part, Stream
from chaosproxy.http2.windows import Window
from chaosproxy.model.codes import FLOW_CONTROL_ERROR, FRAME_SIZE_ERROR, PROTOCOL_ERROR, STREAM_CLOSED
from chaosproxy.model.messages import Data
from chaosproxy.model.vocabulary import Role
from chaosproxy.session import Granted

MANY_PAIRS = 100
_header = HEADER.unpack_from


class Receiver:
    """The reading half of a connection."""

    def __init__(self, core: Core, messages: Messages, *, connection_window: int) -> None:
        self._core = core
        self._messages = messages
        self._cutter = Cutter(preface=core.role is Role.SERVER)
        self._blocks = Blocks()
        self._window = Window(connection_window)
        self._widest = PLAIN_WINDOW
        """The furthest that the peer has opened the connection's window for us: giving back what it took is no more."""
        self._greeted = False
        """The peer's first SETTINGS have come."""

    def allow(self, *, frame: int, table: int) -> None:
        """Our SETTINGS allow frames, or a compression table, of so many bytes; what was allowed before stays so."""
        self._cutter.largest = max(self._cutter.largest, frame)
        self._blocks.allow(table)

    @property
    def inside(self) -> bool:
        """A frame or a header block has begun and not ended."""
        return self._cutter.inside or bool(self._blocks.stream)

    def forget(self) -> None:
        """The connection has failed: what has begun is not kept until it is closed."""
        self._cutter.forget()
        self._blocks.forget()

    def feed(self, data: bytes) -> None:
        """What one read brought. ConnectionFault ends the connection; what came before it stands."""
        by_wire, blocks = self._core.streams.by_wire, self._blocks
        buffer = self._cutter.add(data)
        at, behind, largest = 0, len(buffer), self._cutter.largest
        while behind - at >= HEADER_SIZE:
            length_kind, flags, wire = _header(buffer, at)
            begin = at + HEADER_SIZE
            end = begin + (length_kind >> 8)
            if end > behind or end - begin > largest:
                break
            if not (length_kind & 0xFF or flags or blocks.stream) and end > begin:  # DATA
                stream = by_wire.get(wire)
                if stream is not None and stream.receiving is Part.BODY and not stream.silent:
                    self._body(stream, buffer[begin:end], end - begin)
                    at = end
                    continue
            self._frame(length_kind & 0xFF, flags, wire & frames.STREAM_MASK, buffer[begin:end])
            at = end
        if at < behind:
            self._cutter.keep(buffer[at:])
        elif buffer:
            self._cutter.keep(b"")

    def _frame(self, kind: int, flags: int, wire: int, payload: bytes) -> None:
        if not self._greeted and (kind != frames.SETTINGS or flags & frames.ACK):  # section 3.4
            raise ConnectionFault(PROTOCOL_ERROR, "the first frame is not SETTINGS")
        if self._blocks.stream and kind != frames.CONTINUATION:  # section 6.10
            raise ConnectionFault(PROTOCOL_ERROR, "another frame within a header block")
        frames.check_form(kind, flags, wire, len(payload))
        match kind:
            case frames.DATA:
                self._data(flags, wire, payload)
            case frames.HEADERS | frames.PUSH_PROMISE | frames.CONTINUATION:
                if kind == frames.PUSH_PROMISE:
                    self._messages.check_push()
                block = self._blocks.add(kind, flags, wire, payload)
                if block is not None:
                    self._block(block)
            case frames.SETTINGS:
                self._settings(flags, payload)
            case frames.PING:
                self._ping(flags, payload)
            case frames.WINDOW_UPDATE:
                self._window_update(wire, payload)
            case frames.RST_STREAM:
                self._messages.reset(wire, frames.number(payload))
            case frames.GOAWAY:
                self._core.bucket.charge("GOAWAY", floods.SETTINGS)
                self._messages.goaway(frames.number(payload) & frames.STREAM_MASK, frames.number(payload[4:]))
            case frames.PRIORITY:
                self._priority(wire, payload)
            case _:  # section 5.5: unknown kinds are ignored
                self._core.bucket.charge("unknown frames", floods.UNKNOWN)

    # ---- DATA

    def _body(self, stream: Stream, body: bytes, size: int) -> None:
        """Body bytes of a stream that wants them: `size` of the window, padding included. Every frame comes through
        here, so what is counted is counted in place."""
        window, core = self._window, self._core
        window.left -= size
        window.owed += size
        if window.owed >= window.left:
            self._credit_now()
        core.useful = True
        own = stream.window
        own.left -= size
        if own.left < 0:  # section 6.9.1
            self._messages.malformed(stream, StreamFault("more than the stream's window", FLOW_CONTROL_ERROR))
            return
        if stream.left is not None:
            stream.left -= len(body)
            if stream.left < 0:  # section 8.1.1
                self._messages.malformed(stream, StreamFault("more DATA than the head allows"))
                return
        core.arrived(stream.number, Data(body))

    def _data(self, flags: int, wire: int, payload: bytes) -> None:
        """DATA with flags, empty, late, or out of place (section 6.1)."""
        body = frames.without_padding(flags, payload)
        if not body and not flags & frames.END_STREAM:
            self._core.bucket.charge("empty DATA", floods.SMALL)
        stream = self._core.streams.by_wire.get(wire)
        if stream is None or stream.receiving is not Part.BODY or stream.silent:
            self._credit(len(payload))
            self._unwanted(stream, flags, wire)
            return
        if body:
            self._body(stream, body, len(payload))
        else:
            self._credit(len(payload))
            if not stream.window.take(len(payload)):
                self._messages.malformed(stream, StreamFault("more than the stream's window", FLOW_CONTROL_ERROR))
        if stream.receiving is not Part.BODY:
            return
        if flags & frames.END_STREAM:
            self._ended(stream)
        elif len(payload) > len(body):
            self.grant(stream, len(payload) - len(body))

    def _credit(self, size: int) -> None:
        self._window.left -= size
        self._window.owed += size
        self._credit_now()

    def _credit_now(self) -> None:
        if self._window.left < 0:  # section 6.9.1
            raise ConnectionFault(FLOW_CONTROL_ERROR, "more than the connection's window")
        increment = self._window.give(0)
        if increment:
            self._core.output.credit(0, increment)

    def _unwanted(self, stream: Stream | None, flags: int, wire: int) -> None:
        if stream is None:
            self._late("DATA", wire)
        elif stream.silent:
            if flags & frames.END_STREAM:
                self._messages.ended_in_silence(stream)
        elif stream.receiving is Part.OVER:  # section 5.1, half-closed (remote)
            self._messages.malformed(stream, StreamFault("DATA behind END_STREAM", STREAM_CLOSED))
        else:
            self._messages.malformed(stream, StreamFault("DATA before any head"))

    def _ended(self, stream: Stream) -> None:
        try:
            self._messages.ended(stream)
        except StreamFault as fault:
            self._messages.malformed(stream, fault)

    def grant(self, stream: Stream, nbytes: int) -> None:
        """Credit a live stream with `nbytes` that went further on, or were padding."""
        if stream.receiving is Part.OVER or stream.silent:
            return
        increment = stream.window.give(nbytes)
        if increment:
            self._core.output.credit(stream.wire, increment)

    def incoming(self, stream: Stream) -> Incoming | None:
        """Its frames past us, if it is in a body whose length nobody has announced."""
        if stream.receiving is not Part.BODY or stream.silent or stream.left is not None:
            return None
        return Incoming(self._core, self._cutter, self._blocks, self._window, stream)

    # ---- header blocks

    def _block(self, block: Block) -> None:
        messages, streams = self._messages, self._core.streams
        if block.promised:
            messages.pushed(block.promised)
            return
        stream = streams.by_wire.get(block.stream)
        if len(block.fields) > heads.MOST_FIELDS:
            self._core.bucket.charge("HEADERS", floods.FIELD * len(block.fields))
        try:
            if stream is not None:
                messages.block(stream, block)
            elif self._core.role is Role.SERVER and block.stream % 2 and block.stream > streams.opened:
                messages.request(block)
            else:
                self._core.bucket.charge("HEADERS", floods.LATE_FIELD * (1 + len(block.fields)))
                self._late("HEADERS", block.stream)
        except StreamFault as fault:
            assert stream is not None
            self._messages.malformed(stream, fault)

    def _late(self, name: str, wire: int) -> None:
        """A frame for a stream that is not live (section 5.1)."""
        streams = self._core.streams
        if streams.idle(wire):
            raise ConnectionFault(PROTOCOL_ERROR, f"{name} on stream {wire}, which is idle")
        death = streams.death(wire)
        if death is Death.RESET_BY_US:
            return
        if death is Death.RESET_BY_PEER:
            self._core.refuse(wire, STREAM_CLOSED)
            return
        # section 5.1.1: an id that was skipped was closed by the higher one, and may not come back
        code = PROTOCOL_ERROR if death is None and name == "HEADERS" else STREAM_CLOSED
        raise ConnectionFault(code, f"{name} on stream {wire}, which is closed")

    # ---- everything else

    def _settings(self, flags: int, payload: bytes) -> None:
        core = self._core
        if flags & frames.ACK:
            self._messages.settings_acknowledged()
            return
        self._greeted = True
        many = len(payload) > 6 * MANY_PAIRS
        core.bucket.charge("SETTINGS", floods.MANY_SETTINGS if many else floods.SETTINGS)
        core.output.peer_settings(payload)
        self._messages.settings_changed()

    def _ping(self, flags: int, payload: bytes) -> None:
        if not self._core.useful:
            self._core.bucket.charge("PING", floods.SMALL)
        self._core.useful = False
        if not flags & frames.ACK:
            self._core.output.ping(payload)

    def _window_update(self, wire: int, payload: bytes) -> None:
        core = self._core
        increment = frames.number(payload) & frames.STREAM_MASK
        if not wire:
            if not increment:  # section 6.9
                raise ConnectionFault(PROTOCOL_ERROR, "WINDOW_UPDATE of 0")
            opened = core.output.window_opened(0, payload)
            if opened > self._widest:
                self._charge_wider(self._widest - PLAIN_WINDOW)
                self._widest = opened
            core.granted()
            return
        stream = core.streams.by_wire.get(wire)
        if stream is None:
            if core.streams.idle(wire):  # section 5.1
                raise ConnectionFault(PROTOCOL_ERROR, f"WINDOW_UPDATE on stream {wire}, which is idle")
            return
        if not increment:  # section 6.9
            self._messages.malformed(stream, StreamFault("WINDOW_UPDATE of 0"))
            return
        try:
            opened = core.output.window_opened(wire, payload)
        except StreamFault as fault:
            self._messages.malformed(stream, fault)
            return
        if opened > stream.widest and opened > core.output.initial_window:
            self._charge_wider(stream.widest)
            stream.widest = opened
        if not stream.silent and stream.sending is not Part.OVER:
            core.signals.append(Granted(stream.number))

    def _charge_wider(self, widest: int) -> None:
        if widest:  # the first time is for whoever wants larger windows than the protocol's
            self._core.bucket.charge("WINDOW_UPDATE", floods.WIDER)

    def _priority(self, wire: int, payload: bytes) -> None:
        """Ignored, a dependency on itself too (section 5.3.2); only its length counts (section 6.3)."""
        self._core.bucket.charge("PRIORITY", floods.SMALL)
        stream = self._core.streams.by_wire.get(wire)
        if len(payload) != 5 and stream is not None:
            self._messages.malformed(stream, StreamFault(f"PRIORITY of {len(payload)} bytes", FRAME_SIZE_ERROR))
