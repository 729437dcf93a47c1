"""`stall`: at every place, for how long, repeated, its queue, and what cannot be written. (`meanwhile` has its own.)"""

import math
from random import Random

import pytest

from chaosproxy.chain.fault import Condition, Context
from chaosproxy.chain.trigger import Trigger
from chaosproxy.errors import ScenarioError
from chaosproxy.faults import Buffer, Latency, Stall, Timeout
from chaosproxy.faults.stall import Meanwhile
from chaosproxy.model.messages import Abort, Data, End, RequestHead, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Framing, Moment, Peer, Way
from chaosproxy.scenario.load import load
from chaosproxy.testing import check_fault
from chaosproxy.testing.play import GET, POST, SSE, Upload

TICKS = [(float(number), b"data: %d\n\n" % number) for number in range(1, 9)]
WHOLE = [(0.5, SSE), *TICKS, (9.0, End())]
PLACES = [
    Trigger(moment=Moment.REQUEST),
    Trigger(moment=Moment.REQUEST_END),
    Trigger(moment=Moment.HEADERS),
    Trigger(moment=Moment.BODY),
    Trigger(moment=Moment.END),
    Trigger(event=3),
    Trigger(event=1, every=2, times=3),
    Trigger(bytes=14),
    Trigger(bytes=5, every=7),
    Trigger(chunk=2),
    Trigger(time=0.35),
    Trigger(time=0.1, every=0.15, times=4),
    Trigger(idle=0.15, every=0.5, times=2),
    Trigger(match="[37]"),
    Trigger(match="data", every=2),
    Trigger(json=(("a", 1),)),
    Trigger(terminal="before"),
    Trigger(terminal="inside"),
    Trigger(terminal="after"),
]


def stall(seconds=2.5, **at):
    return Stall(for_=seconds, at=Trigger(**at) if at else None)


def times(played):
    return [time for time, _ in played.body]


def late(places, until):
    """When the ticks leave, if those between wait."""
    return [max(time, until) if time > places else time for time, _ in TICKS]


@pytest.mark.parametrize(
    ("fault", "head", "body", "end", "detail"),
    [
        (stall(), 0.5, late(0.9, 3.5), 9.0, "for 2.5s at body"),
        (stall(moment=Moment.HEADERS), 0.5, late(0.9, 3.0), 9.0, "for 2.5s at headers"),
        (stall(moment=Moment.REQUEST), 2.5, late(0.9, 2.5), 9.0, "for 2.5s at request"),
        (stall(moment=Moment.REQUEST_END), 2.5, late(0.9, 2.5), 9.0, "for 2.5s at request_end"),
        (stall(moment=Moment.END), 0.5, late(9.0, 0.0), 11.5, "for 2.5s at end"),
        (stall(event=3), 0.5, late(3.0, 5.5), 9.0, "for 2.5s after event 3"),
        (stall(chunk=3), 0.5, late(3.0, 5.5), 9.0, "for 2.5s after chunk 3"),
        (stall(bytes=27), 0.5, late(3.0, 5.5), 9.0, "for 2.5s after byte 27"),
        (stall(time=0.2), 2.7, late(0.9, 2.7), 9.0, "for 2.5s at 200ms"),
        (stall(time=3.2), 0.5, late(3.0, 5.7), 9.0, "for 2.5s at 3.2s"),
        (stall(idle=0.8), 0.5, late(0.9, 3.3), 9.0, "for 2.5s after 800ms of silence"),
        (stall(match="4"), 0.5, late(3.9, 6.5), 9.0, "for 2.5s before the record with '4'"),
        (stall(9.0, event=8), 0.5, late(9.0, 0.0), 17.0, "for 9s after event 8"),
    ],
)
def test_where_it_begins_and_what_waits(play, fault, head, body, end, detail):
    played = play([fault], WHOLE)
    assert (played.head[0], times(played), played.end) == (head, body, (end, End()))
    assert [what for _, _, what in played.fired] == [detail]


@pytest.mark.parametrize(
    ("at", "released"),
    [({"json": (("n", 2),)}, [1, 4, 4]), ({"terminal": "before"}, [1, 2, 5]), ({"terminal": "after"}, [1, 2, 3])],
)
def test_places_in_the_content(play, at, released):
    script = [(1.0, b'data: {"n": 1}\n\n'), (2.0, b'data: {"n": 2}\n\n'), (3.0, b"data: [DONE]\n\n"), (3.5, End())]
    played = play([stall(2.0, **at)], script)
    assert times(played) == released
    assert played.end[0] == (5.0 if "terminal" in at else 4.0)


def test_inside_the_terminal_record_its_first_half_has_gone(play):
    played = play([stall(2.0, terminal="inside")], [(3.0, b"data: [DONE]\n\n"), (3.5, End())])
    assert played.body == [(3.0, b"data: [DO"), (5.0, b"NE]\n\n")]


def test_a_piece_is_cut_at_the_place_and_nowhere_else(play):
    together = b"".join(payload for _, payload in TICKS)
    assert play([stall(2.0, bytes=13)], [(1.0, together)]).body == [(1.0, together[:13]), (3.0, together[13:])]


