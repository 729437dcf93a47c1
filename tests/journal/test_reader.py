"""A journal is read back as it was written; a line that is none hides no other."""

import io
import json

import pytest

from chaosproxy.journal import reader
from chaosproxy.journal.jsonl import line
from chaosproxy.journal.marks import FIRST, LAST
from chaosproxy.journal.reader import JournalLines, NoRecordError, record_of
from chaosproxy.journal.record import ClientView, Ending, ExchangeRecord, Fired, NotFired


def record(number=1):
    made = ExchangeRecord(
        id=number,
        scenario=None,
        rule=None,
        seed=7,
        started_at="2026-11-30T12:00:00.123Z",
        client=ClientView("h2", 1, 3),
    )
    made.request.method, made.request.headers = "GET", [["x", "\x1b\u20ac"]]
    made.response.status, made.response.events_out = 200, 2
    made.upstream.url, made.upstream.end, made.upstream.removed = (
        "http://x",
        Ending("proxy", "rst"),
        ["accept-encoding"],
    )
    made.times.request_end, made.times.end = 0.0, 1.5
    made.arrivals.note(0.25, 50)
    made.deliveries.note(0.5, 50)
    made.faults, made.faults_dropped = [Fired(0.5, "cut", 0, None, "rst")], 3
    made.not_fired = [NotFired("stall", -1, "if")]
    made.end, made.detail = Ending("upstream", "stream:CANCEL", "x"), "y"
    return made


def journal(*lines):
    return io.BytesIO(b"".join(lines))


def read(file):
    problems = []
    records = JournalLines(file, lambda number, why: problems.append((number, why)))
    return [one.id for one in records], problems


def changed(**given):
    return json.dumps({**record().as_json(), **given}).encode()


def test_what_was_written_is_read():
    assert record_of(line(record()).encode()).as_json() == record().as_json()


def test_what_has_just_begun_is_read():
    begun = ExchangeRecord(1, "s", 0, 7, "2026-11-30T12:00:00.123Z", ClientView("http/1.1", 1))
    assert record_of(line(begun).encode()).as_json() == begun.as_json()


def test_pieces_that_the_journal_left_out_are_still_counted():
    made = record()
    for _ in range(FIRST + LAST + 5):
        made.arrivals.note(1.0, 1)
    back = record_of(line(made).encode())
    assert (back.dropped, back.arrivals.count, len(back.arrivals)) == (6, FIRST + LAST + 6, FIRST + LAST)
    made.deliveries = made.arrivals
    back = record_of(line(made).encode())
    assert back.as_json() == made.as_json()


def test_a_line_of_another_version_is_read():
    older = record().as_json()
    for name in ("faults_dropped", "detail", "not_fired", "dropped"):
        del older[name]
    del older["upstream"]["retries"]
    newer = {**older, "new": {"x": 1}, "response": {**older["response"], "new": 1}}
    assert record_of(json.dumps(newer).encode()).faults[0].fault == "cut"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (b'{"id": 1, "sce', "no JSON, or cut off"),
        (b"\xff\xfe", "no JSON, or cut off"),
        (b"[" * 100_000, "no JSON, or cut off"),
        (b"[]", "JSON, but no exchange"),
        (b'"id"', "JSON, but no exchange"),
        (b"{}", "JSON, but no exchange"),
        (b'{"id": 1}', "client.protocol is missing"),
        (changed(id=True), "id is not what"),
        (changed(id="1"), "id is not what"),
        (changed(id=10**400), "id is not what"),
        (changed(seed=1.5), "seed is not what"),
        (changed(request=[]), "request is no object"),
        (changed(request={"headers": [["one"]]}), "request.headers are not [name, value]"),
        (changed(request={"headers": [["one", 2]]}), "request.headers is not what"),
        (changed(times={"end": "soon"}), "times.end is not what"),
        (changed(times={"end": 1e300}), "times.end is not what"),
        (changed(times={"end": 10**400}), "times.end is not what"),
        (changed(times={"end": float("nan")}), "no JSON"),
        (changed(end="clean"), "end is no object"),
        (changed(end={"by": "client"}), "end.how is missing"),
        (changed(upstream={"end": {"by": 1, "how": "fin"}}), "upstream.end.by is not what"),
        (changed(faults={}), "faults is no list"),
        (changed(faults=[{"t": 1}]), "faults.fault is missing"),
        (changed(not_fired=[1]), "not_fired is no object"),
        (changed(arrivals=[[1]]), "arrivals or deliveries are not [seconds, bytes]"),
        (changed(arrivals=[[1, 2.5]]), "arrivals or deliveries are not [seconds, bytes]"),
        (changed(arrivals=[["1", 2]]), "arrivals or deliveries are not [seconds, bytes]"),
        (changed(deliveries=[[1, -1]]), "arrivals or deliveries are not [seconds, bytes]"),
        (changed(deliveries=[[1, 1], [2, 2**32]]), "arrivals or deliveries are not [seconds, bytes]"),
        (changed(deliveries=[[1, 1], 2]), "arrivals or deliveries are not [seconds, bytes]"),
    ],
)
def test_what_is_no_record_says_why(given, why):
    with pytest.raises(NoRecordError, match=rf"^{why.replace('[', chr(92) + '[')}"):
        record_of(given)


def test_a_number_of_pieces_left_out_that_cannot_be_is_none():
    assert record_of(changed(arrivals=[[1, 1]] * (FIRST + 1), dropped=-7)).dropped == 0


def test_a_broken_line_is_said_with_its_number_and_the_others_are_read():
    one, two = line(record(1)).encode() + b"\n", line(record(2)).encode() + b"\n"
    assert read(journal(one, one[:50] + b"\n", b"\n", two, one[:80])) == (
        [1, 2],
        [(2, "no JSON, or cut off"), (5, "no JSON, or cut off")],
    )


def test_a_line_beyond_all_bounds_is_never_held(monkeypatch):
    monkeypatch.setattr(reader, "LONGEST", 4096)
    one, two = line(record(1)).encode() + b"\n", line(record(2)).encode() + b"\n"
    long = b"[" + b"1," * 100_000 + b"\n"
    assert read(journal(one, long, two, long.rstrip())) == (
        [1, 2],
        [(2, "longer than 4096 bytes"), (4, "longer than 4096 bytes")],
    )


def test_each_time_it_is_read_anew_and_problems_are_said_once():
    problems = []
    one, two = line(record(1)).encode() + b"\n", line(record(2)).encode() + b"\n"
    records = JournalLines(journal(one, b"x\n", two), lambda *problem: problems.append(problem))
    assert next(iter(records)).id == 1
    assert problems == []
    assert [[each.id for each in records] for _ in range(3)] == [[1, 2]] * 3
    assert problems == [(2, "no JSON, or cut off")]


def test_what_is_written_meanwhile_is_not_in_it():
    file = journal(line(record(1)).encode() + b"\n")
    records = JournalLines(file, lambda *_: None)
    file.seek(0, io.SEEK_END)
    file.write(line(record(2)).encode() + b"\n")
    assert [one.id for one in records] == [1]


def test_a_seed_may_be_any_number():
    assert record_of(changed(seed=10**40)).seed == 10**40
