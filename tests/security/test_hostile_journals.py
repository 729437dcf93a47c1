"""A journal that somebody has made to harm whoever reads it: each line is an exchange or says why not, each report is
written, and the work is bounded."""

import copy
import json
from collections.abc import Iterator

import pytest

from chaosproxy.cli.main import status_of
from chaosproxy.journal import reader
from chaosproxy.journal.reader import JournalLines, NoRecordError, record_of
from chaosproxy.judging.calls import RetryAfter, told_to_wait
from chaosproxy.judging.words import limit
from chaosproxy.report.pages import WRITERS, pieces, write
from tests.report.examples import cut, plain
from tests.security.hostile_json import HOSTILE, nested

LITERALS = [
    "null", "true", "[]", "{}", "[[]]", '[["a"]]', '[["a", "b", "c"]]', "-1", "1e308", "-1e308", "1e999", "NaN", "9" * 4000, "9" * 5000, "1e-320",
    '""', '"a"', '"\\ud800\\u0000\\u001b[2J"', '"</script><img src=x>"', f'"{"x" * 10_000}"', nested(500).decode(), "[" * 2000 + "]" * 2000,
]  # fmt: skip
"""What stands in the place of each value."""
MARK = "\x01here\x01"


def places(value, path=()) -> Iterator[tuple]:
    """The path of everything in a document."""
    yield path
    for key, one in (
        value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    ):
        yield from places(one, (*path, key))


def with_literal(document, path, literal: str) -> bytes:
    """The document in which a text of JSON's, or of nobody's, stands at a path."""
    if not path:
        return literal.encode()
    changed = holder = copy.deepcopy(document)
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = MARK
    return json.dumps(changed).replace(json.dumps(MARK), literal).encode()


def lines() -> Iterator[bytes]:
    document = cut().as_json()
    for path in places(document):
        for literal in LITERALS:
            yield with_literal(document, path, literal)


def test_each_value_of_a_line_may_be_anything(shown):
    tried, records, reasons = 0, [], set()
    for line in lines():
        tried += 1
        try:
            records.append(record_of(line))
        except NoRecordError as error:
            reasons.add(str(error))
    assert all(reason.isprintable() for reason in reasons)
    assert 100 < len(records) < tried / 2
    distinct = {repr(record)[:4000]: record for record in records}
    for form in WRITERS:
        for piece in pieces(list(distinct.values()), (), form, title="hostile"):
            piece.encode()
    shown(
        "files",
        "a journal's lines, each value replaced by another",
        tried=tried,
        must="an exchange in every report, or one line that says why not",
        happens=f"read and written in {len(WRITERS)} formats, or refused; nothing raises",
    )


def test_a_journal_of_rubbish_is_told_line_by_line(tmp_path, capsys, shown):
    good = json.dumps(cut().as_json()).encode()
    rubbish = [text.replace(b"\n", b" ") for text in HOSTILE.values() if text.strip()]
    rubbish += [b"\0" * 1000, good[:-7], b"\xff" + good, good + good, b"x" * (reader.LONGEST + 5), b'{"id": 1}']
    file = tmp_path / "j.jsonl"
    file.write_bytes(b"\n".join([good, *rubbish, good]))
    assert status_of(["report", str(file)]) == 0
    out, err = capsys.readouterr()
    assert err.count("\n") == 21
    assert f"and {len(rubbish) - 20} further lines" in err
    assert err.isascii()
    assert "2 exchanges" in out
    file.write_bytes(b"\n".join(rubbish))
    assert status_of(["report", str(file)]) == 2
    assert "not one line of it is an exchange" in capsys.readouterr().err
    shown(
        "files",
        "`report` of lines that are rubbish (nested too deep, cut off, 16 MiB long, not UTF-8) between two exchanges",
        tried=len(rubbish),
        must="the exchanges are shown, the lines told by number",
        happens="status 0; with no exchange at all 2",
    )


@pytest.mark.parametrize("longest", [1, 7, 4096])
def test_a_line_that_is_too_long_is_passed_over_in_pieces(longest, tmp_path, monkeypatch):
    monkeypatch.setattr(reader, "LONGEST", max(longest, 4096))
    good = json.dumps(cut().as_json()).encode()
    file, told = tmp_path / "j.jsonl", []
    file.write_bytes(b"x" * (3 * 4096 + longest) + b"\n" + good + b"\n")
    with file.open("rb") as opened:
        assert [record.id for record in JournalLines(opened, lambda number, why: told.append((number, why)))] == [2]
    assert told == [(1, "longer than 4096 bytes")]


DATE = "Wed, 21 Oct 2026 07:28:00"
LATER = [
    "9" * 400, "9" * 60_000, "-1", "1e9", "1.5", "\u0663", "", " ", "\0", "," * 60_000, " " * 60_000, "Wed, " * 10_000, "1 " * 30_000, "a:b:c:d:e",
    f"{DATE} GMT", f"{DATE} +9999", f"{DATE} -9999", f"{DATE} +999999999999", f"{DATE} {'Z' * 10_000}", DATE.replace("2026", "0"), DATE.replace("2026", "99999"),
    DATE.replace("2026", "9" * 5000), DATE.replace("21", "99"), DATE.replace("07", "9" * 5000), "Mon, 01 Jan 0001 00:00:00 +2359", "Fri, 31 Dec 9999 23:59:59 -2359",
]  # fmt: skip
"""What a server may say of when to ask again."""


def test_a_judgement_survives_any_retry_after(shown):
    said = set()
    for text in LATER:
        first, second = plain(1), plain(2)
        first.response.status, first.response.headers = 429, [["retry-after", text]]
        verdicts = [RetryAfter().judge([first, second])]
        told = told_to_wait(first)
        assert told is None or told >= 0
        assert limit(told or 0.0)
        assert "".join(write([first, second], verdicts, form) for form in WRITERS).encode()
        said.add("seconds" if told is not None else "nothing")
    shown(
        "files",
        "Retry-After that is no time: thousands of digits, years without end, zones that there are not",
        tried=len(LATER),
        must="seconds, or nothing that can be understood",
        happens=" or ".join(sorted(said)),
    )
