"""`replace_body`: the head passes, another body stands behind it, and the upstream is not waited for."""

import pytest

from chaosproxy.chain.endings import ABORT, Ending
from chaosproxy.chain.fault import Condition
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import Cut, ReplaceBody
from chaosproxy.faults.octets import Hex
from chaosproxy.faults.written import EventFields
from chaosproxy.model.messages import Abort, Data, End, ResponseHead
from chaosproxy.model.vocabulary import Framing, Manner, Way
from chaosproxy.scenario.dump import dump
from chaosproxy.scenario.load import load
from chaosproxy.testing import check_fault
from chaosproxy.testing.play import POST, SSE, Upload, play


def head(kind, *more):
    return ResponseHead(200, ((b"content-type", kind), *more), framing=Framing.CHUNKED)


LINES, GRPC, PLAIN = head(b"application/x-ndjson"), head(b"application/grpc"), head(b"text/plain")
CODED = head(b"text/event-stream", (b"content-encoding", b"gzip"))
FAILED = EventFields(event="error", data={"error": {"message": "out of memory"}})

BODIES = {
    "text": (SSE, {"events": ("gone",)}, [b"data: gone\n\n"], "1 event"),
    "fields": (
        SSE,
        {"events": (FAILED, "x")},
        [b'event: error\ndata: {"error":{"message":"out of memory"}}\n\n', b"data: x\n\n"],
        "2 events",
    ),
    "lines": (
        LINES,
        {"events": (EventFields(data={"error": "gone"}), '{"done":true}')},
        [b'{"error":"gone"}\n', b'{"done":true}\n'],
        "2 events",
    ),
    "bytes in events": (SSE, {"bytes": b"data: 1\n\ndata: 2\n\n"}, [b"data: 1\n\ndata: 2\n\n"], "18 bytes"),
    "bytes in anything": (PLAIN, {"bytes": Hex("00 ff")}, [b"\0\xff"], "2 bytes"),
    "bytes in coded": (CODED, {"bytes": b"x"}, [b"x"], "1 byte"),
    "nothing": (SSE, {"bytes": b""}, [], "0 bytes"),
}


@pytest.mark.parametrize(("answer", "how", "pieces", "what"), BODIES.values(), ids=BODIES)
def test_what_stands_there(answer, how, pieces, what):
    """With the head, though the upstream has said nothing more yet."""
    played = play([ReplaceBody(**how)], [(1.0, answer), (5.0, b"data: late\n\n"), (6.0, End())])
    assert played.head[0] == 1.0
    assert played.body == [(1.0, piece) for piece in pieces]
    assert (played.end, played.end_cause, played.cancelled_at) == ((1.0, End()), "replace_body", 1.0)
    assert played.fired == [(1.0, "replace_body", f"clean with {what} in place of the body")]
    assert played.records_out == play([], [(1.0, played.data), (2.0, End())], head=answer).records_in


def test_how_it_ends():
    events = ("gone",)
    played = play([ReplaceBody(events=events, then=(ABORT,))], [(1.0, SSE)])
    assert (played.data, isinstance(played.end[1], Abort)) == (b"data: gone\n\n", True)
    assert play([ReplaceBody(events=events, then=(Ending("silence"),))], [(1.0, SSE)]).end[1].manner is Manner.SILENCE
    late = (Ending("status", status=504), Ending("rst"))  # a head has gone out: the second is the first that can be
    assert play([ReplaceBody(events=events, then=late)], [(1.0, SSE)]).fired[0][2].startswith("rst ")


def test_the_length_goes():
    length = ResponseHead(
        200, ((b"content-type", b"text/event-stream"), (b"content-length", b"9")), framing=Framing.LENGTH
    )
    played = play([ReplaceBody(events=("x",))], [(1.0, length), (1.0, b"data: 1\n\n")])
    assert played.head[1].framing is Framing.CHUNKED


def test_an_ending_of_another_fault_inside_of_it():
    faults = [ReplaceBody(events=("1", "2", "3"), then=(ABORT,)), Cut(at=Trigger(event=2), then=(Ending("clean"),))]
    played = play(faults, [(1.0, SSE)])
    assert (played.data, played.end_cause) == (b"data: 1\n\ndata: 2\n\n", "cut")
    assert sorted(fault for _, fault, _ in played.fired) == ["cut", "replace_body"]


