"""Records of NDJSON bodies."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosproxy.framing.lines import LineSplitter, content

bodies = st.lists(
    st.sampled_from([b'{"a":1}', b"x", b"\n", b"\n", b"\r\n", b" ", b"\t", b"\r", b"\x0b", b"\0"]), max_size=20
).map(b"".join)


def ends_of(payloads):
    splitter, ends, offset = LineSplitter(), [], 0
    for payload in payloads:
        ends += [offset + end for end in splitter.feed(payload)]
        offset += len(payload)
    return ends, splitter.pending


@given(bodies, st.sets(st.integers(0, 60), max_size=8))
def test_ends_are_the_same_for_any_chunking(body, cuts):
    places = [0, *sorted(cut for cut in cuts if cut < len(body)), len(body)]
    payloads = [body[a:b] for a, b in itertools.pairwise(places)]
    lines = body.split(b"\n")
    expected, offset = [], 0
    for line in lines[:-1]:
        offset += len(line) + 1
        if line.strip(b" \t\r"):
            expected.append(offset)
    whole = (expected, bool(lines[-1].strip(b" \t\r")))
    assert ends_of(payloads) == whole
    assert ends_of([body]) == whole
    assert ends_of([body[at : at + 1] for at in range(len(body))]) == whole


@given(bodies)
def test_each_record_reads_as_its_line(body):
    ends, pending = ends_of([body])
    places = [*ends, len(body)] if pending else ends
    seen = [content(body[a:b]) for a, b in zip([0, *places], places, strict=False)]
    assert seen == [line.rstrip(b" \t\r") for line in body.split(b"\n") if line.strip(b" \t\r")]


@pytest.mark.parametrize(
    ("body", "ends", "pending"),
    [
        (b'{"a":1}\n', (8,), False),
        (b'{"a":1}\r\n', (9,), False),
        (b'{"a":1}', (), True),
        (b"\n\r\n \t\n", (), False),
        (b"1\n\n2\n3", (2, 5), True),
        (b" 1\n", (3,), False),
        (b"", (), False),
        (b"   ", (), False),
    ],
)
def test_where_lines_end(body, ends, pending):
    splitter = LineSplitter()
    assert splitter.feed(body) == ends
    assert splitter.pending is pending


def test_a_long_line_in_pieces_is_one_record():
    splitter = LineSplitter()
    assert [splitter.feed(piece) for piece in (b"[1", b",2", b"  ", b"]\n")] == [(), (), (), (2,)]


def test_a_line_that_was_begun_before_is_over_with_its_line_feed():
    splitter = LineSplitter()
    assert [splitter.feed(piece) for piece in (b"1", b"2\n", b"\n", b" \n")] == [(), (2,), (), ()]
    assert not splitter.pending


def test_every_line_counts_where_asked_for():
    assert LineSplitter(every_line=True).feed(b"\n1\n \n\r\n2") == (1, 3, 5, 7)


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        (b"1\n", b"1"),
        (b"1\r\n", b"1"),
        (b"\n\n1\n", b"1"),
        (b"\r\n 1 \n", b" 1"),
        (b"\n", None),
        (b"", None),
        (b"1", b"1"),
    ],
)
def test_what_a_record_says(raw, line):
    assert content(raw) == line
