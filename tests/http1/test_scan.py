"""Chunks found without being made: what is taken so is what the ordinary way would have brought, the rest is untouched."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaosproxy.http1.chunked import ChunkedDecoder, whole_chunk

headers = st.sampled_from([b"%x", b"%x", b"%x", b"0%x", b"%X", b"%x;a=b"])
chunks = st.lists(st.tuples(headers, st.binary(min_size=1, max_size=40)), max_size=6)


@settings(max_examples=300)
@given(chunks, st.sets(st.integers(1, 200), max_size=8), st.booleans(), st.booleans())
def test_both_ways_bring_the_same(chunks, places, at_chunks, parts):
    encoded = [b"%b\r\n%b\r\n" % (header % len(chunk), chunk) for header, chunk in chunks]
    last = b"0\r\n\r\nrest"
    wire = b"".join([*encoded, last])
    edges = [0, *sorted(place for place in places if place < len(wire)), len(wire)]
    reads = [*encoded, last] if at_chunks else [wire[a:b] for a, b in pairwise(edges)]
    scanned, plain = ChunkedDecoder(), ChunkedDecoder()
    found, brought, behind = b"", [], None
    for read in reads:
        expected = plain.feed(read, brought)
        ranges = scanned.scan(read, parts=parts) if scanned.open_chunk is not None else None
        if ranges is not None:
            found += b"".join(read[a:b] for a, b in ranges)
        else:
            events = []
            behind = scanned.feed(read, events)
            found += b"".join(event.payload for event in events)
        assert found == b"".join(event.payload for event in brought)
        assert (scanned.open_chunk, behind) == (plain.open_chunk, expected)
        if expected is not None:
            break
    assert found == b"".join(chunk for _, chunk in chunks)


@pytest.mark.parametrize(
    ("read", "ranges", "in_part"),
    [
        (b"5\r\nhello\r\n", [(3, 8)], [(3, 8)]),
        (b"5\r\nhello\r\n1\r\n\n\r\n", [(3, 8), (13, 14)], [(3, 8), (13, 14)]),
        (b"a\r\n0123456789\r\n", [(3, 13)], [(3, 13)]),
        (b"5\r\nhel", None, [(3, 6)]),
        (b"1\r\na\r\n5\r\nh", None, [(3, 4), (9, 10)]),
        (b"5\r\nhello", None, None),
        (b"5\r\nhello\r", None, None),
        (b"5\r\n", None, None),
        (b"5\r", None, None),
        (b"5", None, None),
        (b"5\r\nhello\n\r", None, None),
        (b"5\r\nhelloxx", None, None),
        (b"05\r\nhello\r\n", None, None),
        (b"A\r\n0123456789\r\n", None, None),
        (b"5;a\r\nhello\r\n", None, None),
        (b"5 \r\nhello\r\n", None, None),
        (b"x\r\nhello\r\n", None, None),
        (b"\r\nhello\r\n", None, None),
        (b"0\r\n\r\n", None, None),
        (b"1\r\na\r\n0\r\n\r\n", None, None),
    ],
)
def test_what_is_nothing_but_chunks(read, ranges, in_part):
    assert whole_chunk(read) == (ranges[0][0] if ranges is not None and len(ranges) == 1 else 0)
    for parts, expected in ((False, ranges), (True, in_part)):
        coder = ChunkedDecoder()
        assert coder.scan(read, parts=parts) == expected
        if expected is None:
            assert coder.open_chunk == 0


def test_an_open_chunk_goes_on():
    coder = ChunkedDecoder()
    coder.feed(b"a\r\n123", [])
    assert coder.open_chunk == 7
    assert coder.scan(b"45", parts=False) == [(0, 2)]
    assert coder.open_chunk == 5
    assert coder.scan(b"67890", parts=True) is None
    assert coder.scan(b"67890X\n", parts=True) is None
    assert coder.open_chunk == 5
    assert coder.scan(b"67890\r\n1\r\nx\r\n", parts=False) == [(0, 5), (10, 11)]
    assert coder.open_chunk == 0


@pytest.mark.parametrize("before", [b"5\r\nhello", b"5\r\nhello\r", b"5", b"5\r\n", b"0\r\n", b"0\r\na: b\r\n"])
def test_elsewhere_there_is_no_scanning(before):
    coder = ChunkedDecoder()
    coder.feed(before, [])
    assert coder.open_chunk is None
