"""When a fault acts: moments, times, silence, repeats; what must be read for it is held no longer than that takes."""

import pytest

from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Condition
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import Buffer, Cut
from chaosproxy.model.messages import Abort, Data, End, RequestHead, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Framing, Moment, Peer
from chaosproxy.testing.play import POST, SSE, Upload

TICKS = [(float(number), b"data: %d\n\n" % number) for number in range(1, 8)]
WHOLE = [*TICKS, (9.0, End())]
GRPC = ResponseHead(200, ((b"content-type", b"application/grpc"),), framing=Framing.STREAM)


def cut(**at):
    return [Cut(at=Trigger(**at), then=(Ending("rst"),))]


@pytest.mark.parametrize(
    ("moment", "when", "heads", "pieces"),
    [
        (Moment.REQUEST, 0.0, 0, 0),
        (Moment.REQUEST_END, 0.0, 0, 0),
        (Moment.HEADERS, 1.0, 1, 0),
        (Moment.BODY, 1.0, 1, 0),
        (Moment.END, 9.0, 1, 7),
    ],
)
def test_moments(play, moment, when, heads, pieces):
    played = play(cut(moment=moment), WHOLE)
    assert played.end[0] == when
    assert isinstance(played.end[1], Abort)
    assert ([event for _, event in played.out if isinstance(event, ResponseHead)] != []) == bool(heads)
    assert len(played.body) == pieces


def test_at_the_request_nothing_has_been_dialled(play):
    assert play(cut(moment=Moment.REQUEST), WHOLE).request == []


def test_at_the_requests_end_its_body_has_gone_and_its_end_has_not(play):
    script = [(1.0, Upload(b"body")), (2.0, Upload(End()))]
    played = play(cut(moment=Moment.REQUEST_END), script, request=POST)
    assert [type(event) for _, event in played.request] == [RequestHead, Data]
    assert played.end[0] == played.cancelled_at == 2.0


def test_body_waits_for_the_first_byte_and_end_stands_in_front_of_trailers(play):
    head = ResponseHead(200, framing=Framing.CHUNKED)
    assert play(cut(moment=Moment.BODY), [(1.0, head), (3.0, b"x"), (4.0, End())]).end[0] == 3.0
    played = play(cut(moment=Moment.END), [(1.0, b"x"), (2.0, Trailers(((b"a", b"b"),))), (2.0, End())])
    assert [type(event) for _, event in played.out] == [ResponseHead, Data, Abort]


def test_body_does_not_come_where_there_is_none(play):
    assert play(cut(moment=Moment.BODY), [(1.0, End())]).not_fired == [("cut", "not reached")]


def test_time_counts_from_the_requests_first_byte_and_needs_no_traffic(play):
    assert play(cut(time=2.5), []).end[0] == 2.5
    assert play(cut(time=2.5), WHOLE).body == TICKS[:2]


@pytest.mark.parametrize("condition", [None, Condition(status=200)], ids=["always", "if"])
@pytest.mark.parametrize(
    ("script", "end"), [([(1.0, SSE)], 3.5), ([(1.0, b"x"), (2.0, b"y")], 4.5)], ids=["head", "body"]
)
def test_of_an_answer_that_comes_before_the_requests_end_idle_counts_from_its_head(play, script, end, condition):
    faults = [Cut(at=Trigger(idle=2.5), if_=condition)]
    assert play(faults, [(0.5, Upload(b"1")), *script], request=POST).end[0] == end


def test_idle_counts_from_the_last_body_byte_and_before_it_from_the_requests_end(play):
    assert play(cut(idle=2.5), [*TICKS]).end[0] == 9.5
    played = play(cut(idle=2.5), [(4.0, Upload(b"x")), (5.0, Upload(End()))], request=POST)
    assert played.end[0] == 7.5


def test_a_head_is_no_body_byte(play):
    assert play(cut(idle=2.0), [(1.5, ResponseHead(200, framing=Framing.CHUNKED)), (5.0, b"x")]).end[0] == 2.0


def test_a_timer_dies_with_the_terminal(play):
    assert isinstance(play(cut(time=9.5), WHOLE).end[1], End)
    assert isinstance(play(cut(idle=1.0), [(0.5, b"x"), (1.0, End())]).end[1], End)
    assert (
        play(cut(idle=1.0), [(0.5, b"x"), (1.0, Abort("upstream:rst", Peer.UPSTREAM))]).end[1].cause == "upstream:rst"
    )


# ---- reading records


def test_a_match_acts_right_in_front_of_its_record(play):
    assert play(cut(match="4"), WHOLE).body == TICKS[:3]
    assert play(cut(match="^data: 4\n"), WHOLE).end[0] == 4.0


