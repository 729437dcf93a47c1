"""Chunks that are looked at without being taken apart are those that the decoder would have made of them."""

from hypothesis import given, settings
from hypothesis import strategies as st

from chaosproxy.http1.chunked import ChunkedDecoder, whole_chunk
from chaosproxy.http1.lines import Malformed
from chaosproxy.model.messages import Data, Event

chunk = st.binary(min_size=1, max_size=40).map(lambda payload: b"%x\r\n%b\r\n" % (len(payload), payload))
other = st.sampled_from([
    b"A\r\n0123456789\r\n", b"0a\r\n0123456789\r\n", b"a;x=1\r\n0123456789\r\n", b"a \r\n0123456789\r\n", b"0\r\n\r\n",
    b"0\r\nX: y\r\n\r\n", b"\r\n", b"\r", b"12", b"a\n0123456789\n", b"+5\r\nabcde\r\n", b"1_0\r\n0123456789abcdef\r\n",
])  # fmt: skip


def pieces(events: list[Event]) -> list[bytes]:
    return [event.payload for event in events if isinstance(event, Data)]


@settings(max_examples=400)
@given(
    parts=st.lists(st.one_of(chunk, chunk, chunk, other), min_size=1, max_size=6),
    cuts=st.lists(st.integers(1, 60), max_size=10),
    whole=st.booleans(),
)
def test_what_is_scanned_is_what_would_have_been_decoded(parts, cuts, whole):
    looked, decoded = ChunkedDecoder(), ChunkedDecoder()
    rest = b"".join(parts)
    reads = []
    for cut in cuts:
        reads.append(rest[:cut])
        rest = rest[cut:]
    for read in filter(None, [*reads, rest]):
        want: list[Event] = []
        behind: bytes | None = None
        failed = False
        try:
            behind = decoded.feed(read, want)
        except Malformed:
            failed = True
        ranges = (
            looked.scan(read, parts=not whole)
            if looked.open_chunk is not None and not (whole and looked.open_chunk)
            else None
        )
        if ranges is None:
            try:
                looked.feed(read, [])
            except Malformed:
                assert failed
        else:
            assert not failed
            assert [read[start:stop] for start, stop in ranges] == pieces(want)
            assert looked.open_chunk == decoded.open_chunk
            if whole:
                assert not looked.open_chunk
        if behind is not None or failed:
            return


@given(parts=st.lists(st.one_of(chunk, other), min_size=1, max_size=2), cut=st.integers(0, 20))
def test_one_chunk_is_told_from_everything_else(parts, cut):
    data = b"".join(parts)[cut:] or b"x"
    start = whole_chunk(data)
    ranges = ChunkedDecoder().scan(data, parts=False)
    assert start == (ranges[0][0] if ranges is not None and len(ranges) == 1 else 0)


def test_most_reads_are_scanned():
    """Else the tests above hold for nothing."""
    decoder = ChunkedDecoder()
    assert decoder.scan(b"3\r\nabc\r\n10\r\n0123456789abcdef\r\n", parts=False) == [(3, 6), (12, 28)]
    assert decoder.scan(b"3\r\nabc\r\n10\r\n01234", parts=True) == [(3, 6), (12, 17)]
    assert decoder.scan(b"56789abcde", parts=True) == [(0, 10)]
    assert decoder.scan(b"f\r\n1\r\nx\r\n", parts=True) == [(0, 1), (6, 7)]
    assert whole_chunk(b"3\r\nabc\r\n") == 3
