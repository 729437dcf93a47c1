"""`grpc_status`: where the call ends, in which form its status is written, and where there is no place for one."""

import base64
from dataclasses import replace
from random import Random

import pytest

from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Context
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import Cut, GrpcStatus, Strip
from chaosproxy.model.messages import Data, End, RequestHead, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Framing, Moment
from chaosproxy.testing.play import SSE

CALL = RequestHead(
    b"POST", b"/chaos.Echo/Count", ((b"content-type", b"application/grpc"), (b"te", b"trailers")), final=True
)
CONTEXT = Context(Random(0), CALL, protocol="h2")
MESSAGE = b"\x00\x00\x00\x00\x05hello"
OK = Trailers(((b"grpc-status", b"0"),))
CALLED = [*((float(number), MESSAGE) for number in range(1, 6)), (6.0, OK), (6.0, End())]


def head_of(kind):
    return ResponseHead(200, ((b"content-type", kind),), framing=Framing.STREAM)


GRPC = head_of(b"application/grpc+proto")
WEB = head_of(b"application/grpc-web+proto")


@pytest.fixture
def called(play):
    """Play a call that a fault ends."""

    def run(spec, script=CALLED, *, head=GRPC, request=CALL, protocol="h2"):
        context = Context(Random(0), request, protocol=protocol)
        faults = spec if isinstance(spec, list) else [spec]
        return play(faults, script, head=head, request=request, context=context)

    return run


def trailers(played):
    return [(time, event.headers) for time, event in played.out if isinstance(event, Trailers)]


def test_right_behind_the_message_and_the_upstream_is_told(called):
    played = called(GrpcStatus(at=Trigger(event=3), code="RESOURCE_EXHAUSTED", message="100 %, ümlaut"))
    assert played.body == [(1.0, MESSAGE), (2.0, MESSAGE), (3.0, MESSAGE)]
    said = ((b"grpc-status", b"8"), (b"grpc-message", b"100 %25, %C3%BCmlaut"))
    assert trailers(played) == [(3.0, said)]
    assert played.end == (3.0, End())
    assert (played.end_cause, played.cancelled_at, played.cancel_cause) == ("grpc_status", 3.0, "grpc_status")
    assert played.fired == [(3.0, "grpc_status", "clean with RESOURCE_EXHAUSTED after event 3")]


def test_in_the_place_of_the_status_that_the_upstream_gives(called):
    played = called(GrpcStatus(at=Trigger(moment=Moment.END), code="DATA_LOSS"))
    assert len(played.body) == 5
    assert trailers(played) == [(6.0, ((b"grpc-status", b"15"),))]
    for place in ("before", "inside"):
        again = called(GrpcStatus(at=Trigger(terminal=place), code="DATA_LOSS"))
        assert (again.body, trailers(again)) == (played.body, trailers(played))


def test_a_number_that_is_no_status(called):
    played = called(GrpcStatus(at=Trigger(event=1), code=99))
    assert trailers(played) == [(1.0, ((b"grpc-status", b"99"),))]
    assert played.fired == [(1.0, "grpc_status", "clean with 99 after event 1")]


def test_details_are_what_a_library_reads(called):
    """`google.rpc.Status`, as protoc writes it (its bytes are taken from there)."""
    played = called(GrpcStatus(at=Trigger(event=1), code="ABORTED", message="no", details="lock 7"))
    ((_, fields),) = trailers(played)
    coded = dict(fields)[b"grpc-status-details-bin"]
    assert not coded.endswith(b"=")
    status = base64.b64decode(coded + b"=" * (-len(coded) % 4))
    debug = b"\x12\x06lock 7"
    any_ = b"\x0a\x28type.googleapis.com/google.rpc.DebugInfo\x12\x08" + debug
    assert status == b"\x08\x0a\x12\x02no\x1a" + bytes((len(any_),)) + any_


def test_details_may_be_long(called):
    """What is longer than 127 bytes has its length in two."""
    played = called(GrpcStatus(at=Trigger(event=1), code="ABORTED", message="no", details="x" * 200))
    ((_, fields),) = trailers(played)
    coded = dict(fields)[b"grpc-status-details-bin"]
    debug = b"\x12\xc8\x01" + b"x" * 200
    any_ = b"\x0a\x28type.googleapis.com/google.rpc.DebugInfo\x12\xcb\x01" + debug
    assert base64.b64decode(coded + b"=" * (-len(coded) % 4)) == b"\x08\x0a\x12\x02no\x1a\xf8\x01" + any_


