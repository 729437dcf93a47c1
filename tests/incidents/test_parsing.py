"""Legal bodies that parsers stumble over: what is on the wire, and who reads them right."""

import codecs
import json

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
