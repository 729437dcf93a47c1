"""`cut`: what it needs, both ways, both sides. (Places and endings have tests of their own, in the chain's.)"""

from random import Random

import pytest

from chaosproxy.chain.endings import ABORT, Ending
from chaosproxy.chain.fault import Context
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import ClientAbort, Cut, Latency, Timeout
from chaosproxy.model.messages import Abort, Data, End, RequestHead, ResponseHead
from chaosproxy.model.vocabulary import Framing, Manner, Moment, Peer, Way
from chaosproxy.testing.play import POST, Upload
from chaosproxy.testing.play import play as run

TICKS = [(float(number), b"data: %d\n\n" % number) for number in range(1, 9)]
WHOLE = [*TICKS, (9.0, End())]
PLAIN = ResponseHead(200, ((b"content-type", b"text/plain"),), framing=Framing.CHUNKED)
CODED = ResponseHead(
    200, ((b"content-type", b"text/event-stream"), (b"content-encoding", b"gzip")), framing=Framing.CHUNKED
)


def test_by_default_it_aborts_both_sides(play):
    played = play([Cut(at=Trigger(event=3))], WHOLE)
    assert played.end == (3.0, Abort("cut", Peer.PROXY))
    assert (played.cancelled_at, played.cancel_cause) == (3.0, "cut")
    assert played.fired == [(3.0, "cut", "abort after event 3")]


def test_side_client_lets_the_upstream_run_on_and_drains_it(play):
    played = play([Cut(at=Trigger(event=3), then=(Ending("fin"),), side="client")], WHOLE)
    assert (played.end[0], played.end[1].manner) == (3.0, Manner.FIN)
    assert played.cancelled_at is None
    assert (played.bytes_in, played.admitted, played.bytes_out) == (72, 72, 27)


def test_side_client_and_then_the_client_really_leaves(play):
    played = play([Cut(at=Trigger(event=3), side="client")], [*TICKS[:4], (5.0, "hangup"), *TICKS[5:]])
    assert played.cancelled_at is None  # it knows already, and lets the upstream run


def test_the_end_takes_the_place_of_what_comes_behind(play):
    played = play([Cut(at=Trigger(moment=Moment.END), then=(Ending("rst"),))], WHOLE)
    assert (len(played.body), played.end[0], played.end[1].manner) == (8, 9.0, Manner.RESET)


@pytest.mark.parametrize(("head", "reason"), [(PLAIN, "no records"), (CODED, "coded body"), (None, "not reached")])
def test_why_it_did_not_fire_at_an_event(play, head, reason):
    script = WHOLE if head else [(1.0, b"data: 1\n\n"), (9.0, End())]
    played = play([Cut(at=Trigger(event=3))], script, **({"head": head} if head else {}))
    assert played.not_fired == [("cut", reason)]
    assert isinstance(played.end[1], End)


@pytest.mark.parametrize("at", [Trigger(match="x"), Trigger(json=(("a", "b"),)), Trigger(terminal="before")])
@pytest.mark.parametrize(("head", "reason"), [(PLAIN, "no records"), (CODED, "coded body")])
def test_why_it_did_not_fire_at_a_record_that_it_has_to_read(play, at, head, reason):
    assert play([Cut(at=at)], WHOLE, head=head).not_fired == [("cut", reason)]


def test_bytes_are_counted_in_any_body(play):
    assert play([Cut(at=Trigger(bytes=20))], WHOLE, head=CODED).data == b"".join(data for _, data in WHOLE[:-1])[:20]


def test_it_says_which_trigger_reads_records():
    assert Cut(at=Trigger(event=1)).reads_records
    assert not Cut(at=Trigger(bytes=1)).reads_records


def test_behind_the_end_mark_there_is_nothing_to_cut():
    [(path, message)] = Cut(at=Trigger(moment=Moment.AFTER_END)).problems()
    assert path == ("at",)
    assert "nothing left to cut" in message
    assert Cut(at=Trigger(moment=Moment.END)).problems() == []


def test_a_time_is_divided_by_the_speed(play):
    fast = Context(Random(0), POST, speed=2.0)
    assert play([Cut(at=Trigger(time=5.0))], [], context=fast).end[0] == 2.5


def test_its_times_count_from_the_requests_first_byte(play):
    late = Context(Random(0), POST, began=100.0)
    assert play([Cut(at=Trigger(time=5.0))], [], context=late).end[0] == 105.0


# ---- the request


