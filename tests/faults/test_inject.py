"""`inject`: what is put in, where, and what becomes of the record that it falls into."""

import pytest

from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Condition
from chaosproxy.chain.trigger import Trigger
from chaosproxy.errors import ScenarioError
from chaosproxy.faults import Cut, Inject
from chaosproxy.faults.octets import Hex
from chaosproxy.faults.written import EventFields
from chaosproxy.model.messages import Data, End, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Framing, Moment, Way
from chaosproxy.scenario.dump import dump
from chaosproxy.scenario.load import load
from chaosproxy.testing import check_fault
from chaosproxy.testing.play import POST, SSE, Upload, play


def head(kind, *more):
    return ResponseHead(200, ((b"content-type", kind), *more), framing=Framing.CHUNKED)


LINES, GRPC, GRPC_WEB = head(b"application/x-ndjson"), head(b"application/grpc"), head(b"application/grpc-web+proto")
PLAIN, CODED = head(b"text/plain"), head(b"text/event-stream", (b"content-encoding", b"gzip"))
ONE, TWO, THREE = EVENTS = [b"data: %d\n\n" % number for number in range(1, 4)]
AFTER_ONE = Trigger(event=1)

FORMS = {
    "text": (SSE, {"event": "x"}, b"data: x\n\n", "an event"),
    "text of two lines": (SSE, {"event": "x\r\ny\nz"}, b"data: x\ndata: y\ndata: z\n\n", "an event"),
    "nothing as text": (SSE, {"event": ""}, b"data: \n\n", "an event"),
    "all fields": (
        SSE,
        {"event": EventFields(event="e", data="x", id="7", retry=20)},
        b"event: e\nid: 7\nretry: 20\ndata: x\n\n",
        "an event",
    ),
    "data as JSON": (SSE, {"event": EventFields(data={"a": "\u2028é"})}, 'data: {"a":"\u2028é"}\n\n'.encode(), "an event"),
    "priming": (SSE, {"event": EventFields(id="1", data="")}, b"id: 1\ndata: \n\n", "an event"),
    "comment": (SSE, {"comment": "ping"}, b": ping\n\n", "a comment"),
    "comment of two lines": (SSE, {"comment": "a\nb"}, b": a\n: b\n\n", "a comment"),
    "bytes": (SSE, {"bytes": b"data: x\r\r"}, b"data: x\r\r", "bytes"),
    "bytes by digits": (SSE, {"bytes": Hex("ef bb bf")}, b"\xef\xbb\xbf", "bytes"),
    "json in events": (SSE, {"json": {"choices": []}}, b'data: {"choices":[]}\n\n', "a JSON value"),
    "json in lines": (LINES, {"json": {"done": False}}, b'{"done":false}\n', "a JSON value"),
    "line": (LINES, {"line": "x"}, b"x\n", "a line"),
    "empty line": (LINES, {"line": ""}, b"\n", "a line"),
    "message": (GRPC, {"message": b"abc"}, b"\0\0\0\0\3abc", "a message"),
    "empty message": (GRPC_WEB, {"message": b""}, b"\0\0\0\0\0", "a message"),
    "bytes in messages": (GRPC, {"bytes": b"\0\0\0\0\0"}, b"\0\0\0\0\0", "bytes"),
    "a long event": (SSE, {"event": "x", "size": 20}, b"data: x" + b"x" * 11 + b"\n\n", "an event of 20 bytes"),
    "a long event of an id": (SSE, {"event": EventFields(id="1"), "size": 20}, b"id: 1\ndata: xxxxxx\n\n", "an event of 20 bytes"),
    "a retry alone": (SSE, {"event": EventFields(retry=5)}, b"retry: 5\n\n", "an event"),
    "a long comment": (SSE, {"comment": "p", "size": 12}, b": pxxxxxxx\n\n", "a comment of 12 bytes"),
    "long bytes": (SSE, {"bytes": b": ", "size": 5}, b": xxx", "bytes of 5 bytes"),
    "a long line": (LINES, {"line": "a", "size": 5}, b"axxx\n", "a line of 5 bytes"),
    "a long JSON line": (LINES, {"json": {"a": 1}, "size": 25}, b'{"a":1,"filler":"xxxxx"}\n', "a JSON value of 25 bytes"),
    "a long JSON event": (SSE, {"json": {}, "size": 24}, b'data: {"filler":"xxx"}\n\n', "a JSON value of 24 bytes"),
    "a long message": (GRPC, {"message": b"a", "size": 8}, b"\0\0\0\0\3axx", "a message of 8 bytes"),
    "longer already": (SSE, {"event": "long", "size": 3}, b"data: long\n\n", "an event of 12 bytes"),
    "a size of events": (SSE, {"size": 12}, b"data: xxxx\n\n", "an event of 12 bytes"),
    "a size of lines": (LINES, {"size": 4}, b"xxx\n", "a line of 4 bytes"),
    "a size of messages": (GRPC, {"size": 7}, b"\0\0\0\0\2xx", "a message of 7 bytes"),
    "a size of anything": (PLAIN, {"size": 3}, b"xxx", "bytes of 3 bytes"),
}  # fmt: skip
BODIES = {SSE: EVENTS, LINES: [b"1\n", b"2\n"], GRPC: [b"\0\0\0\0\1x", b"\0\0\0\0\1y"], PLAIN: [b"a", b"b"]}
BODIES[GRPC_WEB] = BODIES[GRPC]


