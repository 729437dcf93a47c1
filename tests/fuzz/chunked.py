"""The body codec of HTTP/1.1 alone: any bytes, any cut, against h11, and through our encoder.

Must not know: heads, who draws the bytes.
"""

import h11

from chaosproxy.http1.chunked import ChunkedDecoder
from chaosproxy.http1.encoder import BodyEncoder
from chaosproxy.http1.lines import Malformed
from chaosproxy.model.messages import Data, Event, Trailers
from chaosproxy.model.vocabulary import Framing
from tests.fuzz.draw import Draw, bytewise, cut
from tests.fuzz.h1 import BYTEWISE, IN_TRAILERS, ONLY_H11, TOKENS
from tests.fuzz.targets import Target

HEAD = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"


def decoded(pieces: list[bytes]) -> tuple[list[Event], bytes | None, str]:
    """The events, what lies behind the body (None: it goes on), and what was wrong."""
    decoder, events, behind = ChunkedDecoder(), list[Event](), None
    for piece in pieces:
        if behind is not None:
            behind += piece
            continue
        try:
            behind = decoder.feed(piece, events)
        except Malformed as error:
            return events, None, error.detail
    return events, behind, ""


def told(pieces: list[bytes]) -> tuple[bytes, list[Event], bytes | None, str]:
    """The same, however it was cut."""
    events, behind, wrong = decoded(pieces)
    assert all(event.payload for event in events if isinstance(event, Data))
    body = b"".join(event.payload for event in events if isinstance(event, Data))
    return body, [event for event in events if not isinstance(event, Data)], behind, wrong


def run(data: bytes) -> None:
    draw = Draw(data)
    places, raw = draw.places(), draw.rest()
    whole = told([raw] if raw else [])
    assert told(cut(raw, places)) == whole
    if len(raw) <= BYTEWISE:
        assert told(bytewise(raw)) == whole
    _scanned(cut(raw, places))
    if whole[2] is not None:
        _as_h11_reads(raw, *whole[:3])
        _written_again(raw, whole[2])


def _scanned(pieces: list[bytes]) -> None:
    """Chunks that are passed on as they came are the chunks that would have been read."""
    decoder, read = ChunkedDecoder(), ChunkedDecoder()
    scanned, events = b"", list[Event]()
    for piece in pieces:
        found = decoder.scan(piece, parts=True) if decoder.open_chunk is not None else None
        if found is None:
            return
        scanned += b"".join(piece[start:stop] for start, stop in found)
        assert read.feed(piece, events) is None
        assert scanned == b"".join(event.payload for event in events if isinstance(event, Data))


def _as_h11_reads(raw: bytes, body: bytes, trailers: list[Event], behind: bytes) -> None:
    reader = h11.Connection(h11.SERVER, max_incomplete_event_size=1 << 40)
    reader.receive_data(HEAD + raw)
    reader.next_event()
    read = b""
    try:
        while isinstance(event := reader.next_event(), h11.Data):
            read += event.data
    except h11.RemoteProtocolError as error:
        if not (ONLY_H11.search(raw) or IN_TRAILERS.search(raw)):
            raise AssertionError("h11 refuses what was taken") from error
        return
    assert isinstance(event, h11.EndOfMessage), event
    assert (read, reader.trailing_data[0]) == (body, behind)
    kept = [value for one in trailers if isinstance(one, Trailers) for _, value in one.headers]
    assert set(kept) <= {value for _, value in event.headers.raw_items()}


def _written_again(raw: bytes, behind: bytes) -> None:
    """A body in whatever pieces, written by us, is the same body."""
    events, _, _ = decoded([raw[: len(raw) - len(behind)]])
    encoder = BodyEncoder(Framing.CHUNKED)
    trailers = next((one.headers for one in events if isinstance(one, Trailers)), ())
    written = b"".join(encoder.data(one) for one in events if isinstance(one, Data)) + encoder.end(trailers)
    assert encoder.complete
    assert decoded([written]) == (events, b"", "")


TARGETS = {
    "chunked": Target(
        "chunked bodies",
        "the same whatever the cut, as h11 reads it, and written again it is read the same",
        run,
        lambda: [
            b"\1\0\5" + one
            for one in (
                b"5\r\nhello\r\n0\r\n\r\n",
                b"5\r\nhello\r\n1\r\nx\r\n0\r\nA: b\r\nHost: c\r\n\r\nrest",
                b"a;x=y\r\n0123456789\r\n00\r\n\r\n",
                b"A ;x\r\n0123456789\r\n0\r\nA:\r\n\r\n",
                b"7fffffffffffffff\r\nhe",
                b"5\r\nhel",
            )
        ],
        TOKENS,
    )
}
