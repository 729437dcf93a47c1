"""What one read brings is handled so many lines at a time, and cut where an event or its chunk ends."""

import pytest

from chaosproxy.proxy.slices import LINES, beginning


def cut(data: bytes) -> list[bytes]:
    parts = []
    while data:
        end = beginning(data)
        assert end > 0
        parts.append(data[:end])
        data = data[end:]
    return parts


@pytest.mark.parametrize("data", [b"x", b"x" * 100_000, b"a\n" * (LINES - 1), b"data: " + b"y" * 5000 + b"\n\n"])
def test_few_lines_are_one_slice(data):
    assert cut(data) == [data]


@pytest.mark.parametrize("line", [b"a\n", b"\n", b"\r", b"data:1\r", b"data:1\n\n", b"1\r\nx\r\n"])
def test_no_slice_has_more_lines(line):
    data = line * 20 * LINES
    parts = cut(data)
    assert b"".join(parts) == data
    assert max(max(part.count(b"\n"), part.count(b"\r")) for part in parts) <= LINES
    assert len(parts) < 5 * data.count(line[-1:]) / LINES  # nor are there many more than that takes


@pytest.mark.parametrize(
    ("event", "before"),
    [
        (b"data:1\n\n", b""),
        (b"data:1\n\n", b"data:1\n"),
        (b"8\r\ndata:1\n\n\r\n", b""),
        (b"c\r\nd: 1\nd: 23\n\n\r\n", b"1\n"),
    ],
)
def test_events_and_their_chunks_stay_whole(event, before):
    *parts, last = cut(before + event * 8 * LINES)
    assert len(parts) > 10
    assert all(part.endswith(event) for part in parts)
    assert last.endswith(event)
