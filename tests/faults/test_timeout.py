"""`timeout`: each limit, from when it counts, what stops it, what it ignores, and how it ends."""

import math
from random import Random

import pytest

from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Condition, Context
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import Blackhole, Buffer, Latency, Timeout
from chaosproxy.framing.blocks import LIMIT
from chaosproxy.model.messages import Abort, Data, End, Interim, ResponseHead
from chaosproxy.model.vocabulary import Framing, Manner, Scope, Way
from chaosproxy.testing import check_fault
from chaosproxy.testing.play import GET, POST, SSE, Upload

TICKS = [(float(number), b"data: %d\n\n" % number) for number in range(1, 9)]
WHOLE = [*TICKS, (9.0, End())]
PLAIN = ResponseHead(200, ((b"content-type", b"text/plain"),), framing=Framing.CHUNKED)
NDJSON = ResponseHead(200, ((b"content-type", b"application/x-ndjson"),), framing=Framing.CHUNKED)
PING = b": ping\n\n"


def over(name, at, how="abort", after=None):
    return [(at, "timeout", f"{how} after {after} ({name})")]


# ---- first_byte: from the request's end to the status line


def test_without_a_head_it_answers_504(play):
    played = play([Timeout(first_byte=2.0)], [(5.0, b"late")])
    assert (played.head[0], played.head[1].status, played.end) == (2.0, 504, (2.0, End()))
    assert (played.end_cause, played.cancelled_at) == ("timeout:first_byte", 2.0)
    assert played.fired == over("first_byte", 2.0, "504", "2s")


def test_it_counts_from_the_requests_end(play):
    script = [(3.0, Upload(b"x")), (4.0, Upload(End()))]
    assert play([Timeout(first_byte=2.0)], script, request=POST).head[0] == 6.0


def test_the_status_line_stops_it_and_a_100_does_not(play):
    assert play([Timeout(first_byte=2.0)], [(1.9, SSE), (50.0, End())]).fired == []
    assert play([Timeout(first_byte=2.0)], [(1.0, Interim(103)), (1.9, Interim(103))]).head[0] == 2.0


def test_an_answer_before_the_requests_end_was_not_late(play):
    script = [(1.0, SSE), (2.0, Upload(End())), (9.0, End())]
    assert play([Timeout(first_byte=2.0)], script, request=POST).fired == []


# ---- lazy: the timer of between_bytes


def spaced(gap, count, *, first=0.0):
    return [(round(first + gap * number, 9), b"data: x\n\n") for number in range(count)]


@pytest.mark.parametrize(
    ("gap", "count", "silent_for"),
    [
        (0.02, 30, 1.72),  # the last at 580 ms; set at 0 and 300 ms
        (0.1, 6, 1.8),  # the last at 500 ms; set at 0 and 300 ms
        (0.1, 7, 2.0),  # at 600 ms it is moved
        (0.3, 4, 2.0),
        (0.35, 5, 2.0),
        (0.29, 2, 1.71),
    ],
)
def test_a_lazy_timer_is_not_moved_by_less(play, gap, count, silent_for):
    script = [(0.0, SSE), *spaced(gap, count)]
    timeout = Timeout(first_byte=2.0, between_bytes=2.0, lazy=0.3)
    assert play([timeout], script).fired == over("between_bytes", round(script[-1][0] + silent_for, 9), after="2s")
    assert play([Timeout(between_bytes=2.0)], script).fired[0][0] == round(script[-1][0] + 2.0, 9)


def test_the_head_moves_it_too_but_not_by_less(play):
    lazy = Timeout(first_byte=2.0, between_bytes=2.0, lazy=0.3)
    assert play([lazy], [(0.2, SSE)]).end[0] == 2.0
    assert play([lazy], [(0.3, SSE)]).end[0] == 2.3
    assert play([lazy], [(2.5, SSE)]).head[1].status == 504
    alone = Timeout(between_bytes=2.0, lazy=0.3)
    assert play([alone], [(0.2, SSE)]).end[0] == 2.2


@pytest.mark.parametrize("first_byte", [60.0, math.inf])
def test_the_head_moves_it_forward_where_the_next_byte_has_less_time(play, first_byte):
    lazy = Timeout(first_byte=first_byte, between_bytes=2.0, lazy=0.3)
    assert play([lazy], [(0.5, SSE)]).fired == over("between_bytes", 2.5, after="2s")
    assert play([lazy], [(0.5, SSE), (1.0, b"data: 1\n\n")]).fired == over("between_bytes", 3.0, after="2s")


