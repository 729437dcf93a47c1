"""Whole units of traffic from pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosproxy.framing.blocks import LIMIT, Blocks

PIECES = [b"data: x", b"\n", b"\n\n", b"\r\n", b"\r", b": c", b"\0\0\0\0\1a", b"\x80\0\0\0\0", b"{}", b" "]


@given(
    st.sampled_from(["sse", "lines", "grpc", "chunks"]),
    st.lists(st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map(b"".join), max_size=8),
)
def test_nothing_is_lost(kind, payloads):
    blocks = Blocks(kind)
    units = [unit for payload in payloads for unit in blocks.feed(payload)]
    assert b"".join(units) + blocks.unfinished == b"".join(payloads)
    assert blocks.too_long == 0
    again = Blocks(kind)
    whole = again.feed(b"".join(payloads))
    if kind != "chunks":
        assert len(whole) == len(units)
    if kind in {"lines", "grpc"}:
        assert whole == units


@pytest.mark.parametrize(
    ("kind", "payloads", "units", "unfinished"),
    [
        ("sse", [b": a\n", b"\ndata: x\n\nda", b"ta: y\n\n"], [b": a\n\n", b"data: x\n\n", b"data: y\n\n"], b""),
        ("sse", [b"data: x\r\r", b"\ndata: y"], [b"data: x\r\r"], b"\ndata: y"),
        ("sse", [b"\n", b"\n"], [b"\n", b"\n"], b""),
        ("lines", [b"1\n\n", b"2"], [b"1\n", b"\n"], b"2"),
        ("grpc", [b"\0\0\0\0\1a\x80\0\0", b"\0\0\0"], [b"\0\0\0\0\1a", b"\x80\0\0\0\0"], b"\0"),
        ("chunks", [b"a", b"b"], [b"a", b"b"], b""),
    ],
)
def test_units(kind, payloads, units, unfinished):
    blocks = Blocks(kind)
    assert [unit for payload in payloads for unit in blocks.feed(payload)] == units
    assert blocks.unfinished == unfinished


def test_a_unit_that_is_too_long_is_passed_over_and_counted():
    blocks = Blocks("lines", limit=4)
    assert blocks.feed(b"1234") == []
    assert (blocks.unfinished, blocks.too_long) == (b"1234", 0)
    assert blocks.feed(b"5") == []
    assert (blocks.unfinished, blocks.too_long) == (b"", 1)
    assert blocks.feed(b"6\n78\n") == [b"78\n"]
    assert blocks.feed(b"12345\n") == []
    assert blocks.too_long == 2
    assert blocks.feed(b"9\n") == [b"9\n"]


def test_one_mebibyte_is_held_and_no_more():
    blocks = Blocks("sse")
    for _ in range(16):
        assert blocks.feed(b"x" * 65536) == []
    assert len(blocks.unfinished) == LIMIT == 2**20
    blocks.feed(b"x")
    assert (blocks.unfinished, blocks.too_long) == (b"", 1)


def test_it_says_that_the_unit_at_hand_is_given_up_until_it_ends():
    blocks = Blocks("lines", limit=4)
    told = [blocks.giving_up for piece in (b"abc", b"de", b"f", b"\ng") if blocks.feed(piece) is not None]
    assert told == [False, True, True, False]