@pytest.mark.parametrize(("answer", "form", "raw", "what"), FORMS.values(), ids=FORMS)
def test_what_is_put_in(answer, form, raw, what):
    """Behind the first chunk, which is a record where there are some."""
    sent = BODIES[answer]
    script = [*((float(number), piece) for number, piece in enumerate(sent, 1)), (9.0, End())]
    played = play([Inject(at=Trigger(chunk=1), **form)], script, head=answer)
    assert played.body == [(1.0, sent[0]), (1.0, raw), *((time, piece) for time, piece in script[1:-1])]
    assert played.fired == [(1.0, "inject", f"put in {what} after chunk 1")]
    if answer is not PLAIN:
        again = play([], [(1.0, played.data), (2.0, End())], head=answer)
        assert played.records_out == again.records_in, "counted as whoever reads it counts"


PLACES = {
    "by default": (None, b"I" + ONE + TWO + THREE, ["at body"]),
    "headers": (Trigger(moment=Moment.HEADERS), b"I" + ONE + TWO + THREE, ["at headers"]),
    "end": (Trigger(moment=Moment.END), ONE + TWO + THREE + b"I", ["at end"]),
    "event": (Trigger(event=2), ONE + TWO + b"I" + THREE, ["after event 2"]),
    "again and again": (Trigger(event=1, every=1), ONE + b"I" + TWO + b"I" + THREE + b"I", [
        "after event 1", "after event 2", "after event 3",
    ]),
    "match": (Trigger(match="2"), ONE + b"I" + TWO + THREE, ["before the record with '2'"]),
    "each match": (Trigger(match="[12]", every=1), b"I" + ONE + b"I" + TWO + THREE, ["before the record with '[12]'"] * 2),
    "bytes": (Trigger(bytes=9), ONE + b"I" + TWO + THREE, ["after byte 9"]),
    "time": (Trigger(time=2.5), ONE + TWO + b"I" + THREE, ["at 2.5s"]),
    "idle": (Trigger(idle=1.2, every=9.0), ONE + b"I" + TWO + THREE, ["after 1.2s of silence"]),
}  # fmt: skip


