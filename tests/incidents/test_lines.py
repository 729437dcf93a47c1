"""Lines as the standard has them, and as parsers do: what is on the wire, and who reads them right."""

import json
import re

import pytest

from tests.incidents.readers import careful, events, events_at_the_end, text_of
from tests.virtual.shipped import LAST, SSE, chunk, told, unchunked

WORDS = ("one", "two", "three")
CHAT = [
    SSE,
    *[chunk(b'data: {"choices":[{"delta":{"content":"%s"}}]}\n\n' % word.encode()) for word in WORDS],
    chunk(b"data: [DONE]\n\n"),
    LAST,
]


def by_unicode(text: str) -> str:
    """Splits lines as Python's strings do, and hands what begins with `data: ` to a JSON parser."""
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    return "".join(json.loads(line)["choices"][0]["delta"]["content"] for line in lines if line != "[DONE]")


async def test_a_line_separator_that_is_none(autojump_clock):
    assert by_unicode((await told("tokens", CHAT)).payload.decode()) == "onetwothree"
    seen = await told("unicode-line-separator", CHAT)
    assert seen.payload.count(b"\xe2\x80\xa8") == 1
    assert text_of(seen).replace("\u2028", "") == "onetwothree"
    with pytest.raises(ValueError, match="Unterminated string"):
        by_unicode(seen.payload.decode())


async def test_a_charset_from_another_age(autojump_clock):
    seen = await told("charset-left-out", CHAT)
    assert b"\r\ncontent-type: text/event-stream\r\n" in seen.raw.lower()
    assert text_of(seen).replace("\u2705", "") == "onetwothree"
    assert by_unicode(seen.payload.decode()).replace("\u2705", "") == "onetwothree"
    with pytest.raises(ValueError, match="Unterminated string"):
        by_unicode(seen.payload.decode("latin-1"))


async def test_line_ends_by_turns(autojump_clock):
    seen = await told("mixed-line-ends", CHAT)
    assert {b"\n\r\n", b"\r\n\n", b"\r\r"} <= set(re.findall(rb"\n\r\n|\r\n\n|\r\r", seen.payload))
    pauses = [after[0] - before[0] for before, after in zip(seen.pieces, seen.pieces[1:], strict=False)]
    assert 0.05 in [round(pause, 3) for pause in pauses]
    assert any(unchunked(data).endswith(b"\r") for _, data in seen.pieces[1:-1])
    assert text_of(seen) == "onetwothree"
    assert len(seen.payload.split(b"\n\n")) < 5, "a double newline is not what ends an event"


async def test_carriage_returns_only(autojump_clock):
    seen = await told("carriage-returns", CHAT)
    assert b"\n" not in seen.payload
    assert seen.payload.count(b"\r\r") == 4
    assert text_of(seen) == "onetwothree"
    assert len(seen.payload.split(b"\n")) == 1, "one endless line"


async def last_line(scenario: str, ends: bytes) -> None:
    seen = await told(scenario, CHAT)
    assert seen.payload.endswith(ends)
    assert seen.whole
    assert (len(events(seen.payload)), len(events_at_the_end(seen.payload))) == (3, 4)
    assert careful(seen).outcome == "broken", "by the standard it is no event"


async def test_the_last_event_without_its_empty_line(autojump_clock):
    await last_line("last-line-unfinished", b"data: [DONE]\n")


async def test_the_last_event_without_its_newline(autojump_clock, monkeypatch):
    monkeypatch.setenv("CHAOS_BYTES", "2")
    await last_line("last-line-unfinished", b"data: [DONE]")


async def test_no_space_behind_the_colon(autojump_clock):
    seen = await told("no-space", CHAT)
    assert b"data: " not in seen.payload
    assert seen.payload.count(b"data:") == 4
    assert text_of(seen) == "onetwothree"
    assert by_unicode(seen.payload.decode()) == "", "every event is skipped"