def test_a_lazy_timer_stands_still_while_the_output_is_blocked(play):
    timeout = Timeout(between_bytes=2.0, lazy=0.3)
    script = [(0.0, b"x" * 10), (9.0, 100), (9.5, b"y"), (9.6, End())]
    played = play([timeout], script, head=PLAIN, room=0, window=5)
    assert played.fired == []
    silent = [(0.0, b"x" * 10), (9.0, 100)]
    assert play([timeout], silent, head=PLAIN, room=0, window=5).fired == over("between_bytes", 11.0, after="2s")


def test_a_lazy_one_hears_of_the_requests_end_behind_the_head_too(play):
    script = [(0.0, SSE), (0.5, b"data: 1\n\n"), (1.0, Upload(End())), (1.5, b"data: 2\n\n")]
    timeout = Timeout(between_bytes=2.0, lazy=0.3, response=5.0)
    assert play([timeout], script, request=POST).fired == over("between_bytes", 3.5, after="2s")
    longer = [*script, *((float(second), b"data: x\n\n") for second in range(2, 9))]
    assert play([timeout], longer, request=POST).fired == over("response", 6.0, after="5s")


def test_a_lazy_one_keeps_its_other_limits(play):
    timeout = Timeout(between_bytes=2.0, lazy=0.3, total=3.5, first_event=1.5)
    assert play([timeout], WHOLE).fired == over("total", 3.5, after="3.5s")
    quiet = [(0.5, PING), (1.4, PING)]
    assert play([timeout], quiet).fired == over("first_event", 1.5, after="1.5s")
    check_fault(timeout)
    quick = Timeout(between_bytes=2.0, lazy=0.3)
    assert play([quick], [(0.0, SSE)], context=Context(Random(0), GET, speed=10)).end[0] == 0.2


# ---- blocked: a client that does not read


UNREAD = Timeout(blocked=2.0)
PIECES = [(float(number), b"0123456789") for number in range(1, 5)]


def test_what_is_not_taken_for_so_long_ends_it_and_what_waits_is_lost(play):
    played = play([UNREAD], PIECES, head=PLAIN, room=10, window=10)
    assert played.fired == over("blocked", 4.0, after="2s")  # the second piece fills what is behind, at 2
    assert (played.data, played.end[0], played.end[1].manner) == (b"0123456789", 4.0, Manner.AT_ONCE)
    assert (played.end[1].cause, played.cancelled_at) == ("timeout:blocked", 4.0)


def test_who_takes_a_little_in_time_begins_anew(play):
    script = [*PIECES[:2], (3.9, 10), *PIECES[3:]]
    played = play([UNREAD], script, head=PLAIN, room=10, window=10)
    assert played.fired == over("blocked", 6.0, after="2s")
    assert played.data == b"0123456789" * 2


def test_silence_is_nothing_to_it(play):
    assert play([UNREAD], [(0.5, SSE), (100.0, b"data: 1\n\n"), (200.0, End())]).fired == []


def test_behind_a_machine_that_takes_for_itself_nothing_is_blocked(play):
    takes = Latency(delay=0.001, capacity=1000)
    played = play([UNREAD, takes], PIECES, head=PLAIN, room=10, window=10)
    assert [fault for _, fault, _ in played.fired] == ["latency"]


@pytest.mark.parametrize(("word", "manner"), [("rst", Manner.RESET), ("fin", Manner.FIN)])
def test_the_end_of_the_connection_does_not_wait_to_be_taken_either(play, word, manner):
    played = play([Timeout(blocked=2.0, then=(Ending(word),))], PIECES, head=PLAIN, room=10, window=10)
    assert (played.data, played.end[0]) == (b"0123456789", 4.0)
    assert (played.end[1].scope, played.end[1].manner) == (Scope.CONNECTION, manner)


def test_a_clean_end_is_one_behind_everything(play):
    script = [*PIECES, (9.0, 1000)]
    played = play([Timeout(blocked=2.0, then=(Ending("clean"),))], script, head=PLAIN, room=10, window=10)
    assert (played.end[0], type(played.end[1]), played.fired[0][0]) == (9.0, End, 4.0)
    assert played.data == b"0123456789" * 2


