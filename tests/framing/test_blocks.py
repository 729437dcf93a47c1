"""Whole units of traffic from pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosproxy.framing.blocks import LIMIT, Blocks

PIECES = [b"data: x", b"\n", b"\n\n", b"\r\n", b"\r", b": c", b"\0\0\0\0\1a", b"\x80\0\0\0\0", b"{}", b" "]


def read(blocks, *payloads):
    """The units that end in them; None for one that was given up. A CR at the end of a payload ends its unit only once
    what follows is known to be no LF: at its beginning."""
    units = []
    before = b""
    for payload in payloads:
        found = blocks.feed(payload)
        first = 0 if before.endswith(b"\r") else 1
        assert [end for end, _ in found] == sorted({end for end, _ in found if first <= end <= len(payload)})
        units += [unit for _, unit in found]
        before = payload or before
    return units


@given(
    st.sampled_from(["sse", "lines", "grpc", "chunks"]),
    st.lists(st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map(b"".join), max_size=8),
)
def test_nothing_is_lost(kind, payloads):
    blocks = Blocks(kind)
    units = read(blocks, *payloads)
    assert b"".join(units) + blocks.unfinished == b"".join(payloads)
    assert blocks.held == len(blocks.unfinished)
    assert not blocks.too_long
    again = Blocks(kind)
    whole = read(again, b"".join(payloads))
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
    assert read(blocks, *payloads) == units
    assert blocks.unfinished == unfinished


def test_a_unit_that_is_too_long_is_passed_over_and_stands_as_none():
    blocks = Blocks("lines", limit=4)
    assert read(blocks, b"1234") == []
    assert (blocks.unfinished, blocks.too_long) == (b"1234", False)
    assert read(blocks, b"5") == []
    assert (blocks.unfinished, blocks.too_long) == (b"", True)
    assert read(blocks, b"6\n78\n") == [None, b"78\n"]
    assert read(blocks, b"12345\n") == [None]
    assert read(blocks, b"9\n") == [b"9\n"]


def test_one_mebibyte_is_held_and_no_more():
    blocks = Blocks("sse")
    for _ in range(16):
        assert blocks.feed(b"x" * 65536) == []
    assert len(blocks.unfinished) == LIMIT == 2**20
    blocks.feed(b"x")
    assert (blocks.held, blocks.unfinished, blocks.too_long) == (0, b"", True)


def test_it_says_that_the_unit_at_hand_is_given_up_until_it_ends():
    blocks = Blocks("lines", limit=4)
    told = [blocks.giving_up for piece in (b"abc", b"de", b"f", b"\ng") if blocks.feed(piece) is not None]
    assert told == [False, True, True, False]


@pytest.mark.parametrize(
    ("kind", "body", "last"),
    [("lines", b"1\n2", b"2"), ("lines", b"1\n", b""), ("lines", b"1\n ", b""), ("sse", b"data: 1\n", b"")],
)
def test_only_a_line_is_completed_by_the_end_of_the_body(kind, body, last):
    blocks = Blocks(kind)
    blocks.feed(body)
    assert blocks.last == last


def test_a_line_that_is_given_up_is_not_completed():
    blocks = Blocks("lines", limit=4)
    blocks.feed(b"12345")
    assert blocks.last == b""
