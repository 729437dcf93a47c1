"""`hold_head`: until when the head waits, what waits with it, what never does, and what cannot be written."""

from dataclasses import replace
from random import Random

import pytest

from chaosproxy.chain.fault import Context
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import Cut, HoldHead, Timeout
from chaosproxy.faults.hold_head import ROOM, WHOLE_ROOM
from chaosproxy.model.messages import Abort, Data, End, Interim, RequestHead, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Framing, Peer, Way
from chaosproxy.scenario.load import load
from chaosproxy.testing import check_fault
from chaosproxy.testing.play import GET, POST, SSE, Upload

EVENT = b"data: 1\n\n"
SCRIPT = [(1.0, SSE), (2.0, EVENT), (3.0, EVENT), (4.0, End())]
TRAILED = [*SCRIPT[:3], (4.0, Trailers(((b"a", b"b"),))), (5.0, End())]
EMPTY = [(1.0, SSE), (4.0, End())]
BROKEN = Abort("upstream:fin", Peer.UPSTREAM)


def seen(played):
    return [(time, type(event)) for time, event in played.out]


@pytest.mark.parametrize(
    ("until", "script", "expected"),
    [
        ("first_byte", SCRIPT, [(2.0, ResponseHead), (2.0, Data), (3.0, Data), (4.0, End)]),
        ("first_byte", EMPTY, [(4.0, ResponseHead), (4.0, End)]),
        ("first_byte", [(1.0, SSE), *TRAILED[3:]], [(4.0, ResponseHead), (4.0, Trailers), (5.0, End)]),
        ("end", SCRIPT, [(4.0, ResponseHead), (4.0, Data), (4.0, Data), (4.0, End)]),
        ("end", TRAILED, [(5.0, ResponseHead), (5.0, Data), (5.0, Data), (5.0, Trailers), (5.0, End)]),
        ("end", EMPTY, [(4.0, ResponseHead), (4.0, End)]),
        (1.5, SCRIPT, [(2.5, ResponseHead), (2.5, Data), (3.0, Data), (4.0, End)]),
        (9.0, SCRIPT, [(10.0, ResponseHead), (10.0, Data), (10.0, Data), (10.0, End)]),
        (0.5, SCRIPT, [(1.5, ResponseHead), (2.0, Data), (3.0, Data), (4.0, End)]),
    ],
)
def test_when_the_head_leaves(play, until, script, expected):
    played = play([HoldHead(until=until)], script)
    assert seen(played) == expected
    assert len(played.fired) == 1


@pytest.mark.parametrize(
    ("until", "at", "detail"),
    [
        ("first_byte", 2.0, "held the head"),
        ("end", 4.0, "held the head and 18 bytes"),
        (2.0, 1.0, "held the head for 2s"),
    ],
)
def test_what_it_says(play, until, at, detail):
    assert play([HoldHead(until=until)], SCRIPT).fired == [(at, "hold_head", detail)]


def test_a_timeout_nearer_the_client_sees_no_head(play):
    script = [(0.1, SSE), (5.0, EVENT), (6.0, End())]
    assert play([HoldHead(until="first_byte"), Timeout(first_byte=3.0)], script).head[1].status == 504
    assert play([Timeout(first_byte=3.0), HoldHead(until="first_byte")], script).head[1].status == 200


@pytest.mark.parametrize("until", ["first_byte", "end", 5.0])
def test_interim_answers_pass_at_once(play, until):
    assert play([HoldHead(until=until)], [(0.5, Interim(103)), *SCRIPT]).out[0] == (0.5, Interim(103))


@pytest.mark.parametrize("until", ["first_byte", "end", 5.0])
@pytest.mark.parametrize(
    ("request_", "head"),
    [
        (GET, ResponseHead(101, framing=Framing.TUNNEL)),
        (RequestHead(b"CONNECT", b"x:1"), ResponseHead(200, framing=Framing.TUNNEL)),
    ],
)
def test_a_tunnel_is_not_held(play, until, request_, head):
    context = Context(Random(0), request_)
    played = play([HoldHead(until=until)], [(1.0, head), (9.0, b"x")], request=request_, context=context, head=head)
    assert played.head[0] == 1.0
    assert played.not_fired == [("hold_head", "protocol")]