@pytest.mark.parametrize("byte", [1, 4, 7])
def test_the_request_breaks_off_at_the_byte_and_the_client_is_answered_as_asked(play, byte):
    script = [(1.0, Upload(b"1234")), (2.0, Upload(b"567")), (3.0, Upload(End()))]
    played = play([Cut(at=Trigger(bytes=byte), way=Way.REQUEST, then=(Ending("rst"),))], script, request=POST)
    sent = b"".join(event.payload for _, event in played.request if isinstance(event, Data))
    when = 1.0 if byte <= 4 else 2.0
    assert sent == b"1234567"[:byte]
    assert not any(isinstance(event, End) for _, event in played.request)
    assert (played.end[0], played.end[1].manner, played.cancelled_at) == (when, Manner.RESET, when)


@pytest.mark.parametrize(
    ("moment", "passed"),
    [
        (Moment.REQUEST, []),
        (Moment.HEADERS, [RequestHead]),
        (Moment.BODY, [RequestHead]),
        (Moment.REQUEST_END, [RequestHead, Data]),
        (Moment.END, [RequestHead, Data]),
    ],
)
def test_moments_of_the_request(play, moment, passed):
    script = [(1.0, Upload(b"x")), (2.0, Upload(End()))]
    played = play([Cut(at=Trigger(moment=moment), way=Way.REQUEST)], script, request=POST)
    assert [type(event) for _, event in played.request] == passed
    assert isinstance(played.end[1], Abort)


def test_an_answer_with_the_whole_connection_in_view(play):
    """Nearer the client than the cut, the answer is subject to what stands there."""
    hops = [[Cut(at=Trigger(time=1.0), then=(Ending("status", body=b"gone"),))], [Timeout(first_byte=0.5)]]
    played = play(hops, [])
    assert (played.end[0], played.head[1].status) == (0.5, 504)
    hops.reverse()
    assert play(hops, []).fired == [(0.5, "timeout", "504 after 500ms (first_byte)")]


@pytest.mark.parametrize("way", Way)
def test_side_client_with_half_a_request_cannot_let_the_upstream_run_on(play, way):
    at = Trigger(bytes=2) if way is Way.REQUEST else Trigger(time=1.0)
    script = [(1.0, Upload(b"1234")), (2.0, b"answer"), (3.0, End())]
    played = play([Cut(at=at, way=way, side="client")], script, request=POST)
    assert (played.end[0], played.cancelled_at, played.data) == (1.0, 1.0, b"")


@pytest.mark.parametrize("way", Way)
@pytest.mark.parametrize("moment", [Moment.REQUEST, Moment.REQUEST_END])
def test_side_client_in_front_of_the_request_leaves_nobody_to_run_on(play, way, moment):
    played = play([Cut(at=Trigger(moment=moment), way=way, side="client")], [])
    assert (played.request, played.cancelled_at, played.cancel_cause) == ([], 0.0, "cut")


def test_side_client_while_a_machine_nearer_the_client_holds_the_request(play):
    hops = [[Cut(at=Trigger(time=1.0), way=Way.REQUEST, side="client")], [Latency(delay=2.0, way=Way.REQUEST)]]
    played = play(hops, [], until=10.0)
    assert (played.request, played.cancelled_at) == ([], 1.0)


@pytest.mark.parametrize("framing", [Framing.LENGTH, Framing.STREAM])
def test_no_clean_end_short_of_the_length_that_was_said(play, framing):
    head = ResponseHead(200, ((b"content-type", b"text/plain"), (b"content-length", b"9")), framing=framing)
    played = play([Cut(at=Trigger(bytes=4), then=(Ending("clean"),))], [(1.0, b"data: 1\n\n"), (2.0, End())], head=head)
    assert (played.data, played.end) == (b"data", (1.0, Abort("cut", Peer.PROXY)))


def test_an_answer_instead_of_the_rest_of_a_request_keeps_its_times(play):
    cut = Cut(at=Trigger(bytes=2), way=Way.REQUEST, then=(Ending("status", status=503),))
    played = play([[cut], [Latency(delay=0.5)]], [(1.0, Upload(b"1234"))], request=POST)
    assert [(time, type(event)) for time, event in played.out] == [(1.5, ResponseHead), (1.5, End)]


def test_the_same_seed_and_script_make_the_same_journal():
    faults = [[ClientAbort(), Timeout(idle=3.0)], [Cut(at=Trigger(match="5"), then=(Ending("rst"), ABORT))]]
    first, second = (run(faults, WHOLE, seed=3) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("then", ["{status: 503}", "clean", "[{status: 503}, end_stream]"])
def test_a_connection_has_no_answer_that_could_end(then, refused_below):
    refused_below(f"cut: {{at: {{bytes: 6}}, then: {then}}}", "is about an answer, and a connection has none")
