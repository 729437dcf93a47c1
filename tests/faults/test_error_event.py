"""`error_event`: where it stands, in whose shape, how the stream ends behind it, and where it cannot stand."""

import json
from dataclasses import replace
from random import Random

import pytest

from chaosproxy.chain.endings import ABORT, Ending
from chaosproxy.chain.fault import Condition, Context
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import Buffer, Cut, ErrorEvent
from chaosproxy.framing.sse import parse
from chaosproxy.model.messages import Abort, Data, End, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Framing, Manner, Moment, Way
from chaosproxy.testing.play import GET, POST, SSE, Upload

TICKS = [(float(number), b"data: %d\n\n" % number) for number in range(1, 9)]
WHOLE = [*TICKS, (9.0, b"data: [DONE]\n\n"), (9.0, End())]
STREAM = b"".join(payload for _, payload in TICKS)
LINES = ResponseHead(200, ((b"content-type", b"application/x-ndjson"),), framing=Framing.CHUNKED)
PLAIN = ResponseHead(200, ((b"content-type", b"text/plain"),), framing=Framing.CHUNKED)
GRPC = ResponseHead(200, ((b"content-type", b"application/grpc"),), framing=Framing.CHUNKED)
CODED = replace(SSE, headers=(*SSE.headers, (b"content-encoding", b"gzip")))
AFTER_THREE = Trigger(event=3)


def asked(path):
    return Context(Random(0), replace(GET, target=path))


def error_in(played, *, behind=b""):
    """The event that was put in behind what the upstream sent, and nothing else."""
    assert played.data.startswith(behind)
    return played.data[len(behind) :]


# ---- the shapes

MESSAGE = "The server had an error while processing your request"
SHAPES = {
    "openai": (b"", {"error": {"message": MESSAGE, "type": "server_error", "param": None, "code": None}}),
    "openai_flat": (b"error", {"type": "error", "code": "server_error", "message": MESSAGE, "param": None}),
    "openai_responses": (
        b"error",
        {"type": "error", "code": "server_error", "message": MESSAGE, "param": None, "sequence_number": 3},
    ),
    "anthropic": (b"error", {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
    "sse": (b"error", {"error": {"message": MESSAGE, "type": "server_error", "param": None, "code": None}}),
}


@pytest.mark.parametrize(("name", "event", "members"), [(name, *shape) for name, shape in SHAPES.items()])
def test_it_comes_right_behind_the_event_at_once_and_then_the_stream_ends_cleanly(play, name, event, members):
    played = play([ErrorEvent(at=AFTER_THREE, format=name)], WHOLE)
    assert played.body[:3] == TICKS[:3]
    time, raw = played.body[3]
    assert (time, len(played.body)) == (3.0, 4)
    said = parse(raw)
    assert (said.event, json.loads(said.data)) == (event, members)
    assert raw.endswith(b"\n\n")
    assert played.end == (3.0, End())
    assert (played.end_cause, played.cancelled_at, played.cancel_cause) == ("error_event", 3.0, "error_event")
    assert played.fired == [(3.0, "error_event", f"clean with an error ({name}) after event 3")]
    assert played.records_out == 4


def test_a_line_for_a_body_of_lines(play):
    script = [(float(number), b'{"n":%d}\n' % number) for number in range(1, 9)]
    played = play([ErrorEvent(at=AFTER_THREE)], script, head=LINES)
    line = error_in(played, behind=b"".join(line for _, line in script[:3]))
    assert line.count(b"\n") == 1
    assert json.loads(line) == {"error": "an error was encountered while running the model"}
    assert played.records_out == 4


GIVEN = {"code": "rate_limit_exceeded", "message": 'too "much",\nüber', "type": "requests"}


@pytest.mark.parametrize(
    ("name", "where"),
    [("openai", "error"), ("openai_flat", ""), ("openai_responses", ""), ("anthropic", "error"), ("sse", "error")],
)
def test_code_message_and_type_stand_in_it(play, name, where):
    _, raw = play([ErrorEvent(at=AFTER_THREE, format=name, **GIVEN)], WHOLE).body[3]
    members = json.loads(parse(raw).data)
    said = members[where] if where else members
    assert {key: said[key] for key in GIVEN} == GIVEN


def test_they_stand_in_a_line_too(play):
    played = play([ErrorEvent(at=Trigger(event=1), **GIVEN)], [(1.0, b"{}\n")], head=LINES)
    assert json.loads(error_in(played, behind=b"{}\n")) == {
        "error": GIVEN["message"],
        "code": GIVEN["code"],
        "type": GIVEN["type"],
    }


def test_a_number_stays_a_number(play):
    _, raw = play([ErrorEvent(at=AFTER_THREE, code=429)], WHOLE).body[3]
    assert json.loads(parse(raw).data)["error"]["code"] == 429


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (b"/v1/chat/completions", "openai"),
        (b"/openai/v1/completions?api-version=1", "openai"),
        (b"/v1/responses/", "openai_responses"),
        (b"/v1/messages?beta=true", "anthropic"),
        (b"/sse", "sse"),
        (b"/completions/elsewhere", "sse"),
    ],
)
def test_without_a_format_it_is_the_shape_of_whoever_is_asked(play, path, name):
    asked_for = play([ErrorEvent(at=AFTER_THREE, format=name)], WHOLE, context=asked(path))
    assert play([ErrorEvent(at=AFTER_THREE)], WHOLE, context=asked(path)).out == asked_for.out