def test_for_ever_it_is_silence_until_the_client_leaves(play):
    played = play([stall(math.inf, event=2)], [*WHOLE, (50.0, "hangup")])
    assert [what for _, _, what in played.fired] == ["forever after event 2"]
    assert (times(played), played.end, played.cancelled_at) == ([1.0, 2.0], None, 50.0)


def test_the_clients_leaving_is_felt_at_once(play):
    played = play([stall(60.0, event=2)], [*WHOLE[:4], (3.5, "hangup:rst"), *WHOLE[4:]])
    assert (times(played), played.cancelled_at, played.cancel_cause) == ([1.0, 2.0], 3.5, "client:rst")


def test_an_upstream_that_breaks_off_meanwhile_is_seen_afterwards(play):
    broken = Abort("upstream:rst", Peer.UPSTREAM)
    assert play([stall(5.0, event=1)], [*WHOLE[:3], (3.0, broken)]).out[-2:] == [
        (6.0, Data(TICKS[1][1], (9,))),
        (6.0, broken),
    ]


def test_trailers_keep_their_place(play):
    trailers = Trailers(((b"a", b"b"),))
    played = play([stall(5.0, moment=Moment.END)], [*TICKS[:1], (2.0, trailers), (3.0, End())])
    assert played.out[-2:] == [(7.0, trailers), (7.0, End())]


def test_what_stands_nearer_the_client_sees_the_silence(play):
    assert play([stall(5.0, event=1), Timeout(idle=3.0)], WHOLE).fired[-1] == (4.0, "timeout", "abort after 3s (idle)")
    assert play([Timeout(idle=3.0), stall(5.0, event=1)], WHOLE).not_fired == [("timeout", "not reached")]
    assert times(play([Buffer(bytes=18), stall(5.0, event=1)], WHOLE))[:3] == [2.0, 7.0, 7.0]
    assert times(play([stall(5.0, event=1), Latency(delay=1.0)], WHOLE))[:3] == [2.0, 7.0, 7.0]


# ---- repeats


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        # The next begins where the one before has let go: after event 2 at 2, after event 4 at 4.5.
        ({"event": 2, "every": 2}, [1.0, 2.0, 4.5, 4.5, 7.0, 7.0, 9.5, 9.5]),
        ({"event": 2, "every": 2, "times": 2}, [1.0, 2.0, 4.5, 4.5, 7.0, 7.0, 7.0, 8.0]),
        ({"bytes": 9, "every": 27, "times": 2}, [1.0, 3.5, 3.5, 4.0, 6.5, 6.5, 7.0, 8.0]),
        ({"chunk": 4, "every": 1, "times": 3}, [1.0, 2.0, 3.0, 4.0, 6.5, 9.0, 11.5, 11.5]),
        ({"match": "data", "every": 4}, [3.5, 3.5, 3.5, 4.0, 7.5, 7.5, 7.5, 8.0]),
        # By the clock they overlap: it goes on until the last is over.
        ({"time": 1.5, "every": 2.0, "times": 2}, [1.0, *[6.0] * 5, 7.0, 8.0]),
        ({"time": 1.5, "every": 4.0, "times": 2}, [1.0, 4.0, 4.0, 4.0, 5.0, 8.0, 8.0, 8.0]),
    ],
)
def test_repeats(play, at, expected):
    assert times(play([stall(**at)], WHOLE)) == expected


def test_a_burst_comes_out_with_a_stall_behind_each_place(play):
    played = play([stall(1.0, event=2, every=2, times=3)], [(1.0, [payload for _, payload in TICKS]), (1.0, End())])
    assert times(played) == [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0]
    assert [at for at, _, _ in played.fired] == [1.0, 1.0, 1.0]


# ---- room, the request, speed, conditions


def test_beyond_its_room_the_sender_waits_and_afterwards_it_has_none(play):
    script = [(1.0, [b"data: 1\n\n"] * 20)]
    fault = Stall(for_=30.0, at=Trigger(event=1), capacity=20)
    assert play([fault], script, until=20.0).admitted == 9 + 27
    played = play([fault], script)
    assert times(played) == [1.0, *[31.0] * 19]
    assert play([stall(30.0, event=1)], script, until=20.0).admitted == 180


def test_a_record_that_is_longer_than_its_room_comes_through_where_it_has_to_be_read(play):
    record = b"data: " + b"x" * 100
    script = [(1.0, record), (2.0, record), (3.0, b"\n\n"), (4.0, b"data: y\n\n"), (5.0, End())]
    for at in (Trigger(match="x"), Trigger(match="y"), Trigger(match="z"), Trigger(match=".", every=1)):
        played = play([Stall(for_=2.0, at=at, capacity=1)], script, window=16)
        assert (played.data, type(played.end[1])) == (record * 2 + b"\n\ndata: y\n\n", End)


