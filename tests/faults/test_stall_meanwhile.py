"""What a stall says meanwhile: in whose shape, how often, where it can and where it cannot, and that it breaks nothing."""

import json
import math
from random import Random

import pytest

from chaosproxy.chain.fault import Condition, Context
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import Stall
from chaosproxy.faults.keep_alives import keep_alive
from chaosproxy.faults.stall import Meanwhile
from chaosproxy.framing.splitter import RecordKind
from chaosproxy.framing.traffic import traffic
from chaosproxy.model.messages import Abort, End, RequestHead, ResponseHead
from chaosproxy.model.vocabulary import Framing, Moment, Peer
from chaosproxy.testing import check_fault
from chaosproxy.testing.play import GET, SSE

TICKS = [(float(number), b"data: %d\n\n" % number) for number in range(1, 5)]
WHOLE = [(0.5, SSE), *TICKS, (5.0, End())]
SAID = b": keep-alive\n\n"


def stall(seconds=10.0, beat=3.0, what="comments", **at):
    return Stall(for_=seconds, at=Trigger(**at), meanwhile=Meanwhile(**{what: beat}))


def said(played, what=SAID):
    return [time for time, payload in played.body if payload == what]


def asked(path):
    return RequestHead(b"POST", path.encode())


# ---- the shapes


@pytest.mark.parametrize(
    ("what", "kind", "path", "shape"),
    [
        ("comments", "sse", "/", b": keep-alive\n\n"),
        ("ping_events", "sse", "/v1/messages", b'event: ping\ndata: {"type": "ping"}\n\n'),
        ("comments", "lines", "/api/chat", b"\n"),
        ("empty_deltas", "sse", "/v1/chat/completions", b'"object": "chat.completion.chunk"'),
        ("empty_deltas", "sse", "/somewhere", b'"object": "chat.completion.chunk"'),
        ("empty_deltas", "sse", "/v1/completions?x=1", b'"object": "text_completion"'),
        ("empty_deltas", "sse", "/v1/messages/", b"event: content_block_delta\ndata: "),
        ("empty_deltas", "sse", "/v1/responses", b"event: response.output_text.delta\ndata: "),
        ("empty_deltas", "lines", "/api/chat", b'"message": {"role": "assistant", "content": ""}'),
        ("empty_deltas", "lines", "/api/generate", b'"response": ""'),
    ],
)
def test_it_has_the_shape_of_who_is_asked_and_is_read_back_as_what_it_is(
    what: str, kind: RecordKind, path: str, shape: bytes
):
    data = keep_alive(what, kind, asked(path))
    assert shape in data.payload
    assert traffic(kind, data.payload) == {"comments": "comment"}.get(what, what.removesuffix("s"))
    assert data.ends == (() if what == "comments" else (len(data.payload),))


@pytest.mark.parametrize(
    ("what", "kind"), [("ping_events", "lines"), ("comments", "grpc"), ("empty_deltas", "chunks"), ("comments", None)]
)
def test_where_there_is_no_such_thing_there_is_none(what, kind):
    assert keep_alive(what, kind, GET) is None


# ---- when


@pytest.mark.parametrize(
    ("fault", "beats"),
    [
        (stall(event=2), [5.0, 8.0, 11.0]),
        (stall(9.0, event=2), [5.0, 8.0]),  # at 11 it is over
        (stall(2.0, event=2), []),
        (stall(moment=Moment.HEADERS), [3.5, 6.5, 9.5]),
        (stall(moment=Moment.BODY), [4.0, 7.0, 10.0]),
        (stall(moment=Moment.END), [8.0, 11.0, 14.0]),
        (stall(bytes=18), [5.0, 8.0, 11.0]),
        (stall(chunk=2), [5.0, 8.0, 11.0]),
        (stall(time=2.5), [5.5, 8.5, 11.5]),
        (stall(idle=0.6), [3.6, 6.6, 9.6]),
        (stall(match="2"), [5.0, 8.0, 11.0]),
        (stall(event=1, every=2, seconds=5.0), [4.0, 9.0]),
        (stall(time=1.5, every=2.0, times=2, seconds=6.0), [4.5, 7.5]),
        (stall(time=1.5, every=1.0, times=2, seconds=2.0), []),
        (stall(time=1.5, every=2.0, times=2, seconds=2.5), [4.5]),
    ],
)  # fmt: skip
def test_it_is_said_every_so_long_while_nothing_else_comes(play, fault, beats):
    played = play([fault], WHOLE)
    assert said(played) == beats
    assert (
        b"".join(payload for _, payload in played.body if payload != SAID)
        == b"data: 1\n\ndata: 2\n\ndata: 3\n\ndata: 4\n\n"
    )
    assert isinstance(played.end[1], End)


def test_for_ever(play):
    assert len(said(play([stall(math.inf, beat=10.0, event=2)], WHOLE, until=1000.0))) == 99


def test_speed_makes_it_more_frequent(play):
    fast = Context(Random(0), GET, speed=2.0)
    assert said(play([stall(event=2)], WHOLE, context=fast)) == [3.5, 5.0, 6.5]


def test_it_goes_on_when_the_upstream_has_ended_or_broken_off(play):
    broken = [(0.5, SSE), *TICKS[:2], (3.0, Abort("upstream:fin", Peer.UPSTREAM))]
    played = play([stall(event=2)], broken)
    assert (said(played), played.end[0]) == ([5.0, 8.0, 11.0], 12.0)


def test_a_client_that_has_left_hears_nothing(play):
    played = play([stall(event=2)], [*WHOLE, (6.0, "hangup")])
    assert (said(played), played.cancelled_at) == ([5.0], 6.0)