@pytest.mark.parametrize(
    ("form", "raw"),
    [({"event": "i"}, b"data: i\n\n"), ({"comment": "i"}, b": i\n\n"), ({"bytes": b": i\n\n"}, b": i\n\n")],
)
@pytest.mark.parametrize(("at", "body", "where"), PLACES.values(), ids=PLACES)
def test_where_it_is_put_in(at, body, where, form, raw):
    script = [(0.5, ONE), (2.0, TWO), (2.6, THREE), (2.7, End())]
    played = play([Inject(at=at, **form)], script)
    assert played.data == body.replace(b"I", raw)
    assert all(detail.endswith(place) for (_, _, detail), place in zip(played.fired, where, strict=True))
    assert played.records_out == 3 + (raw.startswith(b"data") and body.count(b"I"))


@pytest.mark.parametrize("where", ["before", "inside", "after"])
def test_at_the_terminal_record(where):
    done = b"data: [DONE]\n\n"
    played = play([Inject(bytes=b"I", at=Trigger(terminal=where))], [(1.0, ONE), (2.0, done), (3.0, End())])
    expected = {"before": b"I" + done, "inside": b"data: [DOINE]\n\n", "after": done + b"I"}
    assert played.data == ONE + expected[where]


def test_behind_the_trailers_of_grpc_nothing_can_stand():
    message, status = b"\0\0\0\0\1x", Trailers(((b"grpc-status", b"0"),))
    script = [(1.0, message), (2.0, status), (2.0, End())]
    played = play([Inject(message=b"y", at=Trigger(terminal="after"))], script, head=GRPC)
    assert (played.data, played.not_fired) == (message, [("inject", "format")])
    played = play([Inject(message=b"y", at=Trigger(terminal="before"))], script, head=GRPC)
    assert (played.data, played.records_out) == (message + b"\0\0\0\0\1y", 2)


def test_behind_the_trailers_of_grpc_web_it_stands_like_anything():
    message, trailers = b"\0\0\0\0\1x", b"\x80\0\0\0\3a:b"
    at = Trigger(terminal="after")
    played = play([Inject(message=b"y", at=at)], [(1.0, message), (2.0, trailers), (3.0, End())], head=GRPC_WEB)
    assert played.data == message + trailers + b"\0\0\0\0\1y"


@pytest.mark.parametrize(
    ("form", "at", "body"),
    [
        ({"event": "i"}, Trigger(event=1), [ONE, b"data: i\n\n", TWO]),
        ({"event": "i"}, Trigger(bytes=9), [ONE, b"data: i\n\n", TWO]),
        ({"bytes": b"i"}, Trigger(bytes=4), [b"data", b"i", b": 1\n\n", TWO]),
    ],
)
def test_where_each_chunk_is_a_record(form, at, body):
    """With `records: chunks`; what is put in is a chunk too, and the content type says how it is written."""
    played = play([Inject(at=at, **form)], [(1.0, ONE), (2.0, TWO), (3.0, End())], kind="chunks")
    assert ([piece for _, piece in played.body], played.records_out) == (body, 3)
    refused = play([Inject(event="i")], [(1.0, ONE), (2.0, End())], kind="chunks", head=PLAIN)
    assert (refused.data, refused.not_fired) == (ONE, [("inject", "format")])


# ---- inside of a record


INSIDE = {
    "an event closes it": ({"event": "i"}, b"data: 1\n\ndata\n\ndata: i\n\n: 2\n\n", 3),
    "a comment closes its line": ({"comment": "i"}, b"data: 1\n\ndata\n: i\n: 2\n\n", 2),
    "bytes stand in it": ({"bytes": b"i"}, b"data: 1\n\ndatai: 2\n\n", 1),
    "bytes may end it": ({"bytes": b"\n\n"}, b"data: 1\n\ndata\n\n: 2\n\n", 2),
}


@pytest.mark.parametrize(("form", "body", "records"), INSIDE.values(), ids=INSIDE)
def test_at_a_byte_it_is_torn(form, body, records):
    for size in (1, 13, 18):
        whole = ONE + TWO
        pieces = [whole[begin : begin + size] for begin in range(0, len(whole), size)]
        played = play([Inject(at=Trigger(bytes=13), **form)], [*((1.0, one) for one in pieces), (2.0, End())])
        assert (played.data, played.records_out) == (body, records)


