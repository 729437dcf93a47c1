"""Legal bodies that parsers stumble over: what is on the wire, and who reads them right."""

import codecs
import json

import pytest

from chaosproxy.testing.peers import Pause
from tests.incidents.readers import events, finds_last_chunk_in_one_read, text_of
from tests.virtual.shipped import LAST, SSE, chunk, told, unchunked

NDJSON = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
LINES = [b'{"message":{"content":"%d"},"done":false}\n' % number for number in range(10)]
ROCKETS = [b"data: go \xf0\x9f\x9a\x80 %d\n\n" % number for number in range(3)]


def reads(seen) -> list[bytes]:
    """What each read brought of the body."""
    return [unchunked(data) for _, data in seen.pieces[1:] if data != LAST]


async def test_a_character_in_two_reads(autojump_clock):
    seen = await told("split-characters", [SSE, *map(chunk, ROCKETS), LAST])
    assert seen.payload == b"".join(ROCKETS)
    assert reads(seen)[0].endswith(b"\xf0\x9f")
    assert (seen.pieces[2][0] - seen.pieces[1][0], reads(seen)[1][:2]) == (0.05, b"\x9a\x80")
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    assert "".join(map(decoder.decode, reads(seen))).count("🚀") == 3
    assert "".join(read.decode(errors="replace") for read in reads(seen)).count("🚀") == 0


async def test_five_records_in_one_read(autojump_clock):
    seen = await told(
        "many-records-a-read", [NDJSON, *[step for line in LINES for step in (chunk(line), Pause(1))], LAST]
    )
    assert reads(seen) == [b"".join(LINES[:5]), b"".join(LINES[5:])]

    def parsed(texts: list[bytes]) -> int:
        count = 0
        for text in texts:
            try:
                count += bool(json.loads(text))
            except ValueError:
                continue
        return count

    assert (parsed(seen.payload.splitlines()), parsed(reads(seen))) == (10, 0)


async def test_one_record_in_many_reads(autojump_clock):
    seen = await told("one-record-many-reads", [NDJSON, *map(chunk, LINES), LAST])
    assert seen.payload == b"".join(LINES)
    assert {len(read) for read in reads(seen)} == set(range(1, 8))
    kept, found = b"", []
    for read in reads(seen):
        *whole, kept = (kept + read).split(b"\n")
        found += [json.loads(line)["message"]["content"] for line in whole]
    assert found == [str(number) for number in range(10)]
    whole_lines = [read for read in reads(seen) if read.startswith(b"{") and read.endswith(b"}\n")]
    assert whole_lines == [], "whoever parses reads has nothing"


async def test_a_gateway_that_parses_each_piece(autojump_clock):
    seen = await told("events-cut-in-two", [SSE, *map(chunk, ROCKETS), LAST])
    assert len(reads(seen)) == 4, "half, then the other half with the next one's first half"
    assert len(events(seen.payload)) == 3
    assert [len(events(read)) for read in reads(seen)] == [0, 0, 0, 0]


async def test_the_last_chunk_in_two_reads(autojump_clock):
    seen = await told("split-last-chunk", [SSE, *map(chunk, ROCKETS), LAST])
    assert [data for _, data in seen.pieces[-2:]] == [b"0\r\n", b"\r\n"]
    assert seen.whole
    assert text_of(seen).count("go") == 3
    assert (finds_last_chunk_in_one_read(seen), finds_last_chunk_in_one_read(await told("tokens", [SSE, LAST]))) == (
        False,
        True,
    )


CHAT = [
    SSE,
    *[chunk(b'data: {"choices":[{"delta":{"content":"%s"}}]}\n\n' % word.encode()) for word in "abc"],
    chunk(b"data: [DONE]\n\n"),
    LAST,
]


def by_lines(seen) -> str:
    """Hands every line that is not empty to the JSON parser, without its field name."""
    lines = [line.removeprefix(b"data: ") for line in seen.payload.splitlines() if line]
    return "".join(json.loads(line)["choices"][0]["delta"]["content"] for line in lines if line != b"[DONE]")


def by_first_choice(seen) -> str:
    """Takes the first choice of every event."""
    found = [json.loads(event) for event in events(seen.payload) if event != b"[DONE]"]
    return "".join(one["choices"][0]["delta"].get("content", "") for one in found)


def usage(seen) -> int:
    """The total of the usage, as a client has it that passes over choices that are not there."""
    found = [json.loads(event) for event in events(seen.payload) if event != b"[DONE]"]
    return next((one["usage"]["total_tokens"] for one in found if one.get("usage")), 0)


async def test_comments_wherever_they_may_stand(autojump_clock):
    assert by_lines(await told("tokens", CHAT)) == "abc"
    seen = await told("comments-everywhere", CHAT)
    lines = seen.payload.splitlines()
    assert lines[0] == b": PROCESSING"
    done = lines.index(b"data: [DONE]")
    assert b": PROCESSING" in lines[done - 3 : done]
    assert b": PROCESSING" in lines[done + 1 :]
    assert lines[lines.index(b": PROCESSING", 1) + 1].startswith(b"data: "), "a line of an event"
    assert lines.count(b": PROCESSING") == 4
    assert text_of(seen) == "abc"
    with pytest.raises(ValueError, match="Expecting value"):
        by_lines(seen)


async def test_a_comment_that_became_data(autojump_clock):
    seen = await told("comment-as-data", CHAT)
    assert events(seen.payload)[1] == b": PROCESSING"
    assert text_of(seen) == "a: PROCESSINGbc", "shown as text"
    with pytest.raises(ValueError, match="Expecting value"):
        by_first_choice(seen)


async def test_a_line_above_the_limit(autojump_clock):
    seen = await told("huge-event", CHAT)
    sizes = [len(event) for event in events(seen.payload)]
    assert sizes[3] >= 2 * 1024 * 1024 - len("data: \n\n")
    assert max(len(data) for _, data in seen.pieces) < sizes[3], "in more than one read"
    assert text_of(seen).startswith("abc")
    lines = seen.payload.split(b"\n")
    limited = lines[: next(number for number, line in enumerate(lines) if len(line) > 64 * 1024)]
    assert b"data: [DONE]" not in limited, "who stops there has no last word, and should say so"


async def test_a_byte_order_mark(autojump_clock):
    seen = await told("byte-order-mark", CHAT)
    assert seen.payload.startswith(b"\xef\xbb\xbfdata: ")
    assert text_of(seen) == "abc"
    unstripped = [line[6:] for line in seen.payload.decode().split("\n") if line.startswith("data: ")]
    assert len(unstripped) == 3, "the first event is lost"


async def test_an_event_that_says_nothing(autojump_clock):
    seen = await told("priming-event", CHAT)
    assert seen.payload.startswith(b"id: 1\nretry: 2000\ndata:")
    assert text_of(seen) == "abc"
    with pytest.raises(ValueError, match="Expecting value: line 1 column 1"):
        by_first_choice(seen)


async def test_no_choice_in_the_list(autojump_clock):
    seen = await told("empty-choices", CHAT)
    found = [json.loads(event) for event in events(seen.payload) if event != b"[DONE]"]
    assert [one["choices"] == [] for one in found] == [True, False, False, False, True]
    assert (text_of(seen), usage(seen)) == ("abc", 13)
    with pytest.raises(IndexError):
        by_first_choice(seen)


async def test_no_list_of_choices(autojump_clock):
    seen = await told("no-choices", CHAT)
    assert (text_of(seen), usage(seen)) == ("abc", 13)
    with pytest.raises(KeyError, match="choices"):
        by_first_choice(seen)