def test_a_client_that_takes_nothing_is_not_heaped_with_it(play):
    played = play([stall(event=2)], [*WHOLE, (9.0, 1000)], room=0, window=30)
    assert said(played) == [9.0, 11.0]


# ---- where it cannot


@pytest.mark.parametrize(
    ("at", "since"),
    [
        ({"bytes": 12}, 2.0),
        ({"time": 2.2}, 2.2),
        ({"idle": 1.1}, 3.1),
        ({"chunk": 3}, 2.0),
        ({"moment": Moment.END}, 9.0),
    ],
)
def test_in_the_middle_of_a_record_it_is_silent_and_says_so(play, at, since):
    script = [(1.0, b"data: 1\n\n"), (1.5, b"da"), (2.0, b"ta: 2\n"), (9.0, End())]
    played = play([stall(**at)], script)
    assert said(played) == []
    assert "silent: in the middle of a record" in played.fired[0][2]
    assert played.fired[0][0] == since


@pytest.mark.parametrize("head", ["text/plain", "application/grpc", None])
def test_where_nothing_can_be_said_it_stalls_in_silence(play, head):
    headers = (
        ((b"content-type", head.encode()),)
        if head
        else ((b"content-type", b"text/event-stream"), (b"content-encoding", b"br"))
    )
    played = play([stall(bytes=18)], WHOLE[1:], head=ResponseHead(200, headers, framing=Framing.CHUNKED))
    assert [time for time, _ in played.body] == [1.0, 2.0, 12.0, 12.0]
    assert played.fired[0][2].endswith("silent: no comments can be said here")


def test_before_the_head_nothing_is_said(play):
    played = play([stall(time=0.2, seconds=5.0, beat=1.0)], WHOLE)
    assert said(played) == []
    assert played.head[0] == 5.2


def test_by_the_clock_it_says_nothing_into_a_record_that_has_gone_out_in_part(play):
    """The second stall begins while the first lasts: what counts is what the client has."""
    script = [(1.0, b"data: 1\n\nda"), (2.0, b"ta: 2\n\n"), (9.0, End())]
    twice = Trigger(time=1.5, every=2.0, times=2)
    played = play([Stall(for_=4.0, at=twice, meanwhile=Meanwhile(comments=1.0))], script)
    assert said(played) == []
    assert played.data == b"data: 1\n\ndata: 2\n\n"


# ---- the head, the records


def test_the_length_goes_as_bytes_may_be_added(play):
    head = ResponseHead(
        200, ((b"content-type", b"text/event-stream"), (b"content-length", b"36")), framing=Framing.LENGTH
    )
    seen = play([stall(event=2)], WHOLE[1:], head=head).head[1]
    assert (seen.framing, [name for name, _ in seen.headers]) == (Framing.CHUNKED, [b"content-type"])
    silent = Stall(for_=10.0, at=Trigger(event=2))
    assert play([silent], WHOLE[1:], head=head).head[1].framing is Framing.LENGTH


def test_pings_are_records_and_comments_are_none(play):
    assert play([stall(event=2)], WHOLE).records_out == 4
    assert play([stall(event=2, what="ping_events")], WHOLE).records_out == 7


def test_lines(play):
    ndjson = ResponseHead(200, ((b"content-type", b"application/x-ndjson"),), framing=Framing.CHUNKED)
    script = [(float(number), b'{"n": %d}\n' % number) for number in range(1, 5)]
    context = Context(Random(0), asked("/api/chat"))
    played = play([stall(event=2, what="empty_deltas")], [*script, (5.0, End())], head=ndjson, context=context)
    lines = [json.loads(line) for line in played.data.splitlines()]
    assert [line.get("n") for line in lines] == [1, 2, None, None, None, 3, 4]
    assert [line["done"] for line in lines[2:5]] == [False] * 3


@pytest.mark.parametrize(
    "at",
    [
        {"event": 3},
        {"event": 1, "every": 2},
        {"bytes": 14},
        {"bytes": 9, "every": 9},
        {"chunk": 2},
        {"time": 0.35},
        {"time": 0.1, "every": 0.2, "times": 5},
        {"idle": 0.15},
        {"match": "[37]"},
        {"terminal": "after"},
        {"moment": Moment.HEADERS},
        {"moment": Moment.BODY},
        {"moment": Moment.END},
    ],
)
@pytest.mark.parametrize("what", ["comments", "ping_events", "empty_deltas"])
def test_it_stands_every_stream(at, what):
    check_fault(stall(1.0, 0.15, what, **at))


@pytest.mark.parametrize(("at", "reason"), [({"time": 60.0}, "not reached"), ({"event": 1}, "no records")])
def test_where_nothing_can_be_said_only_a_place_between_records_is_out_of_reach(play, at, reason):
    plain = ResponseHead(200, ((b"content-type", b"text/plain"),), framing=Framing.CHUNKED)
    assert play([stall(**at)], [(1.0, b"x"), (2.0, End())], head=plain).not_fired == [("stall", reason)]


def test_where_it_does_not_apply_it_costs_no_place_of_its_own(play):
    fault = Stall(for_=9.0, at=Trigger(bytes=9), if_=Condition(status=500), meanwhile=Meanwhile(comments=1.0))
    played = play([fault], WHOLE)
    assert (said(played), played.not_fired) == ([], [("stall", "if")])


def test_no_time_says_nothing():
    check_fault(Stall(for_=0.0, at=Trigger(bytes=9), meanwhile=Meanwhile(comments=0.01)), neutral=True)
