"""The table of endings: what each becomes, where it is possible, and what is taken where it is not."""

from dataclasses import dataclass
from random import Random
from typing import ClassVar

import pytest

from chaosproxy.chain.actions import FOREVER, Finish, Rest
from chaosproxy.chain.endings import ABORT, Ending
from chaosproxy.chain.fault import Context, Fault, FaultSpec
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import Cut
from chaosproxy.model.messages import Abort, Data, End, Goaway, RequestHead, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Framing, Manner, Moment, Peer, Scope, Way
from chaosproxy.testing.play import GET, POST, SSE, Upload

TICKS = [(float(number), b"data: %d\n\n" % number) for number in range(1, 6)]
WHOLE = [*TICKS, (9.0, End())]
HEAD = RequestHead(b"HEAD", b"/", final=True)
LENGTH = ResponseHead(
    200, ((b"content-length", b"18"), (b"content-type", b"text/event-stream")), framing=Framing.LENGTH
)
GRPC = ResponseHead(200, ((b"content-type", b"application/grpc+proto"),), framing=Framing.STREAM)
HEADERS = ((b"retry-after", b"3"),)


def knowing(request=GET, **facts):
    return Context(Random(0), request, **facts)


def cut(*then, **at):
    return [Cut(at=Trigger(**(at or {"event": 2})), then=then)]


def aborted(scope, manner, code=0x2, last=0):
    return Abort("cut", Peer.PROXY, scope, manner, code, last)


@pytest.mark.parametrize(
    ("ending", "terminal"),
    [
        (ABORT, aborted(Scope.STREAM, Manner.RESET)),
        (Ending("clean"), End()),
        (Ending("fin"), aborted(Scope.CONNECTION, Manner.FIN)),
        (Ending("rst"), aborted(Scope.CONNECTION, Manner.RESET)),
        (Ending("fin_mid_chunk"), aborted(Scope.STREAM, Manner.MID_CHUNK)),
        (Ending("no_close_notify"), aborted(Scope.CONNECTION, Manner.NO_CLOSE_NOTIFY)),
        (Ending("stream", 0x8), aborted(Scope.STREAM, Manner.RESET, 0x8)),
        (Ending("goaway", 0x1), aborted(Scope.CONNECTION, Manner.GOAWAY, 0x1)),
        (Ending("silence"), aborted(Scope.STREAM, Manner.SILENCE)),
    ],
    ids=lambda value: value.kind if isinstance(value, Ending) else "",
)
def test_what_each_becomes(play, ending, terminal):
    played = play(cut(ending), WHOLE, context=knowing(tls=True))
    assert played.end == (2.0, terminal)
    assert played.data == b"data: 1\n\ndata: 2\n\n"
    assert played.fired == [(2.0, "cut", f"{ending} after event 2")]
    assert played.cancelled_at == 2.0


def test_nothing_to_choose_from_is_an_abort(play):
    assert play(cut(), WHOLE).end[1] == aborted(Scope.STREAM, Manner.RESET)


def test_the_first_that_is_possible_is_taken(play):
    then = (Ending("no_close_notify"), Ending("status"), Ending("rst"), Ending("fin"))
    assert play(cut(*then), WHOLE).end[1].manner is Manner.RESET
    assert play(cut(*then), WHOLE, context=knowing(tls=True)).end[1].manner is Manner.NO_CLOSE_NOTIFY


def test_without_tls_there_is_no_alert_to_leave_out(play):
    assert play(cut(Ending("no_close_notify")), WHOLE).end[1] == aborted(Scope.STREAM, Manner.RESET)


# ---- clean


@pytest.mark.parametrize(("event", "kind"), [(1, Abort), (2, End)])
def test_a_length_that_is_not_reached_cannot_end_cleanly(play, event, kind):
    script = [*TICKS[:2], (9.0, End())]
    assert isinstance(play(cut(Ending("clean"), event=event), script, head=LENGTH).end[1], kind)