def test_a_comment_between_two_fields_does_not_end_their_event():
    played = play([Inject(comment="i", at=Trigger(bytes=9))], [(1.0, b"event: a\ndata: 1\n\n"), (2.0, End())])
    assert (played.data, played.records_out) == (b"event: a\n: i\ndata: 1\n\n", 1)


@pytest.mark.parametrize(
    ("at", "time"), [(Trigger(time=1.5), 3.0), (Trigger(idle=0.9), 3.0), (Trigger(chunk=1), 3.0)], ids=repr
)
@pytest.mark.parametrize("form", [{"event": "i"}, {"comment": "i"}])
def test_elsewhere_it_waits_for_the_end_of_the_record(form, at, time):
    script = [(0.5, ONE + b"da"), (2.0, b"ta: 2\n"), (3.0, b"\nda"), (4.0, b"ta: 3\n\n")]
    played = play([Inject(at=at, **form)], script)
    (fired,) = [moment for moment, _, _ in played.fired]
    assert fired == time
    assert b"data: 2\n\n" in played.data
    assert b"data: 3\n\n" in played.data
    assert played.body[:2] == script[:2]


@pytest.mark.parametrize("at", [Trigger(time=1.5), Trigger(chunk=1)], ids=repr)
def test_bytes_do_not_wait(at):
    played = play([Inject(bytes=b"i", at=at)], [(1.0, ONE + b"da"), (2.0, b"ta: 2\n\n")])
    assert played.data == ONE + b"daita: 2\n\n"


def test_what_follows_is_counted_as_it_stands_there_now():
    faults = [Inject(bytes=b"\n\n", at=Trigger(bytes=16)), Cut(at=Trigger(event=3), then=(Ending("clean"),))]
    played = play(faults, [(1.0, ONE), (2.0, TWO), (3.0, THREE), (4.0, ONE)])
    assert played.data == ONE + b"data: 2\n\n\n\n" + THREE


def test_a_byte_order_mark_in_front():
    played = play([Inject(bytes=Hex("efbbbf")), Cut(at=AFTER_ONE, then=(Ending("clean"),))], [(1.0, ONE), (2.0, TWO)])
    assert played.data == b"\xef\xbb\xbf" + ONE


@pytest.mark.parametrize(
    ("at", "body", "records"),
    [
        (Trigger(event=1), b"a\nI\nb", 3),
        (Trigger(event=2), b"a\nb\nI\n", 3),
        (Trigger(moment=Moment.END), b"a\nb\nI\n", 3),
        (Trigger(bytes=3), b"a\nb\nI\n", 3),
    ],
    ids=repr,
)
def test_a_last_line_without_its_line_feed(at, body, records):
    played = play([Inject(line="I", at=at)], [(1.0, b"a\nb"), (2.0, End())], head=LINES)
    assert (played.data, played.records_out) == (body, records)


def test_an_end_of_another_fault_keeps_its_cause():
    faults = [Cut(at=Trigger(event=1), then=(Ending("clean"),)), Inject(line="I", at=AFTER_ONE)]
    assert play(faults, [(1.0, b"a\n"), (2.0, b"b\n")], head=LINES).end_cause == "cut"


# ---- when


def test_nothing_else_is_held_or_cut():
    script = [(1.0, b"data: 1\n"), (2.0, b"\ndata"), (3.0, b": 2\n\nda"), (4.0, b"ta: 3\n\n")]
    played = play([Inject(event="i", at=Trigger(event=2))], script)
    assert played.body == [*script[:2], (3.0, b": 2\n\n"), (3.0, b"data: i\n\n"), (3.0, b"da"), script[3]]


@pytest.mark.parametrize("at", [Trigger(time=0.5), Trigger(time=0.5, every=0.5, times=2)], ids=repr)
def test_before_the_head_there_is_no_body(at):
    played = play([Inject(comment="i", at=at)], [(2.0, SSE), (3.0, ONE)])
    assert played.body[0] == (2.0, b": i\n\n")
    assert len(played.fired) == (at.times or 1)