# ---- the places


@pytest.mark.parametrize(
    ("at", "time", "behind"),
    [
        (Trigger(event=1), 1.0, STREAM[:9]),
        (Trigger(moment=Moment.HEADERS), 1.0, b""),
        (Trigger(moment=Moment.BODY), 1.0, b""),
        (Trigger(moment=Moment.END), 9.0, STREAM + b"data: [DONE]\n\n"),
        (Trigger(bytes=18), 2.0, STREAM[:18]),
        (Trigger(chunk=4), 4.0, STREAM[:36]),
        (Trigger(time=4.5), 4.5, STREAM[:36]),
        (Trigger(match="5"), 5.0, STREAM[:36]),
        (Trigger(terminal="before"), 9.0, STREAM),
        (Trigger(terminal="after"), 9.0, STREAM + b"data: [DONE]\n\n"),
    ],
    ids=lambda value: value.place if isinstance(value, Trigger) else "",
)
def test_places_between_events(play, at, time, behind):
    played = play([ErrorEvent(at=at)], WHOLE)
    assert error_in(played, behind=behind).startswith(b"event: error\n")
    assert played.end == (time, End())


def test_before_the_record_that_holds_a_value(play):
    script = [(1.0, b'data: {"a":1}\n\n'), (2.0, b'data: {"a":2}\n\n'), (3.0, End())]
    played = play([ErrorEvent(at=Trigger(json=(("a", 2),)))], script)
    assert error_in(played, behind=script[0][1]).startswith(b"event: error\n")


def test_behind_the_event_in_the_middle_of_a_piece(play):
    played = play([ErrorEvent(at=Trigger(event=2))], [(1.0, STREAM)])
    assert error_in(played, behind=STREAM[:18]).startswith(b"event: error\n")


def test_after_a_silence(play):
    played = play([ErrorEvent(at=Trigger(idle=5.0))], TICKS[:2])
    assert error_in(played, behind=STREAM[:18]).startswith(b"event: error\n")
    assert played.end == (7.0, End())


@pytest.mark.parametrize("at", [Trigger(time=0.5), Trigger(idle=0.5)], ids=lambda at: at.place)
def test_a_time_before_there_is_a_stream_means_as_soon_as_there_is_one(play, at):
    played = play([ErrorEvent(at=at)], [(3.0, SSE), (4.0, TICKS[0][1])])
    assert (played.head[0], played.end) == (3.0, (3.0, End()))
    assert played.data.startswith(b"event: error\n")


INSIDE = {
    "a byte": (Trigger(bytes=15), STREAM[:15], b"\n\n"),
    "a byte at the end of a line": (Trigger(bytes=17), STREAM[:17], b"\n"),
    "the terminal record": (Trigger(terminal="inside"), STREAM + b"data: [DO", b"\n\n"),
}


