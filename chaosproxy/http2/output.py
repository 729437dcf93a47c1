"""What we say: h2 writes heads, settings and acknowledgements and keeps the windows we may send in; DATA is ours.

Rules: h2 hears of our peer only what it needs for that, one well-formed frame at a time, and never of a GOAWAY, a broken
message or a late frame: it answers any of them by closing the whole connection. A DATA frame without END_STREAM is written
by hand, sixty times cheaper than h2's objects; that reads two attributes which h2 does not document, so the module looks
for them once and leaves DATA to h2 where they are gone. `take` gives one element per write.
Must not know: what arrives, signals, who is told.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import Event, StreamReset
from h2.exceptions import ProtocolError
from h2.settings import SettingCodes, Settings
from h2.stream import H2Stream

from chaosproxy.http2 import frames
from chaosproxy.http2.fields import Block
from chaosproxy.http2.heads import LARGEST_LIST
from chaosproxy.http2.mistakes import ConnectionFault, StreamFault
from chaosproxy.model.codes import FLOW_CONTROL_ERROR
from chaosproxy.model.messages import Data
from chaosproxy.model.messages import Event as Message
from chaosproxy.model.vocabulary import Role

ROOM = 65_536
"""Bytes that may wait here unwritten; beyond it no Data is taken and the driver stops reading."""
LARGEST_TABLE = 65_536
"""A peer may offer four gigabytes of compression table; we use no more than this of it (RFC 7541 section 4.2)."""

_INTRODUCTION = b"\x82"
""":method GET, by index: enough for h2 to open a stream; the real head has been read and judged by us."""
_header = frames.HEADER.pack
_KNOWN_SETTINGS = frozenset(int(code) for code in SettingCodes)


def _by_hand() -> bool:
    probe = H2Connection(H2Configuration(client_side=True, header_encoding=None))
    probe.initiate_connection()
    probe.send_headers(1, [(b":method", b"GET"), (b":scheme", b"http"), (b":authority", b"x"), (b":path", b"/")])
    return hasattr(probe, "outbound_flow_control_window") and hasattr(
        probe.streams.get(1), "outbound_flow_control_window"
    )


class Output:
    """The writing half of a connection."""

    __slots__ = ("_control", "_elements", "_flows", "_h2", "by_hand", "muted", "size")

    def __init__(
        self, role: Role, *, max_streams: int, stream_window: int, others: Mapping[int, int] = MappingProxyType({})
    ) -> None:
        """`others`: SETTINGS beside or in place of ours."""
        client = role is Role.CLIENT
        settings = {
            SettingCodes.INITIAL_WINDOW_SIZE: stream_window,
            SettingCodes.MAX_HEADER_LIST_SIZE: LARGEST_LIST,
            SettingCodes.ENABLE_PUSH: 0,
        }
        if not client:
            settings[SettingCodes.MAX_CONCURRENT_STREAMS] = max_streams
            settings[SettingCodes.ENABLE_CONNECT_PROTOCOL] = 1  # RFC 8441 section 3
        settings.update({SettingCodes(code): value for code, value in others.items()})
        config = H2Configuration(
            client_side=client,
            header_encoding=None,
            validate_inbound_headers=False,
            normalize_inbound_headers=False,
            validate_outbound_headers=False,
            normalize_outbound_headers=False,
        )
        self._h2 = H2Connection(config)
        self._h2.local_settings = Settings(client=client, initial_values=settings)
        self._h2.initiate_connection()
        self._flows = self._h2.streams
        self._elements: list[bytes] = []
        self._control: list[bytes] = []
        self.size = 0
        """Bytes not yet taken."""
        self.muted = False
        self.by_hand = BY_HAND
        self.control(self._h2.data_to_send())
        if not client:
            self._h2.receive_data(frames.PREFACE)

    def element(self, data: bytes) -> None:
        """One write of its own."""
        if data and not self.muted:
            if self._control:
                self._close_control()
            self._elements.append(data)
            self.size += len(data)

    def control(self, data: bytes) -> None:
        """Frames whose write boundaries mean nothing: neighbours share a write."""
        if data and not self.muted:
            self._control.append(data)
            self.size += len(data)

    def _close_control(self) -> None:
        self._elements.append(b"".join(self._control))
        self._control.clear()

    def take(self) -> list[bytes]:
        """Everything to be written; the caller owns it."""
        if self._control:
            self._close_control()
        elements = self._elements
        if elements:
            self._elements = []
            self.size = 0
            return elements
        return []

    def mute(self) -> None:
        """Write nothing more, whatever happens. What was said before still leaves."""
        self.muted = True

    # what h2 hears

    def introduce(self, wire: int) -> None:
        """Server role: a request has come."""
        self._tell(frames.HEADERS, frames.END_HEADERS, wire, _INTRODUCTION)

    def peer_settings(self, payload: bytes) -> None:
        """The peer's SETTINGS, without the ids that h2 would keep for ever; acknowledged at once (section 6.5.3)."""
        kept = []
        for at in range(0, len(payload), 6):
            code, value = int.from_bytes(payload[at : at + 2], "big"), payload[at + 2 : at + 6]
            if code == SettingCodes.HEADER_TABLE_SIZE:
                value = min(int.from_bytes(value, "big"), LARGEST_TABLE).to_bytes(4, "big")
            if code in _KNOWN_SETTINGS:
                kept.append(payload[at : at + 2] + value)
        self.acknowledge(self._tell(frames.SETTINGS, 0, 0, b"".join(kept)))

    def acknowledge(self, frame: bytes) -> None:
        """The acknowledgement of the peer's SETTINGS."""
        self.control(frame)

    def ping(self, payload: bytes) -> None:
        """Answer a PING (section 6.7)."""
        self.control(self._tell(frames.PING, 0, 0, payload))

    def credit(self, wire: int, nbytes: int) -> None:
        """WINDOW_UPDATE of ours (section 6.9); 0 is the connection."""
        self.control(frames.window_update(wire, nbytes))

    def window_opened(self, wire: int, payload: bytes) -> int:
        """The peer's WINDOW_UPDATE; the window as it is now, 0 where we do not see it. StreamFault or ConnectionFault past
        2^31-1 (section 6.9.1)."""
        events: list[Event] = []
        self._tell(frames.WINDOW_UPDATE, 0, wire, payload, events)
        if events and type(events[0]) is StreamReset:
            raise StreamFault("window beyond 2^31-1", FLOW_CONTROL_ERROR)
        if not self.by_hand:
            return 0
        return self._flows[wire].outbound_flow_control_window if wire else self._h2.outbound_flow_control_window

    def _tell(self, kind: int, flags: int, wire: int, payload: bytes, events: list[Event] | None = None) -> bytes:
        """Hand h2 one frame; returns its answer. Its errors become ours, and the GOAWAY it writes with them is dropped:
        ours knows better which streams were taken."""
        try:
            found = self._h2.receive_data(frames.frame(kind, flags, wire, payload))
        except ProtocolError as error:
            self._h2.clear_outbound_data_buffer()
            raise ConnectionFault(int(error.error_code), str(error)) from error
        if events is not None:
            events.extend(found)
        return self._h2.data_to_send()

    # what h2 writes, and what we write past it

    def head(self, wire: int, block: Block, *, end: bool) -> bytes:
        """HEADERS, and CONTINUATION where the peer's frame size asks for it."""
        self._h2.send_headers(wire, block, end_stream=end)
        return self._h2.data_to_send()

    def data(self, wire: int, payload: bytes, *, end: bool) -> bytes:
        """One DATA frame, or several where the peer's frame size asks for it. The caller has asked `allowance`."""
        most = self._h2.max_outbound_frame_size
        size = len(payload)
        if size > most:
            pieces = [payload[at : at + most] for at in range(0, size, most)]
            last = len(pieces) - 1
            return b"".join([self.data(wire, piece, end=end and at == last) for at, piece in enumerate(pieces)])
        if end or not self.by_hand:
            self._h2.send_data(wire, payload, end_stream=end)
            return self._h2.data_to_send()
        self._flows[wire].outbound_flow_control_window -= size
        self._h2.outbound_flow_control_window -= size
        return frames.HEADER.pack(size << 8 | frames.DATA, 0, wire) + payload

    def padded(self, wire: int, payload: bytes, padding: int, behind: int, *, end: bool) -> bytes:
        """One DATA frame that fits one, with so much padding, or as much as the frame has room for, and the windows beside
        `behind` bytes of body that are still to come."""
        window = self._h2.local_flow_control_window(wire) - behind
        room = min(window, self._h2.max_outbound_frame_size) - len(payload) - 1
        self._h2.send_data(wire, payload, end_stream=end, pad_length=min(padding, room) if room >= 0 else None)
        return self._h2.data_to_send()

    @property
    def largest(self) -> int:
        """Bytes of a frame that the peer takes."""
        return self._h2.max_outbound_frame_size

    def body(self, wire: int, events: Sequence[Message]) -> bool:
        """One write of `events`, if they are Data alone and each fits a frame; else False, and nothing has been done."""
        h2, parts, size = self._h2, list[bytes](), 0
        most = h2.max_outbound_frame_size
        for event in events:
            if type(event) is not Data or len(event.payload) > most:
                return False
            payload = event.payload
            size += len(payload)
            parts += (_header(len(payload) << 8 | frames.DATA, 0, wire), payload)
        if not self.by_hand:
            return False
        self._flows[wire].outbound_flow_control_window -= size
        h2.outbound_flow_control_window -= size
        self.element(b"".join(parts))
        return True

    def end(self, wire: int) -> bytes:
        """END_STREAM on an empty DATA frame."""
        self._h2.end_stream(wire)
        return self._h2.data_to_send()

    def drop(self, wire: int) -> None:
        """The stream is over. h2 would remember 65,536 of them; late frames never reach it, so it need not."""
        self._h2.streams.pop(wire, None)

    # what the peer allows

    def allowance(self, wire: int) -> int:
        """Body bytes that may be sent on a live stream now."""
        if self.by_hand:
            window, flow = self._h2.outbound_flow_control_window, self._flows[wire].outbound_flow_control_window
            return max(0, min(window, flow, ROOM - self.size))
        return max(0, min(self._h2.local_flow_control_window(wire), ROOM - self.size))

    def windows(self, wire: int) -> tuple[H2Connection, H2Stream]:
        """What keeps the connection's window and that of a live stream; to be written to only where we write `by_hand`."""
        return self._h2, self._flows[wire]

    def first_allowance(self) -> int:
        """The same for a stream that has not been opened."""
        window = min(self.initial_window, self._h2.outbound_flow_control_window)
        return max(0, min(window, ROOM - self.size))

    @property
    def initial_window(self) -> int:
        """What the peer gives each fresh stream of ours to send."""
        return self._h2.remote_settings.initial_window_size

    @property
    def max_streams(self) -> int:
        """How many streams the peer lets us have at a time."""
        return self._h2.remote_settings.max_concurrent_streams

    @property
    def extended_connect(self) -> bool:
        """The peer takes an extended CONNECT (RFC 8441 section 3)."""
        return self._h2.remote_settings.enable_connect_protocol == 1


BY_HAND = _by_hand()
"""The two attributes are there."""