def test_waiting_for_a_record_it_adds_no_room(play):
    script = [(1.0, [b"data: 1\n\n"] * 20)]
    plain = play([], script, room=0, window=16).admitted
    assert play([stall(match="never")], script, room=0, window=16).admitted == plain
    again = [*script, (50.0, [b"data: 2\n\n"] * 20)]
    assert play([stall(match="1", times=1, every=1)], again, room=200, window=16).admitted <= 200 + 16 + 9


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ({"moment": Moment.REQUEST}, [(2.5, RequestHead), (2.5, Data), (2.5, Data), (3.0, End)]),
        ({"moment": Moment.HEADERS}, [(0.0, RequestHead), (2.5, Data), (2.5, Data), (3.0, End)]),
        ({"moment": Moment.BODY}, [(0.0, RequestHead), (3.5, Data), (3.5, Data), (3.5, End)]),
        ({"bytes": 3}, [(0.0, RequestHead), (1.0, Data), (3.5, Data), (3.5, End)]),
        ({"moment": Moment.REQUEST_END}, [(0.0, RequestHead), (1.0, Data), (2.0, Data), (5.5, End)]),
        ({"time": 1.5}, [(0.0, RequestHead), (1.0, Data), (4.0, Data), (4.0, End)]),
    ],
)
def test_the_request(play, at, expected):
    script = [(1.0, Upload(b"abc")), (2.0, Upload(b"def")), (3.0, Upload(End())), (9.0, End())]
    played = play([Stall(for_=2.5, at=Trigger(**at), way=Way.REQUEST)], script, request=POST)
    assert [(time, type(event)) for time, event in played.request] == expected


def test_speed_divides_it(play):
    fast = Context(Random(0), GET, speed=2.0)
    assert times(play([stall(5.0, event=1)], WHOLE, context=fast))[:3] == [1.0, 3.5, 3.5]


def test_where_it_does_not_apply_nothing_waits(play):
    fault = Stall(for_=9.0, at=Trigger(event=1), if_=Condition(status=500))
    assert times(play([fault], WHOLE)) == [time for time, _ in TICKS]


def test_without_records_it_says_why_it_did_not_act(play):
    plain = ResponseHead(200, ((b"content-type", b"text/plain"),), framing=Framing.CHUNKED)
    assert play([stall(event=1)], WHOLE[1:], head=plain).not_fired == [("stall", "no records")]


# ---- what every fault must stand


@pytest.mark.parametrize("way", [Way.RESPONSE, Way.REQUEST])
@pytest.mark.parametrize("at", PLACES)
def test_it_stands_every_stream(at, way):
    check_fault(Stall(for_=0.25, at=at, way=way))
    check_fault(Stall(for_=0.25, at=at, way=way, capacity=5))


@pytest.mark.parametrize("at", [None, *PLACES])
def test_no_time_is_neutral(at):
    check_fault(Stall(for_=0.0, at=at), neutral=True)
    check_fault(Stall(for_=0.0, at=at, way=Way.REQUEST), neutral=True)


def test_a_place_that_never_comes_is_neutral():
    check_fault(Stall(for_=9.0, at=Trigger(event=1000), capacity=1), neutral=True)


# ---- the scenario


def test_how_it_is_written():
    text = "version: 1\nfaults:\n  - stall: 5s\n  - stall: {for: forever, at: {event: 3}, meanwhile: {comments: 15s}}\n"
    assert load(text).rules[0].faults == (
        Stall(for_=5.0),
        Stall(for_=math.inf, at=Trigger(event=3), meanwhile=Meanwhile(comments=15.0)),
    )


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("5", 12, "no duration"),
        ("{at: {event: 3}}", 5, "`for` is required"),
        ("{for: 1s, at: after_end}", 26, "`end` is right before it"),
        ("{for: 1s, at: {evnt: 3}}", 27, "event"),
        ("{for: 1s, meanwhile: 5s}", 33, "mapping"),
        ("{for: 1s, meanwhile: {}}", 33, "one of comments, ping_events, empty_deltas"),
        ("{for: 1s, meanwhile: {comments: 1s, ping_events: 1s}}", 33, "one of comments"),
        ("{for: 1s, meanwhile: {comments: 0s}}", 44, "longer than nothing"),
        ("{for: 1s, meanwhile: {coments: 1s}}", 34, "comments"),
        ("{for: 1s, way: request, meanwhile: {comments: 1s}}", 47, "about the response"),
        ("{for: 1s, at: request, meanwhile: {comments: 1s}}", 46, "before the head"),
        ("{for: 1s, at: {terminal: inside}, meanwhile: {comments: 1s}}", 57, "middle of a record"),
    ],
)
def test_a_mistake_has_its_place(refused, text, column, message):
    refused(f"stall: {text}", column, message)


@pytest.mark.parametrize(
    ("text", "column"), [("{for: 1s, at: {event: 1}}", 35), ("{for: 1s, meanwhile: {comments: 1s}}", 21)]
)
def test_a_connection_has_no_records(text, column):
    with pytest.raises(ScenarioError) as error:
        load(f"version: 1\nconnections:\n  - faults: [stall: {text}]\n")
    (problem,) = error.value.problems
    assert "a connection has no records" in problem.message
    assert (problem.line, problem.column) == (3, column)