def test_a_match_holds_only_the_record_that_has_not_ended(play):
    script = [(1.0, b"data: 1\n\ndata"), (2.0, b": 2\n\n"), (3.0, End())]
    assert play(cut(match="no"), script).body == [(1.0, b"data: 1\n\n"), (2.0, b"data"), (2.0, b": 2\n\n")]


def test_a_match_passes_comments_at_once_and_leaves_pieces_as_they_came(play):
    script = [(1.0, b": ping\n\n"), (2.0, b"data: 1\n\n: x\n\ndata: 2\n\n"), (3.0, b"data: 3\n\n")]
    assert play(cut(match="no"), script).body == script


def test_a_match_in_the_middle_of_a_read_splits_it_there(play):
    played = play(cut(match="2"), [(1.0, b"data: 1\n\ndata: 2\n\ndata: 3\n\n")])
    assert played.body == [(1.0, b"data: 1\n\n")]


def test_json_reads_the_payload(play):
    script = [(1.0, b'data: {"a": {"b": 1}}\n\n'), (2.0, b'data: {"a": {"b": "stop"}}\n\n'), (3.0, b"data: x\n\n")]
    assert play(cut(json=(("a.b", "st*"),)), script).body == script[:1]
    assert play(cut(json=(("a.b", 2),)), script).body == script


@pytest.mark.parametrize(("where", "seen"), [("before", b""), ("inside", b"data: [DO"), ("after", b"data: [DONE]\n\n")])
def test_terminal(play, where, seen):
    script = [*TICKS, (8.0, b"data: [DON"), (8.5, b"E]\n\ndata: more\n\n"), (9.0, End())]
    played = play(cut(terminal=where), script)
    assert played.data == b"".join(piece for _, piece in TICKS) + seen
    assert played.end[0] == 8.5


def test_after_the_terminal_record_nothing_had_to_be_held(play):
    played = play(cut(terminal="after"), [(8.0, b"data: [DON"), (8.5, b"E]\n\n")])
    assert played.body == [(8.0, b"data: [DON"), (8.5, b"E]\n\n")]


@pytest.mark.parametrize(("where", "seen"), [("before", 0), ("after", 1)])
def test_the_trailers_of_grpc_are_its_terminal_record(play, where, seen):
    script = [(1.0, b"\0\0\0\0\1x"), (2.0, Trailers(((b"grpc-status", b"0"),))), (2.0, End())]
    played = play(cut(terminal=where), script, head=GRPC)
    assert len([event for _, event in played.out if isinstance(event, Trailers)]) == seen
    assert isinstance(played.end[1], Abort)
    assert played.data == b"\0\0\0\0\1x"


def test_grpc_that_ends_without_its_trailers_has_no_terminal_record(play):
    played = play(cut(terminal="before"), [(1.0, b"\0\0\0\0\1x"), (2.0, End())], head=GRPC)
    assert (type(played.end[1]), played.not_fired) == (End, [("cut", "not reached")])


def test_a_last_line_needs_no_line_feed(play):
    played = play(cut(match="last"), [(1.0, b"first\n"), (2.0, b"last"), (3.0, End())], kind="lines")
    assert (played.data, played.end[0]) == (b"first\n", 3.0)
    played = play(cut(match="no"), [(1.0, b"first\n"), (2.0, b"last"), (3.0, End())], kind="lines")
    assert (played.data, type(played.end[1])) == (b"first\nlast", End)


def test_what_is_held_is_let_go_in_front_of_an_abort(play):
    played = play(cut(match="no"), [(1.0, b"data: x"), (2.0, Abort("upstream:rst", Peer.UPSTREAM))])
    assert (played.data, played.end[1].cause) == (b"data: x", "upstream:rst")


def test_a_record_that_is_too_long_is_passed_on_and_said_so(play):
    script = [(1.0, b"data: " + b"x" * 900_000), (2.0, b"x" * 200_000), (3.0, b"secret\n\n"), (4.0, End())]
    played = play(cut(match="secret"), script)
    assert [time for time, _ in played.body] == [2.0, 2.0, 3.0]
    assert played.not_fired == [("cut", "record too long")]
    script.insert(3, (3.5, b"data: secret\n\n"))
    assert play(cut(match="secret"), script).end[0] == 3.5  # the next one is read again


def test_a_match_behind_a_buffer_sees_the_record_when_it_is_let_go(play):
    played = play([Buffer(bytes=5), *cut(match="2")], [(1.0, b"data: 1\n\n"), (2.0, b"data: 2\n\n"), (3.0, End())])
    assert played.data == b"data: 1\n\n"
    assert played.end[0] == 3.0