def test_over_http2_it_may_be_said_in_another_way(play):
    spec = Timeout(blocked=2.0, then=(Ending("stream", code=1),))
    over_h2 = Context(Random(0), GET, protocol="h2")
    played = play([spec], PIECES, head=PLAIN, room=10, window=10, context=over_h2, split=True)
    assert (played.end[1].code, played.end[1].manner) == (1, Manner.AT_ONCE)
    check_fault(UNREAD)


# ---- first_event


def test_the_first_record_stops_it_not_the_head_nor_a_comment(play):
    script = [(0.5, PING), (2.5, b"data: 1\n\n"), (30.0, End())]
    assert play([Timeout(first_event=2.0)], script).fired == over("first_event", 2.0, after="2s")
    assert play([Timeout(first_event=3.0)], script).fired == []


def test_the_piece_that_holds_the_first_record_is_not_cut(play):
    played = play([Timeout(first_event=3.0)], [(1.0, b"data: 1\n\ndata: 2"), (2.0, b"\n\n"), (3.5, End())])
    assert [payload for _, payload in played.body] == [b"data: 1\n\ndata: 2", b"\n\n"]


def test_a_body_without_records_has_no_first_one_to_wait_for(play):
    assert play([Timeout(first_event=3.0)], [(1.0, b"x"), (9.0, End())], head=PLAIN).not_fired == [
        ("timeout", "no records")
    ]


@pytest.mark.parametrize(
    "spec",
    [Timeout(idle=9.0, ignore=("comments",)), Timeout(first_event=3.0, total=60.0), Timeout(first_event=3.0, idle=9.0)],
)
def test_its_other_limits_hold_in_any_body_and_have_not_come(play, spec):
    assert play([spec], [(1.0, b"x"), (9.0, End())], head=PLAIN).not_fired == [("timeout", "not reached")]


def test_before_the_head_it_runs_all_the_same(play):
    assert play([Timeout(first_event=3.0)], [(5.0, b"x")], head=PLAIN).head[1].status == 504


# ---- idle


def test_idle_counts_from_the_requests_end_and_then_from_each_byte(play):
    assert play([Timeout(idle=1.5)], [(9.0, b"x")]).head[:1] == (1.5,)
    played = play([Timeout(idle=1.5)], TICKS)
    assert played.fired == over("idle", 9.5, after="1.5s")
    script = [(3.0, Upload(b"x")), (4.0, Upload(End()))]
    assert play([Timeout(idle=1.5)], script, request=POST).head[0] == 5.5


def test_a_byte_at_the_very_instant_is_too_late(play):
    assert play([Timeout(idle=1.0)], [(0.5, b"x"), (1.5, b"x")]).end[0] == 1.5
    assert play([Timeout(idle=1.0)], [(0.5, b"x"), (1.4999, b"x"), (2.0, End())]).fired == []


def test_a_head_is_no_byte_of_the_body(play):
    assert play([Timeout(idle=2.0)], [(1.5, SSE), (3.0, b"x")]).end[0] == 2.0


def test_the_end_stops_it(play):
    assert play([Timeout(idle=1.5)], [(1.0, b"x"), (2.0, End())]).not_fired == [("timeout", "not reached")]


def test_idle_sees_what_the_fault_before_it_lets_out(play):
    assert play([Buffer(every=4.0), Timeout(idle=3.0)], TICKS).fired[-1][0] == 3.0
    assert play([Timeout(idle=3.0), Buffer(every=4.0)], WHOLE).not_fired == [("timeout", "not reached")]


def test_the_silence_before_its_output_was_blocked_counts(play):
    """From the byte at 1 to 2 s, when the next machine is gone, and on from 5 s, when it is back."""
    hops = [[Timeout(idle=3.0)], [Blackhole(at=Trigger(time=2.0), for_=3.0)]]
    assert play(hops, TICKS[:1]).fired[-1] == (7.0, "timeout", "abort after 3s (idle)")


def test_the_clock_stands_still_from_the_byte_on_that_has_filled_what_is_behind(play):
    """The line behind has room for two pieces and gets a third at 0.75; the first leaves it at 1 s."""
    hops = [[Latency(delay=0.5, capacity=20)], [Timeout(idle=0.75), Latency(delay=0.5, capacity=20)]]
    piece = TICKS[0][1]
    assert play(hops, [(0.0, piece), (0.25, [piece, piece])]).fired[-1][:2] == (1.75, "timeout")


# ---- response: from the request's end to the end of the answer


