"""Records of event streams: counts and contents against httpx-sse and against an independent reading of the standard."""

import itertools

import httpx_sse._decoders as independent
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosproxy.framing.sse import SseEvent, SseSplitter, parse

PIECES = [
    b"data: x",
    b"data:",
    b"data",
    b"datax: y",
    b"data x",
    b"dat",
    b"a",
    b"Data: x",
    b" data: x",
    b"event: ping",
    b"id: 1",
    b"id: a\0b",
    b"retry: 10",
    b": comment",
    b":",
    b"\xef\xbb\xbf",
    b"\xef\xbb",
    b"\xbfdata: z",
    b"\n",
    b"\n",
    b"\n\n",
    b"\r",
    b"\r\n",
    b"\r\n\r\n",
    b"\r\r",
    b"\xff\xfe",
    b"data: \xe2\x82\xac",
]
streams = st.lists(st.sampled_from(PIECES), max_size=24).map(b"".join) | st.binary(max_size=60)


@st.composite
def cut_streams(draw):
    """A stream and the same stream in payloads."""
    stream = draw(streams)
    cuts = sorted(draw(st.sets(st.integers(1, max(1, len(stream) - 1)), max_size=8)))
    places = [0, *[cut for cut in cuts if cut < len(stream)], len(stream)]
    return stream, [stream[a:b] for a, b in itertools.pairwise(places) if a < b]


def bytewise(stream):
    return [stream[at : at + 1] for at in range(len(stream))]


def ends_of(payloads):
    """Absolute ends, and whether the end of the body completes one more."""
    splitter = SseSplitter()
    ends, offset = [], 0
    for payload in payloads:
        found = splitter.feed(payload)
        assert all(0 < end <= len(payload) for end in found)
        ends += [offset + end for end in found]
        offset += len(payload)
    return ends, splitter.pending


def count(payloads):
    ends, pending = ends_of(payloads)
    return len(ends) + pending


def raws(stream, ends):
    return [stream[a:b] for a, b in zip([0, *ends], ends, strict=False)]


def standard_blocks(stream):
    """The standard's algorithm, told again without any code of ours: (event, data) of each block that has data."""
    text = stream.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    found, event, data = [], b"", []
    for line in text.split(b"\n")[:-1]:
        if not line:
            if data:
                found.append((event, b"\n".join(data)))
            event, data = b"", []
            continue
        name, _, value = line.partition(b":")
        value = value[1:] if value[:1] == b" " else value
        if name == b"data":
            data.append(value)
        elif name == b"event":
            event = value
    return found


@given(cut_streams())
def test_the_count_is_the_standards_for_any_chunking(case):
    stream, payloads = case
    expected = len(standard_blocks(stream))
    assert count([stream] if stream else []) == expected
    assert count(payloads) == expected
    assert count(bytewise(stream)) == expected


@given(cut_streams())
def test_records_read_as_the_standard_reads_them(case):
    stream, payloads = case
    ends, pending = ends_of(payloads)
    texts = raws(stream, [*ends, len(stream)] if pending else ends)
    assert b"".join(texts) == stream[: len(b"".join(texts))]
    expected = standard_blocks(stream)
    for text, (event, data) in zip(texts, expected, strict=True):
        if b"\r\n" in stream and b"\r" in stream.replace(b"\r\n", b""):
            continue  # CRLF and lone CR in one stream: an end may be one byte late, only the count is promised
        if b"\xef\xbb\xbf" in stream[1:]:
            continue  # a byte order mark within the stream is part of a field's name; a record alone cannot tell
        seen = parse(text)
        assert (seen.event, seen.data) == (event, data)


@given(st.lists(st.sampled_from([b"data: x", b"event: y", b": c", b"data", b""]), max_size=20), st.data())
def test_a_crlf_stream_is_never_split_between_cr_and_lf(lines, data):
    stream = b"".join(line + b"\r\n" for line in lines)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(stream)), max_size=10)))
    places = [0, *cuts, len(stream)]
    ends, pending = ends_of([stream[a:b] for a, b in itertools.pairwise(places) if a < b])
    assert not pending
    assert ends == ends_of([stream] if stream else [])[0] == ends_of(bytewise(stream))[0]
    assert all(stream[:end].endswith(b"\r\n\r\n") for end in ends)


@given(cut_streams())
def test_memory_does_not_grow_with_the_stream(case):
    splitter = SseSplitter()
    for payload in case[1]:
        splitter.feed(payload)
        kept = [getattr(splitter, name) for name in splitter.__slots__]
        assert all(isinstance(value, bool) or len(value) <= 8 for value in kept)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["", "ping", "message_stop"]),
            st.lists(
                st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"])), min_size=1, max_size=3
            ),
        ),
        max_size=6,
    ),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_httpx_sse_sees_the_same_events(events, line_end):
    text = "".join(
        (f"event: {name}{line_end}" if name else "") + "".join(f"data: {line}{line_end}" for line in lines) + line_end
        for name, lines in events
    )
    lines = independent.SSELineDecoder()
    decoder = independent.SSEDecoder()
    theirs = [
        (event.event, event.data)
        for line in (lines.decode(text) + lines.flush() if text else [])
        if (event := decoder.decode(line)) is not None
    ]
    stream = text.encode()
    ends, pending = ends_of([stream] if stream else [])
    assert not pending
    ours = [parse(raw) for raw in raws(stream, ends)]
    assert [(event.event.decode() or "message", (event.data or b"").decode()) for event in ours] == theirs