@pytest.mark.parametrize("until", ["first_byte", "end"])
def test_a_head_without_a_body_is_not_held(play, until):
    played = play([HoldHead(until=until)], [(1.0, ResponseHead(204, final=True)), (2.0, End())])
    assert (played.head[0], played.fired) == (1.0, [])


@pytest.mark.parametrize(("until", "last"), [("first_byte", 1.5), ("end", 2.5)])
def test_what_breaks_off_meanwhile_leaves_nothing_but_its_end(play, until, last):
    script = [step for step in SCRIPT if step[0] < last]
    played = play([HoldHead(until=until)], [*script, (last, BROKEN)])
    assert played.out == [(last, BROKEN)]
    assert played.fired == [(last, "hold_head", "dropped the head that it held")]


def test_what_breaks_off_afterwards_changes_nothing(play):
    played = play([HoldHead(until="first_byte")], [*SCRIPT[:2], (3.0, BROKEN)])
    assert seen(played) == [(2.0, ResponseHead), (2.0, Data), (3.0, Abort)]


@pytest.mark.parametrize("until", ["first_byte", "end", 50.0])
def test_the_clients_leaving_is_felt_at_once(play, until):
    played = play([HoldHead(until=until)], [*SCRIPT[: 1 if until == "first_byte" else 3], (3.5, "hangup")])
    assert (played.cancelled_at, played.out) == (3.5, [])
    assert played.not_fired == []
    assert "held" in played.fired[-1][2]


@pytest.mark.parametrize("until", ["first_byte", "end"])
def test_a_cut_before_it_counts_what_it_holds_back(play, until):
    played = play([HoldHead(until=until), Cut(at=Trigger(bytes=5))], SCRIPT)
    assert (played.data, played.end[0]) == (b"data:", 2.0 if until == "first_byte" else 4.0)


# ---- room


def test_a_large_body_leaves_when_the_room_is_full_and_flows_from_then_on(play):
    piece = b"x" * (WHOLE_ROOM // 4)
    script = [(1.0, SSE), *((float(number), piece) for number in range(2, 8)), (8.0, End())]
    played = play([HoldHead(until="end")], script, window=10 * WHOLE_ROOM)
    assert [time for time, _ in played.out] == [6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 7.0, 8.0]


def test_during_a_duration_a_little_may_wait_and_then_the_sender_has_to(play):
    piece = b"x" * (ROOM // 2)
    script = [(1.0, SSE), (2.0, [piece] * 8)]
    assert play([HoldHead(until=50.0)], script, until=50.0).admitted == ROOM
    assert len(play([HoldHead(until=50.0)], script).data) == 4 * ROOM


def test_the_first_byte_needs_no_room(play):
    assert play([HoldHead(until="first_byte")], SCRIPT, room=0, window=9).admitted == 9


# ---- the request


def test_a_client_that_waits_for_100_gets_it_from_who_holds_its_request(play):
    asks = replace(POST, headers=(*POST.headers, (b"Expect", b"100-continue")))
    upload = [(1.0, Upload(b"abc")), (2.0, Upload(End())), *SCRIPT[:1]]
    held = play([HoldHead(until="end", way=Way.REQUEST)], [*upload[:2], (3.0, SSE)], request=asks)
    assert held.out[0] == (0.0, Interim(100))
    assert held.request[0] == (2.0, POST)
    for spec in (HoldHead(until="first_byte", way=Way.REQUEST), HoldHead(until="end")):
        passed = play([spec], [*upload[:2], (3.0, SSE)], request=asks)
        assert passed.request[0][1] == asks
        assert Interim(100) not in [event for _, event in passed.out]


@pytest.mark.parametrize(
    ("until", "expected"),
    [
        ("first_byte", [(1.0, RequestHead), (1.0, Data), (2.0, Data), (3.0, End)]),
        ("end", [(3.0, RequestHead), (3.0, Data), (3.0, Data), (3.0, End)]),
        (1.5, [(1.5, RequestHead), (1.5, Data), (2.0, Data), (3.0, End)]),
    ],
)
def test_a_request_is_held_like_an_answer(play, until, expected):
    script = [(1.0, Upload(b"abc")), (2.0, Upload(b"def")), (3.0, Upload(End())), (4.0, EVENT), (5.0, End())]
    played = play([HoldHead(until=until, way=Way.REQUEST)], script, request=POST)
    assert [(time, type(event)) for time, event in played.request] == expected
    assert seen(played) == [(4.0, ResponseHead), (4.0, Data), (5.0, End)]


def test_a_request_without_a_body_is_not_held(play):
    played = play([HoldHead(until="end", way=Way.REQUEST)], EMPTY)
    assert [(time, type(event)) for time, event in played.request] == [(0.0, RequestHead), (0.0, End)]


def test_speed_divides_a_duration(play):
    played = play([HoldHead(until=4.0)], SCRIPT, context=Context(Random(0), GET, speed=2.0))
    assert seen(played)[0] == (3.0, ResponseHead)


# ---- what every fault must stand


@pytest.mark.parametrize("way", [Way.REQUEST, Way.RESPONSE])
@pytest.mark.parametrize("until", ["first_byte", "end", 0.05, 0.25, 300.0])
def test_it_stands_every_stream(until, way):
    check_fault(HoldHead(until=until, way=way))


@pytest.mark.parametrize("way", [Way.REQUEST, Way.RESPONSE])
def test_no_time_is_neutral(way):
    check_fault(HoldHead(until=0.0, way=way), neutral=True)


# ---- the scenario


def test_the_bare_value_is_until():
    found = load("version: 1\nfaults: [hold_head: first_byte, hold_head: end, hold_head: 2s]\n").rules[0].faults
    assert found == (HoldHead(until="first_byte"), HoldHead(until="end"), HoldHead(until=2.0))


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("first_bite", 16, "first_byte"),
        ("5", 16, "expected one of first_byte, end or a duration"),
        ("{}", 5, "`until` is required"),
        ("{until: end, limit: 1k}", 29, "limit"),
    ],
)
def test_a_mistake_has_its_place(refused, text, column, message):
    refused(f"hold_head: {text}", column, message)