def test_an_answer_that_takes_too_long_whatever_comes_meanwhile(play):
    assert play([Timeout(response=4.5)], TICKS).fired == over("response", 4.5, after="4.5s")
    assert play([Timeout(response=9.5)], WHOLE).fired == []
    assert play([Timeout(response=4.5)], []).head[1].status == 504


def test_the_time_that_the_request_takes_is_its_own(play):
    script = [(3.0, Upload(b"x")), (4.0, Upload(End())), *((4.0 + time, data) for time, data in TICKS)]
    assert play([Timeout(response=2.5)], script, request=POST).fired == over("response", 6.5, after="2.5s")
    assert play([Timeout(total=2.5)], script, request=POST).fired == over("total", 2.5, "504", "2.5s")


# ---- between_bytes: from the head on, which is a byte of the answer too


def test_the_head_starts_it_and_each_byte_starts_it_anew(play):
    script = [(18.0, SSE), (22.0, b"data: 1\n\n"), (26.5, b"da"), (60.0, End())]
    played = play([Timeout(first_byte=20.0, between_bytes=5.0)], script)
    assert played.fired == over("between_bytes", 31.5, after="5s")
    assert played.data == b"data: 1\n\nda"
    assert isinstance(played.end[1], Abort)
    assert played.end_cause is None
    assert played.cancel_cause == "timeout:between_bytes"


def test_before_the_head_nothing_is_between(play):
    assert play([Timeout(between_bytes=5.0)], [(50.0, SSE), (50.1, End())]).fired == []
    assert play([Timeout(first_byte=20.0, between_bytes=5.0)], []).fired == over("first_byte", 20.0, "504", "20s")


def test_a_head_with_nothing_behind_it_is_silent(play):
    assert play([Timeout(between_bytes=5.0)], [(18.0, SSE), (60.0, b"x")]).fired == over(
        "between_bytes", 23.0, after="5s"
    )
    assert play([Timeout(between_bytes=5.0)], [(1.0, PLAIN), (5.9, b"x"), (10.8, End())]).fired == []


def test_the_shorter_of_it_and_idle_fires(play):
    script = [(9.0, SSE), (10.0, b"x"), (60.0, End())]
    assert play([Timeout(between_bytes=5.0, idle=30.0)], script).fired == over("between_bytes", 15.0, after="5s")
    assert play([Timeout(between_bytes=30.0, idle=20.0)], script).fired == over("idle", 30.0, after="20s")


def test_its_clock_stands_still_while_the_output_is_blocked(play):
    script = [(0.0, SSE), (1.0, b"x" * 8), (2.0, b"y" * 8), (20.0, 16), (60.0, End())]
    assert play([Timeout(between_bytes=5.0)], script, room=8, window=8).fired == over("between_bytes", 25.0, after="5s")


# ---- idle, keep-alives left out


@pytest.mark.parametrize(
    ("ignore", "noise"),
    [
        ("comments", PING),
        ("ping_events", b"event: ping\ndata: {}\n\n"),
        ("empty_deltas", b'data: {"choices": [{"delta": {}, "finish_reason": null}]}\n\n'),
    ],
)
def test_what_is_ignored_does_not_keep_it_alive(play, ignore, noise):
    script = [TICKS[0], *((float(number), noise) for number in range(2, 9)), (9.0, End())]
    assert play([Timeout(idle=2.5)], script).fired == []
    assert play([Timeout(idle=2.5, ignore=(ignore,))], script).fired == over("idle", 3.5, after="2.5s")


def test_what_is_not_ignored_does(play):
    script = [*TICKS, (9.0, End())]
    assert play([Timeout(idle=1.5, ignore=("comments", "ping_events", "empty_deltas"))], script).fired == []


def test_the_bytes_of_a_record_count_as_they_come_until_it_turns_out_to_be_noise(play):
    growing = [(1.0, b"data: "), (2.0, b"a"), (3.0, b"b"), (4.0, b"c\n\n"), (5.0, End())]
    assert play([Timeout(idle=1.5, ignore=("comments",))], growing).fired == []
    noise = [TICKS[0], (2.0, b": pi"), (2.2, b"ng\n\n"), (5.0, End())]
    assert play([Timeout(idle=1.5, ignore=("comments",))], noise).fired == over("idle", 2.5, after="1.5s")