def test_a_heartbeat():
    played = play(
        [Inject(comment="ka", at=Trigger(idle=10.0, every=10.0))], [(0.0, SSE), (5.0, ONE), (40.0, TWO), (41.0, End())]
    )
    assert [time for time, piece in played.body if piece == b": ka\n\n"] == [15.0, 25.0, 35.0]


def test_a_client_that_takes_nothing_is_not_written_to_for_ever():
    faults = [Inject(comment="ka", at=Trigger(time=1.0, every=1.0))]
    played = play(faults, [(0.5, ONE), (0.6, TWO * 10), (500.0, 10_000), (502.5, End())], room=5, window=20)
    assert played.data.count(b": ka") < 10


# ---- where it does not fire


@pytest.mark.parametrize(
    ("answer", "form", "reason"),
    [
        (PLAIN, {"event": "i"}, "no records"),
        (CODED, {"event": "i"}, "coded body"),
        (CODED, {"json": 1}, "coded body"),
        (LINES, {"event": "i"}, "format"),
        (LINES, {"comment": "i"}, "format"),
        (GRPC, {"json": {}}, "format"),
        (SSE, {"line": "i"}, "format"),
        (SSE, {"message": b"i"}, "format"),
        (PLAIN, {"bytes": b"i", "at": Trigger(event=1)}, "no records"),
        (SSE, {"bytes": b"i", "at": Trigger(event=3)}, "not reached"),
        (ResponseHead(204, framing=Framing.NONE, final=True), {"bytes": b"i"}, "no body"),
        (SSE, {"bytes": b"i", "if_": Condition(status=500)}, "if"),
    ],
)
def test_why_it_did_not_fire(answer, form, reason):
    script = [(1.0, ONE), (2.0, End())] if not answer.final else [(2.0, End())]
    played = play([Inject(**form)], script, head=answer)
    assert played.not_fired == [("inject", reason)]
    assert played.data == (b"" if answer.final else ONE)


@pytest.mark.parametrize("answer", [PLAIN, CODED])
def test_bytes_stand_in_any_body(answer):
    played = play([Inject(bytes=b"i", at=Trigger(bytes=2))], [(1.0, b"abc"), (2.0, End())], head=answer)
    assert played.data == b"abic"


def test_the_length_goes():
    length = ResponseHead(200, ((b"content-length", b"3"),), framing=Framing.LENGTH)
    assert play([Inject(bytes=b"i")], [(1.0, b"abc")], head=length).head[1].framing is Framing.CHUNKED


def test_a_coder_that_stands_before_it_is_refused_unless_bytes_are_put_in():
    text = "version: 1\nfaults:\n  - compress: gzip\n  - inject: {}\n"
    with pytest.raises(ScenarioError, match="reads records"):
        load(text.format("{event: x}"))
    with pytest.raises(ScenarioError, match="reads records"):
        load(text.format("{bytes: x, at: {event: 1}}"))
    assert load(text.format("{bytes: x, at: {bytes: 1}}"))


def test_an_upload():
    request = POST.__class__(
        b"POST", b"/", (*POST.headers, (b"content-type", b"application/jsonl")), framing=Framing.CHUNKED
    )
    script = [(1.0, Upload(b"1\n")), (2.0, Upload(b"2\n")), (3.0, Upload(End()))]
    played = play([Inject(json={"i": 1}, at=AFTER_ONE, way=Way.REQUEST)], script, request=request)
    assert b"".join(one.payload for _, one in played.request if isinstance(one, Data)) == b'1\n{"i":1}\n2\n'


# ---- what every fault must stand; how it is written