@pytest.mark.parametrize(("at", "sent", "closing"), INSIDE.values(), ids=INSIDE)
def test_an_event_that_is_not_finished_is_closed_as_it_stands(play, at, sent, closing):
    played = play([ErrorEvent(at=at)], WHOLE)
    assert error_in(played, behind=sent).startswith(closing + b"event: error\n")


def test_a_silence_inside_an_event(play):
    played = play([ErrorEvent(at=Trigger(idle=5.0))], [(1.0, b"data: 1\n\ndata"), (1.5, b": 2")])
    assert error_in(played, behind=b"data: 1\n\ndata: 2").startswith(b"\n\nevent: error\n")


def test_a_last_line_without_its_line_feed(play):
    played = play([ErrorEvent(at=Trigger(event=2))], [(1.0, b"{}\n{}"), (2.0, End())], head=LINES)
    assert error_in(played, behind=b"{}\n{}").startswith(b'\n{"error":')
    assert played.records_out == 3


def test_no_empty_line_between_lines(play):
    """Ollama's client takes an empty line for a broken one."""
    played = play([ErrorEvent(at=Trigger(idle=5.0))], [(1.0, b'{"a":1}\n')], head=LINES)
    assert error_in(played, behind=b'{"a":1}\n').startswith(b'{"error":')


# ---- the ending


@pytest.mark.parametrize(
    ("then", "manner"),
    [
        ((ABORT,), Manner.RESET),
        ((Ending("fin"),), Manner.FIN),
        ((Ending("no_close_notify"), Ending("fin")), Manner.FIN),
    ],
)
def test_another_ending(play, then, manner):
    played = play([ErrorEvent(at=AFTER_THREE, then=then)], WHOLE)
    assert played.body[3][1].startswith(b"event: error\n")
    assert (played.end[0], played.end[1].manner, played.end[1].cause) == (3.0, manner, "error_event")


def test_a_fault_nearer_the_client_may_end_it_all_at_the_error(play):
    played = play([[ErrorEvent(at=AFTER_THREE)], [Cut(at=Trigger(event=4))]], WHOLE)
    assert (played.data[:27], played.end[0], played.end[1].cause) == (STREAM[:27], 3.0, "cut")
    assert [(fault, detail) for _, fault, detail in played.fired] == [
        ("cut", "abort after event 4"),
        ("error_event", "with an error (sse) after event 3"),
    ]
    assert played.not_fired == []


def test_a_client_that_leaves_before_it_has_seen_none(play):
    played = play([ErrorEvent(at=AFTER_THREE)], [*TICKS[:2], (2.5, "hangup"), *TICKS[2:]])
    assert (played.data, played.not_fired) == (STREAM[:18], [("error_event", "not reached")])


def test_a_goaway_that_the_stream_survives_lets_it_run_on_and_fail_again(play):
    goaway = Ending("goaway", code=0, last="max")
    fault = ErrorEvent(at=Trigger(bytes=13, every=27, times=2), format="openai_responses", then=(goaway,))
    played = play([fault], WHOLE, context=replace(asked(b"/"), protocol="h2"))
    pieces = played.data.split(b"event: error\n")
    assert [len(piece) for piece in pieces[:1]] == [15]
    assert pieces[0] == STREAM[:13] + b"\n\n"
    numbers = [json.loads(piece.split(b"\n")[0].removeprefix(b"data: "))["sequence_number"] for piece in pieces[1:]]
    assert numbers == [1, 5]
    assert played.end == (9.0, End())


def test_the_length_goes_so_that_the_end_can_be_clean(play):
    head = replace(SSE, headers=(*SSE.headers, (b"content-length", b"500")), framing=Framing.LENGTH)
    played = play([ErrorEvent(at=AFTER_THREE)], TICKS, head=head)
    assert played.head[1] == SSE.__class__(200, SSE.headers, b"OK", Framing.CHUNKED)
    assert played.end == (3.0, End())


def test_a_fault_nearer_the_client_counts_it(play):
    (first, _), *_ = play([[ErrorEvent(at=AFTER_THREE, then=(Ending("silence"),))], [Buffer(events=4)]], WHOLE).body
    assert first == 3.0


