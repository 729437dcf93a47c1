"""`mutate`: what becomes of a record, and of the bytes at a place; that nothing else is changed."""

import pytest

from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Condition
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import Cut, Mutate
from chaosproxy.faults.octets import Hex
from chaosproxy.model.messages import Data, End, ResponseHead
from chaosproxy.model.vocabulary import Framing, Way
from chaosproxy.scenario.dump import dump
from chaosproxy.scenario.load import load
from chaosproxy.testing import check_fault
from chaosproxy.testing.play import POST, SSE, Upload, play


def head(kind, *more):
    return ResponseHead(200, ((b"content-type", kind), *more), framing=Framing.CHUNKED)


LINES, GRPC = head(b"application/x-ndjson"), head(b"application/grpc")
PLAIN, CODED = head(b"text/plain"), head(b"text/event-stream", (b"content-encoding", b"gzip"))
EVENTS = [b"data: %d\n\n" % number for number in range(1, 5)]
SEPARATOR = "\u2028".encode()


def message(held):
    return b"\0" + len(held).to_bytes(4, "big") + held


def event(held):
    return b"data: " + held + b"\n\n"


CHANGES = {
    "replace": (SSE, {"replace": (("data: ", b"data:"),)}, event(b"x"), b"data:x\n\n"),
    "replace by groups": (SSE, {"replace": (("(a)(b)", b"\\2\\1\\\\"),)}, event(b"abab"), event(b"ba\\ba\\")),
    "replace each line": (SSE, {"replace": (("(?m)^", b" "),)}, b"event: e\ndata: x\n\n", b" event: e\n data: x\n \n "),
    "replace one after the other": (SSE, {"replace": (("a", b"b"), ("b", b"c"))}, event(b"ab"), b"dctc: cc\n\n"),
    "replace in a line": (LINES, {"replace": (("false", b"true"),)}, b'{"done":false}\n', b'{"done":true}\n'),
    "replace in a message": (GRPC, {"replace": (("b", b"bbb"),)}, message(b"abc"), message(b"abbbc")),
    "insert in plain data": (SSE, {"insert": b"--"}, event(b"abcd"), event(b"ab--cd")),
    "insert between characters": (SSE, {"insert": b"-"}, event("aé".encode()), event("a-é".encode())),
    "insert before a character": (SSE, {"insert": b"-"}, event("éa".encode()), event("-éa".encode())),
    "insert in the text": (
        SSE, {"insert": SEPARATOR}, event(b'{"id":"long long long","choices":[{"delta":{"content":"abcd"}}]}'),
        event(b'{"id":"long long long","choices":[{"delta":{"content":"ab' + SEPARATOR + b'cd"}}]}'),
    ),
    "insert in an empty text": (SSE, {"insert": b"-"}, event(b'{"delta":""}'), event(b'{"delta":"-"}')),
    "insert behind an escape": (SSE, {"insert": b"-"}, event(b'{"delta":"\\u00e9"}'), event(b'{"delta":"-\\u00e9"}')),
    "insert beside a pair": (
        SSE, {"insert": b"-"}, event(b'{"delta":"a\\ud83d\\ude00"}'), event(b'{"delta":"a-\\ud83d\\ude00"}'),
    ),
    "insert beside a quote": (SSE, {"insert": b"-"}, event(b'{"delta":"\\"\\""}'), event(b'{"delta":"\\"-\\""}')),
    "insert in JSON without a text": (SSE, {"insert": b"-"}, event(b"[1,2]"), event(b"[1-,2]")),
    "insert at a path": (
        SSE, {"insert": b"--", "into": "a.0"}, event(b'{"delta":"x","a":["bc"]}'), event(b'{"delta":"x","a":["b--c"]}'),
    ),
    "insert in Ollama's text": (LINES, {"insert": b"-"}, b'{"response":"ab"}\n', b'{"response":"a-b"}\n'),
    "insert a line end": (LINES, {"insert": b"\n"}, b'{"response":"ab"}\n', b'{"response":"a\nb"}\n'),
    "insert in a message": (GRPC, {"insert": b"-"}, message(b"ab"), message(b"a-b")),
    "insert over several lines": (
        SSE, {"insert": b"-"}, b"data: ab\ndata: cd\n\n", b"data: ab-\ndata: cd\n\n",
    ),
    "bytes": (SSE, {"bytes": b"data: y\n\n"}, event(b"x"), b"data: y\n\n"),
    "bytes by digits": (SSE, {"bytes": Hex("64 61 74 61 3a 85 0a 0a")}, event(b"x"), b"data:\x85\n\n"),
    "no bytes": (SSE, {"bytes": b""}, event(b"x"), b""),
    "json": (
        SSE, {"json": (("choices.0.delta.content", "\u2028"), ("new", None))},
        b'id: 1\ndata: {"choices": [ {"delta":{"content":"x"}} ] }\n\n',
        b'id: 1\ndata: {"choices": [ {"delta":{"content":"' + SEPARATOR + b'"}} ],"new":null }\n\n',
    ),
    "json in a line": (LINES, {"json": (("done", False),)}, b'{"done": true}\n', b'{"done": false}\n'),
    "delete": (LINES, {"delete": ("done", "a.b")}, b'{"a": {"b": 1}, "done": true}\r\n', b'{"a": {}}\r\n'),
    "strip_tail of a blank line": (SSE, {"strip_tail": 1}, event(b"x"), b"data: x\n"),
    "strip_tail of a line end": (SSE, {"strip_tail": 2}, event(b"x"), b"data: x"),
    "strip_tail of all": (SSE, {"strip_tail": 1000}, event(b"x"), b""),
    "strip_tail of a message": (GRPC, {"strip_tail": 2}, message(b"abc"), message(b"abc")[:-2]),
}  # fmt: skip