@pytest.mark.parametrize(
    "spec",
    [
        Inject(event="i"),
        Inject(comment="i", at=Trigger(bytes=13, every=7)),
        Inject(event="i", at=Trigger(event=1, every=2)),
        Inject(bytes=b"data: \n\n", at=Trigger(bytes=5, every=3)),
        Inject(json={}, at=Trigger(time=0.25, every=0.1)),
        Inject(size=50, at=Trigger(idle=0.05, every=0.2)),
        Inject(event="i", at=Trigger(match="2")),
        Inject(bytes=b"i", at=Trigger(terminal="inside")),
        Inject(event="i", at=Trigger(moment=Moment.END)),
        Inject(bytes=b"i", at=Trigger(bytes=3), way=Way.REQUEST),
    ],
    ids=repr,
)
def test_it_stands_every_script(spec):
    check_fault(spec)


def test_one_that_is_never_reached_or_cannot_stand_there_is_neutral():
    check_fault(Inject(event="i", at=Trigger(event=1000)), neutral=True)
    check_fault(Inject(line="i"), neutral=True)


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("inject: {}", 13, "nothing to put in"),
        ("inject: {at: end}", 13, "nothing to put in"),
        ("inject: {event: a, line: b}", 30, "beside `event`"),
        ("inject: {event: a, at: request}", 28, "no body"),
        ("inject: {event: a, at: after_end}", 28, "no body"),
        ("inject: 5", 13, "string"),
        ("inject: {event: {dat: x}}", 22, "data"),
        ("inject: {event: {}}", 21, "event of nothing"),
        ('inject: {event: {event: "a\\nb"}}', 29, "one line"),
        ('inject: {event: {id: "a\\rb"}}', 26, "one line"),
        ("inject: {event: {retry: -1}}", 29, "0 or more"),
        ('inject: {line: "a\\nb"}', 20, "one line"),
        ("inject: {bytes: {hex: fg}}", 27, "hexadecimal"),
        ('inject: {bytes: ""}', 21, "no bytes"),
        ("inject: {message: {hex: 1}}", 29, "string"),
        ("inject: {size: 0}", 20, "from 1 to 64MiB"),
        ("inject: {size: 65MiB}", 20, "from 1 to 64MiB"),
        ("inject: {json: [1], size: 5}", 31, "object"),
        ("inject: {event: a, comments: b}", 24, "comment"),
    ],
)
def test_what_cannot_be_has_its_place(refused, text, column, words):
    refused(text, column, words)


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("hello", Inject(event="hello")),
        ("{event: {data: {error: x}, id: '1'}}", Inject(event=EventFields(data={"error": "x"}, id="1"))),
        ("{bytes: {hex: 'f0 9f'}, at: {bytes: 3, every: 2}}", Inject(bytes=Hex("f0 9f"), at=Trigger(bytes=3, every=2))),
        ("{message: '', way: request}", Inject(message=b"", way=Way.REQUEST)),
        ("{json: {choices: []}, size: 2KiB}", Inject(json={"choices": []}, size=2048)),
        ("{comment: '', if: {status: 200}}", Inject(comment="", if_=Condition(status=200))),
    ],
)
def test_what_can_be_is_read_and_written(text, spec):
    scenario = load(f"version: 1\nfaults:\n  - inject: {text}\n")
    assert scenario.rules[0].faults == (spec,)
    assert load(dump(scenario)) == scenario


def test_chunks_that_end_while_it_waits_for_a_record_are_met_by_its_end(play):
    """A record in three chunks: each is a place, and the record's end is that of all of them."""
    script = [(0.0, b"da"), (1.0, b"ta"), (2.0, b": 1\n\n"), (3.0, TWO), (4.0, End())]
    played = play([Inject(event="i", at=Trigger(chunk=1, every=1))], script)
    put_in = [(time, detail) for time, _, detail in played.fired]
    assert put_in == [(2.0, "put in an event after chunk 3"), (3.0, "put in an event after chunk 4")]
    assert b"".join(piece for _, piece in played.body) == ONE + b"data: i\n\n" + TWO + b"data: i\n\n"