def test_end_stream_is_a_clean_end_on_http2_whatever_was_promised(play):
    script, then = [*TICKS[:2], (9.0, End())], (Ending("end_stream"), Ending("rst"))
    played = play(cut(*then, event=1), script, head=LENGTH, context=knowing(protocol="h2"))
    assert (played.end, played.end_cause, played.data) == ((1.0, End()), "cut", b"data: 1\n\n")
    assert play(cut(*then, event=1), script, head=LENGTH).end[1].manner is Manner.RESET, "HTTP/1 has none"
    early = play(cut(Ending("end_stream"), time=0.5), WHOLE, context=knowing(protocol="h2"))
    assert isinstance(early.end[1], Abort), "nor is there one in front of the head"


def test_what_is_held_back_has_not_been_sent_so_the_length_is_not_reached(play):
    played = play(cut(Ending("clean"), match="2"), [*TICKS[:2], (9.0, End())], head=LENGTH)
    assert played.data == b"data: 1\n\n"
    assert isinstance(played.end[1], Abort)


def test_where_the_length_was_taken_out_it_can(play):
    head = ResponseHead(200, LENGTH.headers, framing=Framing.CHUNKED)
    assert isinstance(play(cut(Ending("clean"), event=1), WHOLE, head=head).end[1], End)


def test_an_answer_without_a_body_reaches_its_length(play):
    head = ResponseHead(200, LENGTH.headers, framing=Framing.LENGTH, final=True)
    played = play(cut(Ending("clean"), moment=Moment.END), [(1.0, End())], head=head, request=HEAD)
    assert (played.end, played.end_cause) == ((1.0, End()), "cut")


def test_before_the_head_nothing_can_end_cleanly(play):
    assert isinstance(play(cut(Ending("clean"), time=0.5), WHOLE).end[1], Abort)


def test_grpc_ends_with_its_status_on_http2(play):
    script = [(1.0, b"\0\0\0\0\1x"), (2.0, b"\0\0\0\0\1y")]
    played = play(cut(Ending("clean")), script, head=GRPC, context=knowing(protocol="h2"))
    assert [event for _, event in played.out[-2:]] == [Trailers(((b"grpc-status", b"0"),)), End()]
    played = play(cut(Ending("clean")), script, head=GRPC)
    assert [type(event) for _, event in played.out[-2:]] == [Data, End]


def test_a_cut_of_the_request_knows_how_far_the_answer_has_come(play):
    stop = [Cut(at=Trigger(bytes=1), way=Way.REQUEST, then=(Ending("clean"),))]
    early = [(1.0, LENGTH), (1.0, TICKS[0][1]), (1.5, Upload(b"x"))]
    assert isinstance(play(stop, early, request=POST).end[1], Abort)
    whole = [(1.0, LENGTH), (1.0, TICKS[0][1]), (1.2, TICKS[1][1]), (1.5, Upload(b"x"))]
    assert isinstance(play(stop, whole, request=POST).end[1], End)


# ---- a status instead


def test_a_status_is_an_answer_while_no_head_has_passed(play):
    ending = Ending("status", status=503, body=b"busy", headers=HEADERS)
    played = play(cut(ending, time=0.5), WHOLE)
    assert played.out == [
        (0.5, ResponseHead(503, (*HEADERS, (b"content-length", b"4")), framing=Framing.LENGTH)),
        (0.5, Data(b"busy")),
        (0.5, End()),
    ]
    assert (played.end_cause, played.cancelled_at) == ("cut", 0.5)


def test_a_status_is_impossible_once_the_head_has_passed_this_place(play):
    assert isinstance(play(cut(Ending("status"), moment=Moment.HEADERS), WHOLE).end[1], Abort)


@pytest.mark.parametrize(("status", "request_", "length"), [(204, GET, None), (304, GET, None), (504, HEAD, b"4")])
def test_no_body_where_none_may_stand(play, status, request_, length):
    ending = Ending("status", status=status, body=b"text")
    played = play(cut(ending, time=0.5), [], request=request_, context=knowing(request_))
    assert played.data == b""
    assert dict(played.head[1].headers).get(b"content-length") == length
    assert played.head[1].final


def test_a_place_that_is_over_cannot_end_again(play):
    faults = cut(Ending("rst"), time=9.5)
    assert isinstance(play(faults, [*TICKS, (9.0, End())]).end[1], End)