def test_comments_that_end_where_the_next_begins_are_ignored_all_the_same(play):
    script = [TICKS[0], (2.0, b": pi"), *((float(number), b"ng\n\n: pi") for number in range(3, 9)), (9.0, End())]
    assert play([Timeout(idle=2.5)], script).fired == []
    assert play([Timeout(idle=2.5, ignore=("comments",))], script).fired == over("idle", 3.5, after="2.5s")
    alive = [TICKS[0], (2.0, b": ping\nda"), (3.0, b"ta: 2\n\n: ping\nda"), (4.0, b"ta: 3\n\n"), (5.0, End())]
    assert play([Timeout(idle=1.5, ignore=("comments",))], alive).fired == []


def test_a_record_that_outgrows_every_limit_counts(play):
    script = [TICKS[0], (2.0, b"data: " + b"x" * (LIMIT + 10)), (3.0, b"x"), (4.0, b"x\n\n"), (5.0, End())]
    assert play([Timeout(idle=1.5, ignore=("comments",))], script, window=8 * LIMIT).fired == []
    at_once = [TICKS[0], (2.0, b": " + b"x" * LIMIT + b"\n\n"), (3.0, End())]
    assert play([Timeout(idle=1.5, ignore=("comments",))], at_once, window=8 * LIMIT).fired == []


def test_a_line_that_comes_in_pieces_counts_as_it_comes(play):
    script = [(0.0, NDJSON), *((float(second), b"." * 9) for second in range(1, 9)), (8.5, b"\n"), (8.5, End())]
    assert play([Timeout(idle=1.5, ignore=("empty_deltas",))], script).fired == []


def test_nothing_is_ignored_in_a_body_without_records(play):
    script = [(1.0, PING), (2.0, PING), (3.0, PING), (4.0, End())]
    assert play([Timeout(idle=1.5, ignore=("comments",))], script, head=PLAIN).fired == []


def test_looking_through_keep_alives_the_other_limits_hold(play):
    faults = [Timeout(idle=2.5, total=6.5, first_event=3.0, ignore=("comments",))]
    assert play(faults, WHOLE).fired == over("total", 6.5, after="6.5s")
    noise = [(float(number), PING) for number in range(1, 9)]
    assert play(faults, noise).fired == over("idle", 2.5, after="2.5s")
    assert play([Timeout(idle=9.0, first_event=3.0, ignore=("comments",))], noise).fired == over(
        "first_event", 3.0, after="3s"
    )


def test_the_body_may_begin_before_the_request_is_complete(play):
    script = [(1.0, b"data: 1\n\n"), (5.0, Upload(End())), (9.0, End())]
    faults = [Timeout(idle=2.5, ignore=("comments",))]
    assert play(faults, script, request=POST).fired == over("idle", 3.5, after="2.5s")


# ---- total


def test_total_counts_from_the_requests_first_byte_to_the_end(play):
    assert play([Timeout(total=4.5)], WHOLE).fired == over("total", 4.5, after="4.5s")
    assert play([Timeout(total=9.5)], WHOLE).fired == []
    late = Context(Random(0), POST, began=10.0)
    assert play([Timeout(total=4.5)], [(12.0, Upload(b"x"))], request=POST, context=late).head[0] == 14.5


def test_the_nearest_of_several_limits_is_the_cause(play):
    faults = [Timeout(first_byte=3.0, first_event=4.0, idle=5.0, total=6.0)]
    assert play(faults, []).end_cause == "timeout:first_byte"
    assert play(faults, [(2.0, SSE)]).end[1].cause == "timeout:first_event"
    assert play(faults, [(2.0, b"data: 1\n\n")]).end[1].cause == "timeout:total"
    assert play([Timeout(idle=2.0, total=6.0)], [(2.0 - 0.5, b"x")]).end[1].cause == "timeout:idle"


def test_speed_divides_them_all(play):
    fast = Context(Random(0), POST, speed=10.0)
    assert play([Timeout(total=5.0)], [], context=fast).fired == over("total", 0.5, "504", "5s")
    assert play([Timeout(idle=5.0)], [(0.1, b"x")], context=fast).end[0] == 0.6
    assert play([Timeout(first_byte=5.0)], [], context=fast).end[0] == 0.5


# ---- how it ends


def test_by_default_504_while_no_head_has_passed_else_abort(play):
    assert play([Timeout(total=0.5)], WHOLE).head[1].status == 504
    assert isinstance(play([Timeout(total=1.5)], WHOLE).end[1], Abort)