def test_what_a_buffer_holds_in_front_leaves_before_it(play):
    played = play([[ErrorEvent(at=AFTER_THREE)], [Buffer(bytes=4096)]], WHOLE)
    ((time, body),) = played.body
    assert time == 3.0
    assert body.startswith(STREAM[:27] + b"event: error\n")


def test_trailers_are_left_out_behind_it(play):
    played = play(
        [ErrorEvent(at=Trigger(moment=Moment.END))],
        [(1.0, b"data: 1\n\n"), (2.0, Trailers(((b"a", b"b"),))), (2.0, End())],
    )
    assert not [event for _, event in played.out if isinstance(event, Trailers)]
    assert played.end == (2.0, End())


# ---- where it does not fire


@pytest.mark.parametrize(
    ("head", "format_", "reason"),
    [
        (PLAIN, None, "no records"),
        (CODED, None, "coded body"),
        (GRPC, None, "format"),
        (LINES, "openai", "format"),
        (SSE, "ndjson", "format"),
        (replace(SSE, final=True), None, "no records"),
    ],
)
@pytest.mark.parametrize("at", [Trigger(bytes=3), Trigger(event=1), Trigger(match="."), Trigger(time=0.1)])
def test_a_body_that_cannot_hold_it_passes_untouched(play, head, format_, reason, at):
    script = [(1.0, End())] if head.final else [(1.0, b"\0\0\0\0\1{}\n\n"), (2.0, End())]
    played = play([ErrorEvent(at=at, format=format_)], script, head=head)
    assert played.not_fired == [("error_event", reason)]
    assert played.data == b"".join(what for _, what in script[:-1])
    assert played.end[1] == End()


def test_not_reached(play):
    played = play([ErrorEvent(at=Trigger(event=30))], WHOLE)
    assert played.not_fired == [("error_event", "not reached")]
    assert played.data == STREAM + b"data: [DONE]\n\n"


def test_if(play):
    played = play([ErrorEvent(at=AFTER_THREE, if_=Condition(status=500))], WHOLE)
    assert played.not_fired == [("error_event", "if")]


def test_records_that_the_scenario_forces(play):
    assert b"event: error" in play([ErrorEvent(at=AFTER_THREE)], WHOLE, head=PLAIN, kind="sse").data
    assert b"event: error" in play([ErrorEvent(at=AFTER_THREE)], WHOLE, kind="chunks").data
    assert play([ErrorEvent(at=AFTER_THREE)], WHOLE, head=PLAIN, kind="chunks").not_fired == [("error_event", "format")]


# ---- the request

UPLOAD = replace(POST, headers=(*POST.headers, (b"content-type", b"application/x-ndjson")))


def uploaded(played):
    return b"".join(event.payload for _, event in played.request if isinstance(event, Data))


@pytest.mark.parametrize("at", [Trigger(event=2), Trigger(bytes=6), Trigger(match="3")], ids=lambda at: at.place)
def test_an_upload_ends_cleanly_behind_it_and_is_answered(play, at):
    script = [
        *((float(number), Upload(b"%d\n\n" % number)) for number in range(1, 5)),
        (5.0, Upload(End())),
        *((6.0, one) for _, one in TICKS[:1]),
        (7.0, End()),
    ]
    played = play([ErrorEvent(at=at, way=Way.REQUEST)], script, request=UPLOAD)
    assert uploaded(played).startswith(b"1\n\n2\n")
    assert json.loads(uploaded(played).splitlines()[-1])["error"]
    assert played.request[-1] == (3.0 if at.match else 2.0, End())
    assert (played.data, played.end, played.cancelled_at) == (TICKS[0][1], (7.0, End()), None)
    assert [detail for _, _, detail in played.fired] == [f"clean with an error (ndjson) {at.place}"]


def test_an_upload_that_breaks_off_behind_it(play):
    script = [(1.0, Upload(b"1\n")), (2.0, Upload(b"2\n")), (3.0, Upload(End()))]
    played = play([ErrorEvent(at=Trigger(event=1), way=Way.REQUEST, then=(ABORT,))], script, request=UPLOAD)
    assert uploaded(played).startswith(b'1\n{"error":')
    assert not any(isinstance(event, End) for _, event in played.request)
    assert isinstance(played.end[1], Abort)
    assert played.cancelled_at == 1.0
