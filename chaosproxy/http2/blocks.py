"""Header blocks: from HEADERS and its CONTINUATION frames to the decoded list of fields (RFC 9113 section 4.3).

Rules: every block is decoded, also one for a stream that nobody wants any more, because the compression state is the
connection's; what cannot be decoded costs the connection. A block is bounded in frames, in bytes, in decoded bytes and
in table size updates. Priorities and padding end here. Must not know: what the fields mean, stream states.
"""

import re
from dataclasses import dataclass

from hpack import Decoder, HPACKError, OversizedHeaderListError

from chaosproxy.http2.frames import (
    CONTINUATION,
    END_HEADERS,
    END_STREAM,
    HAS_PRIORITY,
    HEADERS,
    number,
    without_padding,
)
from chaosproxy.http2.heads import LARGEST_LIST
from chaosproxy.http2.mistakes import ConnectionFault
from chaosproxy.model.codes import COMPRESSION_ERROR, ENHANCE_YOUR_CALM, FRAME_SIZE_ERROR, PROTOCOL_ERROR

_MEMORY = re.compile(r"(: | from )<memory at \w+>")
"""hpack shows where what it could not read lay."""
MOST_FRAMES = 64
LARGEST_BLOCK = 2 * LARGEST_LIST
"""Also of the decoded list: up to here a list that is too long costs its stream (431), beyond it the connection."""
MOST_SIZE_UPDATES = 2
"""RFC 7541 section 4.2: at most two are ever needed."""


@dataclass(frozen=True, slots=True)
class Block:
    """A whole header block. `promised`: the stream that a PUSH_PROMISE announces, else 0."""

    stream: int
    fields: list[tuple[bytes, bytes]]
    end_stream: bool
    promised: int = 0


class Blocks:
    """Puts blocks together and owns the connection's HPACK decoder."""

    __slots__ = ("_decoder", "_end_stream", "_parts", "_promised", "_size", "stream")

    def __init__(self) -> None:
        self._decoder = Decoder(LARGEST_BLOCK)
        self._parts: list[bytes] = []
        self._size = 0
        self._end_stream = False
        self._promised = 0
        self.stream = 0
        """The stream whose block is open; 0 = none. Nothing but its CONTINUATION may come then (section 6.10)."""

    def allow(self, table: int) -> None:
        """Our SETTINGS allow a compression table of so many bytes; what was allowed before stays so."""
        self._decoder.max_allowed_table_size = max(table, self._decoder.max_allowed_table_size)

    def add(self, kind: int, flags: int, stream: int, payload: bytes) -> Block | None:
        """HEADERS, PUSH_PROMISE or CONTINUATION. Returns the block once it is whole."""
        if kind == CONTINUATION:
            if stream != self.stream or not stream:
                raise ConnectionFault(PROTOCOL_ERROR, "CONTINUATION without a block to continue")
        else:
            payload = self._open(kind, flags, stream, payload)
        self._parts.append(payload)
        self._size += len(payload)
        if self._size > LARGEST_BLOCK or len(self._parts) > MOST_FRAMES:
            raise ConnectionFault(ENHANCE_YOUR_CALM, "header block without end", cause="flood:CONTINUATION")
        if not flags & END_HEADERS:
            return None
        encoded = b"".join(self._parts)
        self._parts.clear()
        self._size = 0
        self.stream = 0
        return Block(stream, self._decode(encoded), self._end_stream, self._promised)

    def forget(self) -> None:
        """Nothing further comes."""
        self._parts.clear()
        self.stream = 0

    def _open(self, kind: int, flags: int, stream: int, payload: bytes) -> bytes:
        payload = without_padding(flags, payload)
        self._promised = 0
        if kind == HEADERS:
            self._end_stream = bool(flags & END_STREAM)
            if flags & HAS_PRIORITY:  # section 5.3.2: to be ignored, a dependency on itself as any other
                if len(payload) < 5:
                    raise ConnectionFault(FRAME_SIZE_ERROR, "HEADERS too short for its priority")
                payload = payload[5:]
        else:
            if len(payload) < 4:
                raise ConnectionFault(FRAME_SIZE_ERROR, "PUSH_PROMISE too short for its stream")
            self._end_stream = False
            self._promised = number(payload) & 0x7FFFFFFF
            if not self._promised:  # section 6.6
                raise ConnectionFault(PROTOCOL_ERROR, "PUSH_PROMISE of stream 0")
            payload = payload[4:]
        self.stream = stream
        return payload

    def _decode(self, encoded: bytes) -> list[tuple[bytes, bytes]]:
        _check_size_updates(encoded)
        try:
            return list(self._decoder.decode(encoded, raw=True))
        except OversizedHeaderListError as error:
            raise ConnectionFault(ENHANCE_YOUR_CALM, str(error), cause="flood:HEADERS") from error
        except (HPACKError, IndexError, ValueError) as error:  # section 4.3; hpack lets bare ones through
            said = _MEMORY.sub("", str(error))
            raise ConnectionFault(COMPRESSION_ERROR, f"header block: {said}") from error


def _check_size_updates(encoded: bytes) -> None:
    """The library takes thousands of them, each for the price of a field."""
    at = updates = 0
    while at < len(encoded) and encoded[at] & 0xE0 == 0x20:  # RFC 7541 section 6.3
        updates += 1
        if updates > MOST_SIZE_UPDATES:
            raise ConnectionFault(COMPRESSION_ERROR, "more than two table size updates in a block")
        more = encoded[at] & 0x1F == 0x1F  # RFC 7541 section 5.1: the number goes on behind a full prefix
        at += 1
        while more and at < len(encoded):
            more = bool(encoded[at] & 0x80)
            at += 1
