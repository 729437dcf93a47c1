"""What an HTTP/2 session writes, judged by what its peer has said: a reader that forgives nothing.

Rules: it knows what was fed to the session and allows what that could have meant at most. Must not know: the session.
"""

from collections import Counter, defaultdict

from hpack import Decoder

from chaosproxy.http2 import frames

PREFACE = frames.PREFACE
LARGEST_CODE = 0xD
"""Of the registered error codes (RFC 9113 section 7)."""


class Reader:
    """Fed with both directions, in order."""

    def __init__(self) -> None:
        self._heard = b""
        self._decoder = Decoder()
        self._decoder.max_header_list_size = 1 << 20
        self._largest = frames.SMALLEST_MAX_FRAME
        self._initial = 65_535
        self._window: defaultdict[int, int] = defaultdict(int)
        """What WINDOW_UPDATEs have opened, less what was used; of the connection beside the first 65,535."""
        self._received: Counter[int] = Counter()
        self._credited: Counter[int] = Counter()
        self._over: set[int] = set()
        self._block = b""
        self._inside = 0
        self._asked: Counter[int] = Counter()
        """PING and SETTINGS that are to be acknowledged."""
        self.seen: Counter[str] = Counter()
        """Kinds of frames written."""
        self._enlarged = False

    # what the session was fed

    def heard(self, raw: bytes) -> None:
        """Bytes of it, behind the preface."""
        self._heard += raw
        while len(self._heard) >= 9:
            stop = 9 + int.from_bytes(self._heard[:3], "big")
            if len(self._heard) < stop:
                return
            kind, flags = self._heard[3:5]
            self._told(kind, flags, int.from_bytes(self._heard[5:9], "big") & frames.STREAM_MASK, self._heard[9:stop])
            self._heard = self._heard[stop:]

    def _told(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        acknowledges = flags & frames.ACK
        if kind == frames.SETTINGS and not acknowledges and not stream and len(payload) % 6 == 0:
            self._asked[kind] += 1
            for at in range(0, len(payload), 6):
                self._set(int.from_bytes(payload[at : at + 2], "big"), int.from_bytes(payload[at + 2 : at + 6], "big"))
        elif kind == frames.PING and not acknowledges:
            self._asked[kind] += 1
        elif kind == frames.WINDOW_UPDATE and len(payload) == 4:
            self._window[stream] += frames.number(payload) & frames.STREAM_MASK
        elif kind == frames.DATA:
            self._received[stream] += len(payload)
            self._received[0] += len(payload)

    def _set(self, code: int, value: int) -> None:
        if code == frames.HEADER_TABLE_SIZE:
            self._decoder.max_allowed_table_size = max(value, self._decoder.max_allowed_table_size)
        elif code == frames.INITIAL_WINDOW_SIZE and value <= frames.LARGEST_WINDOW:
            self._initial = value
        elif code == frames.MAX_FRAME_SIZE and value < 1 << 24:
            self._largest = max(self._largest, value)

    # what it wrote

    def wrote(self, data: bytes) -> None:
        """Whole frames, each legal."""
        data = data.removeprefix(PREFACE)
        while data:
            assert len(data) >= 9, "half a frame's header"
            size, kind, flags = int.from_bytes(data[:3], "big"), data[3], data[4]
            stream = int.from_bytes(data[5:9], "big")
            payload, data = data[9 : 9 + size], data[9 + size :]
            assert len(payload) == size <= self._largest, "half a frame, or too large a one"
            assert stream <= frames.STREAM_MASK, "the reserved bit"
            frames.check_form(kind, flags, stream, size)
            assert kind == frames.CONTINUATION or not self._inside, "another frame inside of a block"
            self._frame(kind, flags, stream, payload)

    def _frame(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        self.seen[frames._NAMES[kind]] += 1
        match kind:
            case frames.DATA:
                self._data(flags, stream, len(payload))
            case frames.HEADERS | frames.CONTINUATION:
                self._headers(kind, flags, stream, payload)
            case frames.RST_STREAM:
                assert frames.number(payload) <= LARGEST_CODE
                self._over.add(stream)
            case frames.GOAWAY:
                assert frames.number(payload[4:]) <= LARGEST_CODE
                assert all(0x20 <= byte < 0x7F for byte in payload[8:]), payload
            case frames.PING | frames.SETTINGS if flags & frames.ACK:
                self._asked[kind] -= 1
                assert self._asked[kind] >= 0, "acknowledged, and nobody had asked"
            case frames.WINDOW_UPDATE:
                self._credit(stream, frames.number(payload))
            case frames.SETTINGS:
                pass
            case _:
                raise AssertionError(f"a frame of kind {kind}")

    def _data(self, flags: int, stream: int, size: int) -> None:
        assert stream not in self._over, "DATA behind the end"
        if size:
            assert size <= self._initial + self._window[stream], "more than the stream's window"
            assert size <= 65_535 + self._window[0], "more than the connection's window"
        self._window[stream] -= size
        self._window[0] -= size
        if flags & frames.END_STREAM:
            self._over.add(stream)

    def _headers(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        if kind == frames.HEADERS:
            assert stream not in self._over, "HEADERS behind the end"
            self._inside, self._block = stream, b""
            if flags & frames.END_STREAM:
                self._over.add(stream)
        assert self._inside == stream
        self._block += payload
        if flags & frames.END_HEADERS:
            self._inside = 0
            self._decoder.decode(self._block, raw=True)

    def _credit(self, stream: int, size: int) -> None:
        """No more than was received, but for the connection's larger window at the beginning."""
        assert 0 < size <= frames.LARGEST_WINDOW
        if not stream and not self._enlarged:
            self._enlarged = True
            return
        self._credited[stream] += size
        assert self._credited[stream] <= self._received[stream], "credit for what has not come"