@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize(("answer", "how", "sent", "left"), CHANGES.values(), ids=CHANGES)
def test_what_becomes_of_a_record(answer, how, sent, left, size):
    """The second; it is the last too."""
    before = {SSE: event(b"before"), LINES: b"before\n", GRPC: message(b"before")}[answer]
    pieces = [sent[begin : begin + size] for begin in range(0, len(sent), size)]
    script = [(1.0, before), *((2.0, piece) for piece in pieces), (3.0, End())]
    played = play([Mutate(at=Trigger(event=2), **how)], script, head=answer)
    assert played.data == before + left
    assert played.fired == [(2.0, "mutate", "changed event 2")]
    assert played.records_out == play([], [(1.0, played.data), (2.0, End())], head=answer).records_in


NOTHING = {
    "no match": (SSE, {"replace": (("y", b"z"),)}, event(b"x")),
    "no JSON": (SSE, {"json": (("a", 1),)}, event(b"x")),
    "no object": (SSE, {"json": (("a", 1),)}, event(b'"x"')),
    "no such member": (SSE, {"delete": ("b",)}, event(b'{"a":1}')),
    "no way there": (SSE, {"json": (("a.b", 1),)}, event(b'{"a":1}')),
    "no text there": (SSE, {"insert": b"-", "into": "a"}, event(b'{"a":1}')),
    "none in no JSON": (SSE, {"insert": b"-", "into": "a"}, event(b"x")),
    "the same": (SSE, {"json": (("a", 1),)}, event(b'{"a":1}')),
}


@pytest.mark.parametrize(("answer", "how", "sent"), NOTHING.values(), ids=NOTHING)
def test_where_there_is_nothing_to_change(answer, how, sent):
    played = play([Mutate(**how)], [(1.0, sent), (2.0, End())], head=answer)
    assert (played.data, played.not_fired) == (sent, [("mutate", "nothing to change")])