@pytest.mark.parametrize(
    ("stream", "ends"),
    [
        (b"data: a\n\n", [9]),
        (b"data: a\r\n\r\n", [11]),
        (b"data: a\r\r", [9]),
        (b"data: a\n\r\n", [10]),
        (b"data: a\r\n\n", [10]),
        (b"data: a\r\n\rdata: b\n\n", [10, 19]),
        (b"data: a\r\rdata: b\n\n", [9, 18]),
        (b"\xef\xbb\xbfdata: a\n\n", [12]),
        (b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n", []),
        (b"data\n\n", [6]),
        (b"data:\n\n", [7]),
        (b"data: [DONE]\n\n", [14]),
        (b": comment\n\n", []),
        (b"event: x\n\n", []),
        (b"id: 1\nretry: 5\n\n", []),
        (b"event: x\ndata: a\n\n", [18]),
        (b"data: a\nid: 1\n\n", [15]),
        (b"data: a\n: c\ndata: b\n\n", [21]),
        (b"\n\n\ndata: a\n\n\n\n", [12]),
        (b"data: a\n\ndata: b\n\n: c\n\ndata: c\n\n", [9, 18, 32]),
        (b"database: a\n\n", []),
        (b"event: x\ndatabase: a\n\n", []),
        (b"event: x\r\ndatabase: a\r\n\r\n", []),
        (b"DATA: a\n\n", []),
        (b" data: a\n\n", []),
        (b"data : a\n\n", []),
        (b"data: a\n", []),
        (b"data: a", []),
        (b"data: a\x0b\x0c\xc2\x85\xe2\x80\xa8\n\n", [16]),
        (b"data: a\0b\n\n", [11]),
    ],
)
def test_where_records_end(stream, ends):
    assert ends_of([stream]) == (ends, False)
    for at in range(1, len(stream)):
        assert count([stream[:at], stream[at:]]) == len(ends)
    settled = SseSplitter()  # past its first line, where the fast paths begin
    settled.feed(b": begin\n")
    if b"\xef" not in stream:
        assert list(settled.feed(stream)) == ends


def test_a_late_line_feed_leads_the_next_record():
    splitter = SseSplitter()
    assert splitter.feed(b"data: a\rdata: b\r\r") == (17,)
    assert splitter.feed(b"\ndata: c\r\r") == (10,)
    assert parse(b"\ndata: c\r\r").data == b"c"


def test_a_crlf_stream_waits_for_its_line_feed_and_says_so():
    splitter = SseSplitter()
    assert splitter.feed(b"data: a\r\n\r") == ()
    assert splitter.pending
    assert splitter.feed(b"\n") == (1,)
    assert not splitter.pending


def test_a_stream_that_gives_up_crlf_loses_no_record():
    splitter = SseSplitter()
    assert splitter.feed(b"data: a\r\n\r") == ()
    assert splitter.feed(b"data: b\r\r") == (1, 9)


@pytest.mark.parametrize(
    "payloads",
    [
        [(b"data: a\n", ()), (b"\ndata: b\n\n", (1, 10)), (b"\n", ())],
        [(b"data: a\n", ()), (b"data: b\n\n", (9,)), (b"\n", ()), (b"event: x\ndata: a\n\n", (18,)), (b"\n", ())],
        [(b"data: a\n", ()), (b": c\n", ()), (b"\n", (1,))],
        [(b"data: a\r", ()), (b"\ndata: b\n\n", (10,))],
        [(b"data: a\r", ()), (b"\r", (1,)), (b"\n", ())],
        [(b"data: a\n\r", (9,)), (b"\n", ()), (b"\n", ())],
        [(b"data: a\nd", ()), (b"ata: b\n\n", (8,)), (b"data: a\n:", ()), (b"\n\n", (2,))],
        [(b"data: a\n", ()), (b"\rx\ndata: a\r\n\r\n", (1, 14))],
        [(b"data: a\r\n\rx", (10,)), (b"data: a\n\n", ())],
        [(b"data: a\r\nx\r", ()), (b"\r", (1,))],
        [(b"data: a\r\n\r\n", (11,)), (b"event: x\r\ndata: a\r\n\r\n", (21,)), (b"\r\n", ()), (b"data: b\n\n", (9,))],
        [(b"data: a\r\n", ()), (b"\r\ndata: b\r\n\r\n", (2, 13))],
        [(b"data: a\n", ()), (b"\r\ndata: b\r\n\r\n", (2, 13))],
        [(b"data: a\r\n", ()), (b"data: b\r\n\r\n", (11,)), (b"\r\n", ())],
        [(b"data: a\r\rdata: b\r\n\r\n", (9, 20)), (b": c\rdata: d\r\n\r\n", (15,))],
        [(b": c\r\rdata: a\ndata: b\r\n\r\n", (24,)), (b"data: c\ndata: d\r\n\r\n", (19,))],
        [(b"data: a\r\r: c\r\ndata: b\r\n\r\n", (9, 25)), (b"\r\n", ())],
        [(b"data: a\r\rdata\ndata: b\r\n\r\n", (9, 25)), (b"\r\n", ())],
        [(b"data: a\n\r\n", (10,)), (b"data: a\r\n\n", (10,)), (b"data: a\r\r\n", (10,))],
    ],
)
@pytest.mark.parametrize("before", [b"", b": begin\n", b": begin\n\n", b": begin\r\n\n"])
def test_payload_after_payload(before, payloads):
    splitter = SseSplitter()
    splitter.feed(before)
    assert [splitter.feed(payload) for payload, _ in payloads] == [ends for _, ends in payloads]


@pytest.mark.parametrize("other", [b"data: a\n\n", b"data: a\n\ndata: a\n\n", b": c\n", b"\r: c\r\n"])
def test_one_other_line_end_is_enough_not_to_wait_any_more(other):
    splitter = SseSplitter()
    splitter.feed(b": begin\r\n")
    splitter.feed(other)
    assert splitter.feed(b"data: b\r\n\r") == (10,)
    assert not splitter.pending


payload_lists = st.lists(
    st.lists(st.sampled_from(PIECES) | st.just(b"\n"), min_size=1, max_size=5).map(b"".join), max_size=8
)


@given(st.sampled_from([b": begin\n", b": begin\r\n", b": begin\n\n"]), payload_lists)
def test_the_count_is_the_standards_in_the_middle_of_a_stream(before, payloads):
    assert count([before, *payloads]) == len(standard_blocks(before + b"".join(payloads)))


def test_an_empty_payload_changes_nothing():
    splitter = SseSplitter()
    assert splitter.feed(b"") == ()
    splitter.feed(b"data: a\r\n\r")
    assert splitter.feed(b"") == ()
    assert splitter.feed(b"\n") == (1,)
    splitter.feed(b"data: b\n\n")
    assert splitter.feed(b"") == ()
    assert splitter.feed(b"data: c\n\n") == (9,)


def test_a_field_name_cut_anywhere_is_still_found():
    for at in range(1, 7):
        settled = SseSplitter()
        settled.feed(b": begin\n\n")
        assert settled.feed(b"data: a"[:at]) == ()
        assert settled.feed(b"data: a"[at:] + b"\n\n") == (7 - at + 2,)


def test_every_block_counts_where_asked_for():
    splitter = SseSplitter(every_block=True)
    assert splitter.feed(b"\xef\xbb\xbf\n: c\n\nid: 1\n\n\ndata: a\r\n\r") == (4, 9, 16, 17, 27)
    assert not splitter.pending
    assert splitter.feed(b"\ndata: b\n\n") == (10,)


@pytest.mark.parametrize(
    ("raw", "event"),
    [
        (b"data: a\n\n", SseEvent(data=b"a")),
        (b"data:  a \n\n", SseEvent(data=b" a ")),
        (b"data:a\ndata\ndata: b\n\n", SseEvent(data=b"a\n\nb")),
        (b"data\n\n", SseEvent(data=b"")),
        (b"event: x\ndata: a\n\n", SseEvent(b"x", b"a")),
        (b"event: x\nevent: y\ndata: a\n\n", SseEvent(b"y", b"a")),
        (b"event: x\n\ndata: a\n\n", SseEvent(b"", b"a")),
        (b"event: ping\n\n", SseEvent(b"ping")),
        (b"id: 7\nretry: 250\ndata: a\n\n", SseEvent(b"", b"a", b"7", 250)),
        (b"id: 7\n\ndata: a\n\n", SseEvent(b"", b"a", b"7")),
        (b"id\ndata: a\n\n", SseEvent(b"", b"a", b"")),
        (b"id: a\0b\ndata: a\n\n", SseEvent(b"", b"a")),
        (b"retry: 1x\nretry: -1\nretry: \nretry: 1111111111111111\ndata: a\n\n", SseEvent(b"", b"a")),
        (b": hello\n:there\n:\n\n", SseEvent(comments=(b"hello", b"there", b""))),
        (b": c\n\ndata: a\n\n", SseEvent(data=b"a", comments=(b"c",))),
        (b"\xef\xbb\xbfdata: a\r\n\r\n", SseEvent(data=b"a")),
        (b"unknown: 1\nalso\ndata: a\r\r", SseEvent(data=b"a")),
        (b"data: a", SseEvent(data=b"a")),
        (b"data: a\n\ndata: b\n\n", SseEvent(data=b"a")),
        (b"", SseEvent()),
    ],
)
def test_what_a_record_says(raw, event):
    assert parse(raw) == event