# ---- in the middle of a chunk


def test_the_chunk_the_cut_falls_into_keeps_the_size_it_announces(play):
    played = play(cut(Ending("fin_mid_chunk"), bytes=12), TICKS)
    sizes = [(len(event.payload), event.size) for _, event in played.out if isinstance(event, Data)]
    assert sizes == [(9, None), (3, 9)]


@pytest.mark.parametrize(("at", "sizes"), [({"terminal": "inside"}, [(18, 23)]), ({"match": "DONE"}, [(9, 23)])])
def test_so_does_one_that_had_to_be_read_for_it(play, at, sizes):
    played = play(cut(Ending("fin_mid_chunk"), **at), [(1.0, b"data: 1\n\ndata: [DONE]\n\n"), (2.0, End())])
    assert [(len(event.payload), event.size) for _, event in played.out if isinstance(event, Data)] == sizes


def test_a_chunk_that_is_not_broken_announces_what_it_is(play):
    script = [(1.0, b"data: 1\n\ndata: [DONE]\n\n"), (2.0, End())]
    for ending in (Ending("rst"), Ending("goaway", last="max")):
        played = play(cut(ending, match="DONE"), script, context=knowing(protocol="h2", stream=1))
        assert {event.size for _, event in played.out if isinstance(event, Data)} == {None}


@pytest.mark.parametrize(("head", "facts"), [(SSE, {"protocol": "h2"}), (LENGTH, {})])
def test_there_is_no_chunk_to_break_on_http2_and_with_a_length(play, head, facts):
    played = play(cut(Ending("fin_mid_chunk"), bytes=12), TICKS, head=head, context=knowing(**facts))
    assert [event.size for _, event in played.out if isinstance(event, Data)] == [None, None]


# ---- GOAWAY


@pytest.mark.parametrize(
    ("last", "number", "survives"),
    [("0", 0, False), ("first", 3, False), ("current", 7, True), ("max", 2**31 - 1, True)],
)
def test_a_goaway_leaves_the_streams_up_to_its_last_alive(play, last, number, survives):
    context = knowing(protocol="h2", stream=7, first_stream=3)
    played = play(cut(Ending("goaway", 0x1, last)), WHOLE, context=context)
    if survives:
        assert [event for _, event in played.out if isinstance(event, Goaway)] == [Goaway(0x1, number)]
        assert (played.data, played.end) == (b"".join(data for _, data in TICKS), (9.0, End()))
        assert played.cancelled_at is None
    else:
        assert played.end == (2.0, aborted(Scope.CONNECTION, Manner.GOAWAY, 0x1, number))


def test_on_http1_no_stream_survives_a_goaway(play):
    assert play(cut(Ending("goaway", last="max")), WHOLE).end[0] == 2.0


class Early(Fault):
    """Sends a head of its own when the request is complete, swallows the upstream's, and ends at the second event."""

    rest = FOREVER

    def request_end(self, now):
        return (ResponseHead(200, ((b"content-type", b"text/event-stream"),), framing=Framing.CHUNKED), Rest(records=2))

    def control(self, event, now):
        return () if isinstance(event, ResponseHead) else (event,)

    def reached(self, limit, now):
        return (FOREVER, Finish((Ending("clean"),), "early"))


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlyHead(FaultSpec):
    name: ClassVar[str] = "early"

    def start(self, context):
        return Early()


def test_whether_an_answer_can_end_clean_is_a_matter_of_the_head_that_has_gone_out(play):
    """The length of the upstream's head, which was swallowed, was never promised to the client."""
    sized = ResponseHead(200, ((b"content-type", b"text/event-stream"), (b"content-length", b"99")))
    played = play([EarlyHead()], [(1.0, b"data: 1\n\n"), (2.0, b"data: 2\n\n"), (3.0, b"data: 3\n\n")], head=sized)
    assert played.head[0] == 0.0
    assert played.body == [(1.0, b"data: 1\n\n"), (2.0, b"data: 2\n\n")]
    assert (played.end, played.end_cause, played.cancelled_at) == ((2.0, End()), "early", 2.0)