def test_without_a_place_it_is_each_record_and_no_comment():
    played = play([Mutate(replace=((": ", b":"),))], [(1.0, EVENTS[0] + b": ping\n\n"), (2.0, EVENTS[1]), (3.0, End())])
    assert played.data == b"data:1\n\n: ping\n\ndata:2\n\n"
    assert played.fired == [(1.0, "mutate", "changed records")]


def test_all_before_it_is_on_time_and_in_its_own_pieces():
    script = [(1.0, b"data: 1\n"), (2.0, b"\ndata"), (3.0, b": 2\n\nda"), (4.0, b"ta: 3\n"), (5.0, b"\nda")]
    assert play([Mutate(insert=b"-", at=Trigger(event=3))], script).body == [
        (1.0, b"data: 1\n"), (2.0, b"\ndata"), (3.0, b": 2\n\n"), (5.0, b"data: -3\n\n"), (5.0, b"da"),
    ]  # fmt: skip


def test_without_its_blank_line_an_event_runs_into_the_next():
    faults = [Mutate(strip_tail=1, at=Trigger(event=2)), Cut(at=Trigger(event=2), then=(Ending("clean"),))]
    assert play(faults, [(1.0, b"".join(EVENTS))]).data == EVENTS[0] + b"data: 2\n" + EVENTS[2]


def test_the_last_event_without_its_blank_line():
    done = b"data: [DONE]\n\n"
    played = play([Mutate(strip_tail=1, at=Trigger(terminal="before"))], [(1.0, EVENTS[0] + done), (2.0, End())])
    assert (played.data, played.records_out) == (EVENTS[0] + done[:-1], 1)


@pytest.mark.parametrize("answer", [PLAIN, CODED])
def test_a_chunk_of_any_body(answer):
    script = [(1.0, b"ab"), (2.0, b"cd"), (3.0, End())]
    assert play([Mutate(bytes=b"-", at=Trigger(chunk=2))], script, head=answer).data == b"ab-"
    assert play([Mutate(insert=b"-", at=Trigger(chunk=1, every=1))], script, head=answer).data == b"a-bc-d"


def test_the_trailers_of_grpc_web_hold_no_message():
    web, trailers = head(b"application/grpc-web"), b"\x80\0\0\0\3a:b"
    at = Trigger(terminal="before")
    for how in ({"replace": (("a", b"b"),)}, {"insert": b"-"}):
        played = play([Mutate(at=at, **how)], [(1.0, message(b"x") + trailers), (2.0, End())], head=web)
        assert (played.data, played.not_fired) == (message(b"x") + trailers, [("mutate", "nothing to change")])
    played = play([Mutate(strip_tail=1, at=at)], [(1.0, message(b"x") + trailers), (2.0, End())], head=web)
    assert played.data == message(b"x") + trailers[:-1]


# ---- at a byte


@pytest.mark.parametrize("answer", [SSE, PLAIN, CODED], ids=["events", "plain", "coded"])
@pytest.mark.parametrize("size", [1, 4, 1000])
@pytest.mark.parametrize(
    ("at", "inserted", "overwritten", "fired"),
    [
        (Trigger(bytes=4), b"abcd--efghijkl", b"abcd--ghijkl", [4]),
        (Trigger(bytes=11), b"abcdefghijk--l", b"abcdefghijk-", [11]),
        (Trigger(bytes=4, every=4, times=2), b"abcd--efgh--ijkl", b"abcd--gh--kl", [4, 8]),
        (Trigger(bytes=1, every=5, times=2), b"a--bcdef--ghijkl", b"a--def--ijkl", [1, 6]),
        (Trigger(bytes=1, every=5), b"a--bcdef--ghijk--l", b"a--def--ijk-", [1, 6, 11]),
        (Trigger(bytes=9, every=1), b"abcdefghi--j--k--l--", b"abcdefghi---", [9, 10, 11, 12]),
        (Trigger(bytes=13), b"abcdefghijkl", b"abcdefghijkl", []),
    ],
    ids=repr,
)
def test_at_a_byte(answer, size, at, inserted, overwritten, fired):
    body = b"abcdefghijkl"
    script = [*((1.0, body[begin : begin + size]) for begin in range(0, len(body), size)), (2.0, End())]
    played = play([Mutate(insert=b"--", at=at)], script, head=answer)
    assert played.data == inserted
    assert [detail for _, _, detail in played.fired] == [f"inserted bytes after byte {place}" for place in fired]
    played = play([Mutate(bytes=b"--", at=at)], script, head=answer)
    assert played.data == overwritten
    if at.every != 1:  # else one begins behind the other, not inside of it
        told = [f"overwrote 2 bytes after byte {place}" for place in fired if place < len(body)]
        assert [detail for _, _, detail in played.fired] == told