# ---- what breaks off may leave all the same; a length


@pytest.mark.parametrize("until", ["first_byte", "end"])
def test_what_breaks_off_meanwhile_may_leave_in_front_of_its_end(play, until):
    played = play(
        [HoldHead(until=until, on_abort="flush")], [*SCRIPT[: 1 if until == "first_byte" else 3], (3.5, BROKEN)]
    )
    body = [] if until == "first_byte" else [(3.5, Data), (3.5, Data)]
    assert seen(played) == [(3.5, ResponseHead), *body, (3.5, Abort)]


@pytest.mark.parametrize("framing", [Framing.CHUNKED, Framing.CLOSE, Framing.STREAM, Framing.LENGTH])
def test_who_has_all_of_it_may_say_how_long_it_is(play, framing):
    fields = ((b"Content-Type", b"text/event-stream"), (b"Transfer-Encoding", b"chunked"))
    head = ResponseHead(200, fields, framing=framing)
    script = [(1.0, head), *TRAILED[1:]]
    time, sent = play([HoldHead(until="end", content_length=True)], script, head=None).head
    assert (time, sent.framing, sent.headers) == (5.0, Framing.LENGTH, (fields[0], (b"Content-Length", b"18")))


def test_of_nothing_at_all_too(play):
    head = play([HoldHead(until="end", content_length=True)], EMPTY).head[1]
    assert (head.framing, head.headers[-1]) == (Framing.LENGTH, (b"Content-Length", b"0"))


@pytest.mark.parametrize("last", [[(3.5, BROKEN)], [(3.3, b"x" * WHOLE_ROOM), (3.5, b"x"), (4.0, End())]])
def test_what_leaves_before_its_end_has_no_length(play, last):
    spec = HoldHead(until="end", content_length=True, on_abort="flush")
    assert play([spec], [*SCRIPT[:3], *last]).head == (3.5, SSE)


def test_a_request_in_chunks_becomes_one_with_a_length(play):
    script = [(1.0, Upload(b"abc")), (2.0, Upload(b"def")), (3.0, Upload(End()))]
    played = play([HoldHead(until="end", content_length=True, way=Way.REQUEST)], script, request=POST)
    [(time, head)] = [(time, event) for time, event in played.request if isinstance(event, RequestHead)]
    assert (time, head.framing) == (3.0, Framing.LENGTH)
    assert head.headers == ((b"Host", b"test"), (b"Content-Length", b"6"))


def test_a_length_is_known_at_the_end_alone(refused):
    refused("hold_head: {until: first_byte, content_length: true}", 52, "it needs `until: end`")