def test_then(play):
    played = play([Timeout(total=1.5, then=(Ending("status", status=500), Ending("clean")))], WHOLE)
    assert (played.end, played.end_cause) == ((1.5, End()), "timeout:total")


def test_once_decided_by_the_head_it_measures_from_what_it_has_missed(play):
    condition = Condition(content_type="text/event-stream")
    assert play([Timeout(idle=3.0, if_=condition)], [(2.0, SSE)]).end[0] == 3.0
    assert play([Timeout(first_event=3.0, if_=condition)], [(4.0, SSE), (9.0, End())]).end[0] == 4.0
    assert play([Timeout(idle=3.0, if_=condition)], [(2.0, PLAIN), (9.0, End())]).not_fired == [("timeout", "if")]


def test_the_upstream_may_be_left_to_run_on(play):
    script = [*TICKS[:3], (60.0, b"data: 4\n\n"), (61.0, End())]
    early = play([Timeout(first_byte=2.0, side="client")], [(60.0, SSE), (61.0, End())])
    assert (early.head[0], early.head[1].status, early.cancelled_at) == (2.0, 504, None)
    played = play([Timeout(between_bytes=5.0, side="client")], script)
    assert (played.body, played.end[0], played.cancelled_at) == (TICKS[:3], 8.0, None)
    assert play([Timeout(between_bytes=5.0)], script).cancelled_at == 8.0


# ---- the request


def test_an_upload_that_stands_still_is_given_up(play):
    script = [(1.0, Upload(b"a")), (2.0, Upload(b"b")), (9.0, Upload(End()))]
    played = play([Timeout(idle=1.5, way=Way.REQUEST)], script, request=POST)
    assert (played.head[0], played.head[1].status, played.cancelled_at) == (3.5, 504, 3.5)
    assert b"".join(event.payload for _, event in played.request if isinstance(event, Data)) == b"ab"


def test_an_upload_that_never_begins_too(play):
    assert play([Timeout(idle=1.5, way=Way.REQUEST)], [], request=POST).head[0] == 1.5


def test_of_the_request_total_ends_with_the_request(play):
    faults = [Timeout(total=5.0, way=Way.REQUEST)]
    assert play(faults, [(1.0, Upload(End())), *TICKS[1:]], request=POST).fired == []
    assert play(faults, [(6.0, Upload(End()))], request=POST).head[0] == 5.0


def test_silence_of_the_answer_is_nothing_to_a_timeout_of_the_request(play):
    assert play([Timeout(idle=1.0, way=Way.REQUEST)], [(0.5, Upload(End())), (9.0, b"x")], request=POST).fired == []


# ---- what it cannot be


@pytest.mark.parametrize(
    ("parameters", "path", "words"),
    [
        ({}, (), "needs one of"),
        ({"total": 1.0, "ignore": ("comments",)}, ("ignore",), "give an idle too"),
        ({"first_byte": 1.0, "way": Way.REQUEST}, ("way",), "times of the answer"),
        ({"first_event": 1.0, "way": Way.REQUEST}, ("way",), "times of the answer"),
        ({"between_bytes": 1.0, "way": Way.REQUEST}, ("way",), "times of the answer"),
        ({"response": 1.0, "way": Way.REQUEST}, ("way",), "times of the answer"),
        ({"between_bytes": 1.0, "idle": 1.0, "ignore": ("comments",)}, ("ignore",), "a timeout of its own"),
        ({"blocked": 1.0, "idle": 1.0}, ("blocked",), "a timeout of its own"),
        ({"total": 1.0, "lazy": 0.3}, ("lazy",), "give one too"),
        ({"between_bytes": 1.0, "idle": 1.0, "lazy": 0.3}, ("lazy",), "a timeout of its own"),
    ],
)
def test_impossible_combinations(parameters, path, words):
    [(where, message)] = Timeout(**parameters).problems()
    assert where == path
    assert words in message


def test_possible_ones():
    assert Timeout(idle=1.0, ignore=("comments",)).problems() == []
    assert Timeout(idle=1.0, total=1.0, way=Way.REQUEST).problems() == []


def test_it_reads_records_only_for_events_and_keep_alives():
    assert Timeout(first_event=1.0).reads_records
    assert Timeout(idle=1.0, ignore=("comments",)).reads_records
    assert not Timeout(idle=1.0, total=1.0, first_byte=1.0).reads_records