@pytest.mark.parametrize(
    ("answer", "how", "reason"),
    [
        (PLAIN, {"events": ("x",)}, "no records"),
        (CODED, {"events": ("x",)}, "coded body"),
        (GRPC, {"events": ("x",)}, "format"),
        (LINES, {"events": (FAILED,)}, "format"),
        (LINES, {"events": ("a\nb",)}, "format"),
        (SSE, {"events": ("x",), "if_": Condition(status=500)}, "if"),
        (ResponseHead(204, framing=Framing.NONE, final=True), {"bytes": b"x"}, "no body"),
    ],
)
def test_why_it_did_not_fire(answer, how, reason):
    script = [(2.0, End())] if answer.final else [(1.0, b"1\n"), (2.0, End())]
    played = play([ReplaceBody(**how)], script, head=answer)
    assert (played.data, played.end) == (b"" if answer.final else b"1\n", (2.0, End()))
    assert played.not_fired == [("replace_body", reason)]


def test_an_upload():
    """The upstream gets another one, and answers it; what the client still says is for nobody."""
    script = [
        (0.5, Upload(b"hello")), (1.0, Upload(b"world")), (1.5, Upload(End())), (2.0, b"data: 1\n\n"), (2.0, End()),
    ]  # fmt: skip
    played = play([ReplaceBody(bytes=b"other", way=Way.REQUEST)], script, request=POST)
    assert [event for _, event in played.request[1:]] == [Data(b"other"), End()]
    assert played.data == b"data: 1\n\n"
    assert played.fired == [(0.0, "replace_body", "clean with 5 bytes in place of the body")]


@pytest.mark.parametrize(
    "spec",
    [
        ReplaceBody(events=("gone",)),
        ReplaceBody(events=("gone", FAILED), then=(ABORT,)),
        ReplaceBody(bytes=b"gone", then=(Ending("silence"),)),
        ReplaceBody(bytes=b"gone", way=Way.REQUEST),
        ReplaceBody(bytes=b"gone", way=Way.REQUEST, then=(Ending("rst"),)),
    ],
    ids=repr,
)
def test_it_stands_every_script(spec):
    check_fault(spec)


def test_where_it_cannot_stand_it_is_neutral():
    check_fault(ReplaceBody(events=("x",), if_=Condition(status=500)), neutral=True)


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("replace_body: {}", 19, "nothing to put there"),
        ("replace_body: []", 19, "nothing to put there"),
        ("replace_body: {events: a, bytes: b}", 38, "beside `events`"),
        ("replace_body: {bytes: {hex: 0}}", 33, "string"),
        ('replace_body: {bytes: {hex: "0"}}', 33, "hexadecimal"),
        ("replace_body: {events: [{}]}", 28, "event of nothing"),
        ('replace_body: {events: [{id: "a\\nb"}]}', 28, "one line"),
        ("replace_body: {events: [{dta: x}]}", 30, "data"),
        ("replace_body: {events: a, then: cleanly}", 37, "clean"),
        ("replace_body: {events: a, at: end}", 31, "at"),
    ],
)
def test_what_cannot_be_has_its_place(refused, text, column, words):
    refused(text, column, words)


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("gone", ReplaceBody(events=("gone",))),
        ("[a, {data: {error: x}}]", ReplaceBody(events=("a", EventFields(data={"error": "x"})))),
        ("{events: {event: error, data: x}, then: [rst]}",
         ReplaceBody(events=(EventFields(event="error", data="x"),), then=(Ending("rst"),))),
        ("{bytes: '<html>', if: {status: 200}}", ReplaceBody(bytes=b"<html>", if_=Condition(status=200))),
        ("{bytes: {hex: '00'}, way: request}", ReplaceBody(bytes=Hex("00"), way=Way.REQUEST)),
    ],
)  # fmt: skip
def test_what_can_be_is_read_and_written(text, spec):
    scenario = load(f"version: 1\nfaults:\n  - replace_body: {text}\n")
    assert scenario.rules[0].faults == (spec,)
    assert load(dump(scenario)) == scenario