@pytest.mark.parametrize(
    ("at", "time"),
    [
        (Trigger(moment=Moment.REQUEST), 0.0),
        (Trigger(moment=Moment.REQUEST_END), 0.0),
        (Trigger(time=0.5), 0.5),
        (Trigger(idle=0.5), 0.5),
    ],
)
def test_without_a_head_the_answer_is_nothing_but_its_trailers(called, at, time):
    late = [(2.0, GRPC), *((2 + then, what) for then, what in CALLED)]
    played = called(GrpcStatus(at=at, message="gone"), late, head=None)
    fields = ((b"content-type", b"application/grpc"), (b"grpc-status", b"14"), (b"grpc-message", b"gone"))
    assert played.head == (time, ResponseHead(200, fields, final=True))
    assert (played.body, trailers(played), played.end) == ([], [], (time, End()))
    assert played.fired == [(time, "grpc_status", f"answered with UNAVAILABLE {at.place}")]
    assert (played.request == []) is (time == 0.0)


def test_behind_the_head_there_are_two_blocks(called):
    played = called(GrpcStatus(at=Trigger(moment=Moment.HEADERS)))
    assert played.head is not None
    assert played.head[1].final is False
    assert (played.body, [fields for _, fields in trailers(played)]) == ([], [((b"grpc-status", b"14"),)])


def test_inside_a_message_what_was_left_of_it_is_gone(called):
    played = called(GrpcStatus(at=Trigger(bytes=len(MESSAGE) + 3), code="OK"))
    assert played.data == MESSAGE + MESSAGE[:3]
    assert trailers(played) == [(2.0, OK.headers)]


@pytest.mark.parametrize("protocol", ["h2", "http/1.1"])
def test_of_grpc_web_the_trailers_are_the_last_frame_of_the_body(called, protocol):
    played = called(GrpcStatus(at=Trigger(event=2), message="no"), CALLED[:5], head=WEB, protocol=protocol)
    block = b"grpc-status: 14\r\ngrpc-message: no\r\n"
    assert played.data == MESSAGE * 2 + b"\x80" + len(block).to_bytes(4, "big") + block
    assert (trailers(played), played.end) == ([], (2.0, End()))
    assert played.records_out == 2


def test_of_its_text_form_in_base64(called):
    text = [(1.0, base64.b64encode(MESSAGE)), (9.0, End())]
    played = called(GrpcStatus(at=Trigger(time=2.0)), text, head=head_of(b"application/grpc-web-text"))
    last = played.body[-1]
    block = b"grpc-status: 14\r\n"
    assert last == (2.0, base64.b64encode(b"\x80" + len(block).to_bytes(4, "big") + block))


def test_over_http_1_an_answer_without_a_body_has_its_length(called):
    asked = replace(CALL, headers=((b"content-type", b"application/grpc-web+proto"),))
    played = called(GrpcStatus(at=Trigger(moment=Moment.REQUEST_END)), request=asked, protocol="http/1.1")
    assert played.head is not None
    assert (b"content-length", b"0") in played.head[1].headers


def test_what_is_no_call_goes_on(play):
    script = [(1.0, b"data: 1\n\n"), (2.0, b"data: 2\n\n"), (2.0, End())]
    played = play([GrpcStatus(at=Trigger(event=1))], script, head=SSE)
    assert played.body == script[:2]
    assert played.not_fired == [("grpc_status", "format")]


def test_a_call_that_failed_at_once_has_its_status_already(called):
    failed = ResponseHead(200, ((b"content-type", b"application/grpc"), (b"grpc-status", b"5")), final=True)
    played = called(GrpcStatus(at=Trigger(moment=Moment.HEADERS)), [(0.0, End())], head=failed)
    assert played.head is not None
    assert (played.head[1].headers, played.body, trailers(played)) == (failed.headers, [], [])
    assert played.not_fired == [("grpc_status", "head sent")]


def test_a_cut_that_ends_well_has_a_status_in_trailers_only_where_it_belongs_there(called):
    clean = Cut(at=Trigger(event=2), then=(Ending("clean"),))
    assert trailers(called(clean)) == [(2.0, OK.headers)]
    assert trailers(called(clean, CALLED[:5], head=WEB)) == []


def test_a_status_that_a_hop_nearer_the_client_takes_away(called):
    cut = Cut(at=Trigger(event=2), then=(Ending("clean"),))
    played = called([cut, Strip(what=("trailers",))])
    assert (len(played.body), trailers(played), played.end) == (2, [], (2.0, End()))
    assert all(isinstance(event, ResponseHead | Data | End) for _, event in played.out)


def test_what_cannot_be_said(refused):
    refused("grpc_status: UNAVAILABLE", 18, "`at` is required")
    refused("grpc_status: {at: {event: 1}, code: UNAVAILBLE}", 41, "did you mean 'UNAVAILABLE'?")
    refused("grpc_status: {at: after_end}", 23, "`end` is right before it")
    refused("grpc_status: {at: {event: 1, every: 2}}", 41, "a call ends once")