def test_what_is_overwritten_again_before_it_is_done():
    """The next place lies in what is being overwritten: it begins behind that."""
    played = play([Mutate(bytes=b"123", at=Trigger(bytes=2, every=2))], [(1.0, b"abcdefgh"), (2.0, End())])
    assert played.data == b"ab123123"
    assert [detail for _, _, detail in played.fired] == [f"overwrote 3 bytes after byte {place}" for place in (2, 5)]


def test_the_length_stays_where_bytes_are_only_overwritten():
    length = ResponseHead(200, ((b"content-length", b"9"),), framing=Framing.LENGTH)
    at = Trigger(bytes=3)
    assert play([Mutate(bytes=b"-", at=at)], [(1.0, EVENTS[0])], head=length).head[1] == length
    assert play([Mutate(insert=b"-", at=at)], [(1.0, EVENTS[0])], head=length).head[1].framing is Framing.CHUNKED


def test_records_end_where_they_end_now():
    faults = [Mutate(bytes=b"x", at=Trigger(bytes=7)), Cut(at=Trigger(event=2), then=(Ending("clean"),))]
    assert play(faults, [(1.0, b"".join(EVENTS))]).data == b"data: 1x\ndata: 2\n\n" + EVENTS[2]


def test_what_comes_before_and_behind_is_not_held():
    script = [(1.0, b"abc"), (2.0, b"de"), (3.0, b"fgh")]
    assert play([Mutate(bytes=b"--", at=Trigger(bytes=4))], script, head=PLAIN).body == [
        (1.0, b"abc"), (2.0, b"d"), (2.0, b"-"), (3.0, b"-gh"),
    ]  # fmt: skip


# ---- where it does not fire


@pytest.mark.parametrize(
    ("answer", "how", "reason"),
    [
        (PLAIN, {"replace": (("a", b"b"),)}, "no records"),
        (CODED, {"json": (("a", 1),)}, "coded body"),
        (GRPC, {"json": (("a", 1),)}, "format"),
        (GRPC, {"delete": ("a",)}, "format"),
        (GRPC, {"insert": b"-", "into": "a"}, "format"),
        (SSE, {"strip_tail": 1, "at": Trigger(event=5)}, "not reached"),
        (SSE, {"bytes": b"-", "at": Trigger(bytes=50)}, "not reached"),
        (SSE, {"strip_tail": 1, "if_": Condition(status=500)}, "if"),
    ],
)
def test_why_it_did_not_fire(answer, how, reason):
    played = play([Mutate(**how)], [(1.0, EVENTS[0]), (2.0, End())], head=answer)
    assert (played.data, played.not_fired) == (EVENTS[0], [("mutate", reason)])


def test_an_upload():
    request = POST.__class__(
        b"POST", b"/", (*POST.headers, (b"content-type", b"application/jsonl")), framing=Framing.CHUNKED
    )
    script = [(1.0, Upload(b"1\n")), (2.0, Upload(b"2\n")), (3.0, Upload(End()))]
    played = play([Mutate(replace=(("2", b"22"),), way=Way.REQUEST)], script, request=request)
    assert b"".join(one.payload for _, one in played.request if isinstance(one, Data)) == b"1\n22\n"


# ---- what every fault must stand; how it is written


