"""Where a body may be continued: what closes the record before, and how many there then are."""

import pytest

from chaosproxy.framing.seam import Seam
from chaosproxy.framing.sse import parse

ERROR = b"event: error\ndata: {}\n\n"


def continued(kind, *pieces, record):
    seam = Seam(kind)
    for piece in pieces:
        seam.feed(piece)
    return seam.joined(record)


CLOSED = {
    "nothing yet": (b"", b""),
    "behind an event": (b"data: 1\n\n", b""),
    "behind an event of CRLF": (b"data: 1\r\n\r\n", b""),
    "behind a comment": (b": ping\n\n", b""),
    "behind a mixed blank line": (b"data: 1\n\r\n", b""),
    "behind a line": (b"data: 1\n", b"\n"),
    "behind a line of CRLF": (b"data: 1\r\n", b"\n"),
    "inside a line": (b"data: 1\n\nda", b"\n\n"),
    "between CR and LF of a line": (b"data: 1\r", b"\n\n"),
    "between CR and LF of a blank line": (b"data: 1\r\n\r", b"\n"),
    "behind an event of CR": (b"data: 1\r\r", b"\n"),
}


@pytest.mark.parametrize(("body", "closing"), CLOSED.values(), ids=CLOSED)
@pytest.mark.parametrize("size", [1, 3, 100])
def test_an_event_stands_by_itself_behind_anything(body, closing, size):
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    joined = continued("sse", *pieces, record=ERROR)
    assert joined.payload == closing + ERROR
    assert joined.ends[-1] == len(joined.payload)
    start = joined.ends[-2] if len(joined.ends) > 1 else 0
    assert parse(joined.payload[start:]).event == b"error"


def test_an_event_that_was_left_unfinished_counts_as_it_stands():
    seam = Seam("sse")
    seam.feed(b"data: 1\n\ndata: 2")
    assert seam.records == 1
    assert seam.joined(ERROR).ends == (2, 2 + len(ERROR))


def test_another_behind_it_needs_nothing():
    seam = Seam("sse")
    seam.feed(b"data: 1")
    seam.joined(ERROR)
    assert (seam.records, seam.joined(ERROR).payload) == (2, ERROR)


def test_what_held_no_data_does_not_count():
    assert continued("sse", b": pi", record=ERROR).ends == (2 + len(ERROR),)


@pytest.mark.parametrize(
    ("body", "closing"), [(b"", b""), (b"{}\n", b""), (b"{}\r\n", b""), (b"{}\n{", b"\n"), (b"{}", b"\n")]
)
def test_a_line_stands_by_itself(body, closing):
    joined = continued("lines", body, record=b"{}\n")
    assert joined.payload == closing + b"{}\n"
    assert joined.ends == ((1, 4) if closing else (3,))


@pytest.mark.parametrize(
    ("kind", "body", "between"),
    [
        ("sse", b"", True),
        ("sse", b"data: 1\n\n", True),
        ("sse", b"data: 1\n", False),
        ("sse", b"data", False),
        ("lines", b"1\n", True),
        ("lines", b"1", False),
        ("grpc", b"\0\0\0\0\1x", True),
        ("grpc", b"\0\0\0\0\2x", False),
        ("grpc", b"\0\0\0\0\1x\0", False),
    ],
)
def test_it_knows_whether_something_has_begun_that_has_not_ended(kind, body, between):
    seam = Seam(kind)
    seam.feed(body)
    assert seam.between is between