@pytest.mark.parametrize(
    "spec",
    [
        Mutate(replace=(("a", b"aa"),)),
        Mutate(insert=b"-", at=Trigger(event=2, every=2)),
        Mutate(insert=b"-", at=Trigger(bytes=3, every=7)),
        Mutate(bytes=b"--", at=Trigger(bytes=3, every=7)),
        Mutate(bytes=b"--", at=Trigger(chunk=2)),
        Mutate(bytes=b"data: m\n\n", at=Trigger(match="2")),
        Mutate(strip_tail=1, at=Trigger(event=2)),
        Mutate(strip_tail=2),
        Mutate(bytes=b"--", at=Trigger(bytes=3), way=Way.REQUEST),
        Mutate(insert=b"--", at=Trigger(time=0.25), way=Way.REQUEST),
    ],
    ids=repr,
)
def test_it_stands_every_script(spec):
    check_fault(spec)


def test_one_that_is_never_reached_is_neutral():
    check_fault(Mutate(strip_tail=1, at=Trigger(event=1000)), neutral=True)
    check_fault(Mutate(bytes=b"-", at=Trigger(bytes=100_000)), neutral=True)


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("mutate: 5", 13, "mapping"),
        ("mutate: {}", 13, "nothing to change"),
        ("mutate: {at: {event: 1}}", 13, "nothing to change"),
        ("mutate: {insert: a, bytes: b}", 32, "beside `insert`"),
        ("mutate: {json: {a: 1}, delete: b}", 36, "beside `json`"),
        ("mutate: {into: a, strip_tail: 1}", 20, "only `insert`"),
        ("mutate: {strip_tail: 0}", 26, "1 or more"),
        ("mutate: {strip_tail: 1, at: body}", 33, "no record"),
        ("mutate: {strip_tail: 1, at: {idle: 1s}}", 33, "no record"),
        ('mutate: {replace: {"(": a}}', 29, "expected RE2's syntax"),
        ('mutate: {replace: {"(?=a)": a}}', 33, "expected RE2's syntax"),
        ('mutate: {replace: {"[ab]{0,1000}c": a}}', 41, "more than 1000 instructions"),
        ('mutate: {replace: {a: "\\\\1"}}', 27, "0 groups"),
        ("mutate: {replace: a}", 23, "mapping"),
        ("mutate: {insert: {hex: 1g}}", 28, "hexadecimal"),
        ('mutate: {insert: ""}', 22, "no bytes"),
        ("mutate: {json: {a..b: 1}}", 20, "empty part"),
        ("mutate: {delete: [a, .]}", 22, "empty part"),
    ],
)
def test_what_cannot_be_has_its_place(refused, text, column, words):
    refused(text, column, words)


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("{replace: {'data: ': 'data:'}}", Mutate(replace=(("data: ", b"data:"),))),
        ('{insert: "\\u2028", into: a.b}', Mutate(insert=SEPARATOR, into="a.b")),
        ("{bytes: {hex: ff}, at: {bytes: 5}}", Mutate(bytes=Hex("ff"), at=Trigger(bytes=5))),
        ("{json: {a.b: [1, {c: null}]}}", Mutate(json=(("a.b", [1, {"c": None}]),))),
        ("{delete: done, at: {terminal: before}}", Mutate(delete=("done",), at=Trigger(terminal="before"))),
        ("{delete: [a, b], way: request}", Mutate(delete=("a", "b"), way=Way.REQUEST)),
        ("{bytes: '', at: {event: 2}}", Mutate(bytes=b"", at=Trigger(event=2))),
        ("{strip_tail: 2, if: {status: 200}}", Mutate(strip_tail=2, if_=Condition(status=200))),
    ],
)
def test_what_can_be_is_read_and_written(text, spec):
    scenario = load(f"version: 1\nfaults:\n  - mutate: {text}\n")
    assert scenario.rules[0].faults == (spec,)
    assert load(dump(scenario)) == scenario
