"""`retry_upstream`: the machine asks again by itself, whoever waits sees one answer."""

from dataclasses import replace
from random import Random

import pytest

from chaosproxy.chain.fault import Context
from chaosproxy.faults import ClientAbort, RetryUpstream, Timeout
from chaosproxy.model.headers import first
from chaosproxy.model.messages import Abort, Data, End, Interim, RequestHead, ResponseHead
from chaosproxy.model.vocabulary import Framing, Peer
from chaosproxy.testing import Upload, check_fault, play
from chaosproxy.testing.play import GET, POST, SSE

BUSY = ResponseHead(503, ((b"content-length", b"0"),), b"", Framing.LENGTH, final=True)
LIMITED = replace(BUSY, status=429)
RESET = Abort("upstream:rst", Peer.UPSTREAM)
ONE, TWO = b"data: 1\n\n", b"data: 2\n\n"
GOOD = [(5.0, ONE), (5.1, TWO), (5.1, End())]


def heads(played):
    """When the upstream was asked."""
    return [time for time, event in played.request if isinstance(event, RequestHead)]


def answer(played):
    return played.head[1].status, played.data, type(played.end[1])


def test_a_status_that_is_waited_for_is_not_seen_by_the_client():
    played = play([RetryUpstream(on=("5xx",))], [(1.0, BUSY), *GOOD])
    assert answer(played) == (200, ONE + TWO, End)
    assert heads(played) == [0.0, 1.0]
    assert played.asked_again == [1.0]
    assert played.fired == [(1.0, "retry_upstream", "retry 1: status 503")]
    assert played.head[0] == 5.0


def test_by_itself_it_asks_again_after_any_answer_of_a_server_in_trouble():
    assert play([RetryUpstream()], [(1.0, BUSY), *GOOD]).fired == [(1.0, "retry_upstream", "retry 1: status 503")]
    assert play([RetryUpstream()], [(1.0, LIMITED), (1.0, End())]).head[1].status == 429


@pytest.mark.parametrize(
    ("on", "head", "again"),
    [
        (("5xx",), BUSY, True),
        (("5xx",), LIMITED, False),
        ((503,), BUSY, True),
        ((502,), BUSY, False),
        ((502, 429), LIMITED, True),
        (("error", "timeout"), BUSY, False),
    ],
)
def test_which_status(on, head, again):
    played = play([RetryUpstream(on=on)], [(1.0, head), (1.0, End()) if not again else (1.0, SSE), *GOOD[again - 1 :]])
    assert bool(played.asked_again) is again
    assert played.head[1].status == (200 if again else head.status)


def test_no_connection_and_one_that_does_not_last_until_the_head():
    played = play([RetryUpstream(on="error")], [(1.0, RESET), (2.0, RESET), *GOOD])
    assert answer(played) == (200, ONE + TWO, End)
    assert heads(played) == [0.0, 1.0, 2.0]
    assert [detail for _, _, detail in played.fired] == ["retry 1: upstream:rst", "retry 2: upstream:rst"]


def test_what_the_last_try_says_counts():
    played = play([RetryUpstream(on=("5xx",), times=1)], [(1.0, BUSY), (2.0, BUSY), (2.0, End())])
    assert (played.head[1].status, played.head[0]) == (503, 2.0)
    assert len(played.fired) == 1
    broken = play([RetryUpstream(times=1)], [(1.0, RESET), (2.0, RESET)])
    assert broken.end == (2.0, RESET)


def test_each_try_has_its_time_and_after_the_last_comes_a_504():
    played = play([RetryUpstream(on=("timeout",), timeout=10.0, times=2)], [])
    assert heads(played) == [0.0, 10.0, 20.0]
    assert (played.head[0], played.head[1].status) == (30.0, 504)
    assert (played.end_cause, played.cancelled_at) == ("retry_upstream", 30.0)
    assert [detail for _, _, detail in played.fired] == [
        "retry 1: no answer in 10s",
        "retry 2: no answer in 10s",
        "504 no answer in 10s",
    ]


def test_the_time_counts_from_the_requests_end_and_ends_with_the_head():
    upload = [(3.0, Upload(b"x")), (5.0, Upload(End()))]
    played = play([RetryUpstream(timeout=10.0)], [*upload, (14.9, SSE), (100.0, ONE), (100.0, End())], request=POST)
    assert (played.asked_again, played.data) == ([], ONE)
    assert play([RetryUpstream(timeout=10.0)], upload, request=POST).asked_again == [15.0, 25.0]


def test_the_whole_upload_is_sent_again_also_one_that_is_not_complete():
    steps = [(1.0, Upload(b"ab")), (2.0, BUSY), (3.0, Upload(b"cd")), (4.0, Upload(End())), *GOOD]
    played = play([RetryUpstream(on=("5xx",))], steps, request=POST)
    assert [(time, getattr(event, "payload", type(event))) for time, event in played.request] == [
        (0.0, RequestHead), (1.0, b"ab"),
        (2.0, RequestHead), (2.0, b"ab"), (3.0, b"cd"), (4.0, End),
    ]  # fmt: skip
    assert answer(played) == (200, ONE + TWO, End)


def test_a_longer_upload_is_not_kept():
    piece = b"x" * (1 << 19)
    steps = [*((0.1 * n, Upload(piece)) for n in range(1, 4)), (1.0, Upload(End())), (2.0, BUSY), (2.0, End())]
    played = play([RetryUpstream(on=("5xx",))], steps, request=POST)
    assert (played.head[1].status, played.asked_again) == (503, [])
    assert played.not_fired == [("retry_upstream", "request too long")]
    late = play([RetryUpstream(timeout=5.0)], steps[:-2], request=POST)
    assert (late.head[0], late.head[1].status) == (6.0, 504)


def test_one_of_just_that_length_is_kept():
    piece = b"x" * (1 << 19)
    steps = [(0.1, Upload(piece)), (0.2, Upload(piece)), (1.0, Upload(End())), (2.0, BUSY), *GOOD]
    played = play([RetryUpstream(on=("5xx",))], steps, request=POST)
    assert sum(len(event.payload) for _, event in played.request if isinstance(event, Data)) == 4 * len(piece)
    assert answer(played) == (200, ONE + TWO, End)


def test_only_some_methods():
    only = RetryUpstream(on=("5xx",), methods=("GET", "HEAD"))
    assert play([only], [(1.0, BUSY), *GOOD]).asked_again == [1.0]
    upload = [(0.5, Upload(End())), (1.0, BUSY), (1.0, End())]
    played = play([only], upload, request=POST)
    assert (played.head[1].status, played.not_fired) == (503, [("retry_upstream", "method")])


def test_a_tunnel_is_not_asked_for_twice():
    request = replace(GET, upgrade=b"websocket")
    played = play([RetryUpstream(on=("5xx",), timeout=1.0)], [(2.0, BUSY)], request=request)
    assert (played.asked_again, played.not_fired) == ([], [("retry_upstream", "protocol")])


def test_an_answer_that_has_begun_is_not_asked_for_again():
    played = play([RetryUpstream()], [(1.0, ONE), (2.0, RESET)])
    assert (played.asked_again, played.data, played.end) == ([], ONE, (2.0, RESET))


# ---- in the middle of an answer

AGAIN = RetryUpstream(on=("error", "timeout"), mid_stream=True, idle=10.0)


def test_the_whole_answer_comes_behind_the_part_that_had_gone_on():
    played = play([AGAIN], [(1.0, ONE), (2.0, RESET), *GOOD])
    assert answer(played) == (200, ONE + ONE + TWO, End)
    assert len([event for _, event in played.out if isinstance(event, ResponseHead)]) == 1
    assert played.records_out == 3


@pytest.mark.parametrize("lazy", [True, False])
def test_what_the_next_one_says_in_advance_is_not_put_into_the_middle(lazy):
    early = Interim(103)
    played = play([AGAIN], [(0.5, early), (1.0, SSE), (1.0, ONE), (2.0, RESET), (3.0, early), *GOOD], lazy=lazy)
    assert [time for time, event in played.out if event is early] == [0.5]
    assert played.data == ONE + ONE + TWO


def test_a_silence_in_the_middle():
    played = play([AGAIN], [(1.0, ONE), (12.0, ONE), (12.1, TWO), (12.2, End())])
    assert (played.asked_again, played.data) == ([11.0], ONE + ONE + TWO)
    assert played.fired == [(11.0, "retry_upstream", "retry 1: silent for 10s")]


def test_a_silence_behind_the_head_counts_from_the_head():
    played = play([AGAIN], [(20.0, SSE), (30.0, SSE), (39.0, ONE), (48.0, TWO), (48.0, End())])
    assert (played.asked_again, played.data) == ([30.0], ONE + TWO)


def test_a_silence_of_the_last_try_is_the_end():
    played = play([replace(AGAIN, times=1)], [(1.0, ONE), (12.0, ONE)])
    assert (played.asked_again, played.data, played.end[0]) == ([11.0], ONE + ONE, 22.0)
    assert isinstance(played.end[1], Abort)


def test_an_error_of_the_next_try_hides_what_went_wrong():
    refused = ResponseHead(400, ((b"content-length", b"3"),), b"", Framing.LENGTH)
    played = play([AGAIN], [(1.0, ONE), (2.0, RESET), (3.0, refused), (3.0, b"no!")])
    assert (played.data, played.end[0], played.end[1].cause) == (ONE, 3.0, "retry_upstream")
    assert played.fired[-1] == (3.0, "retry_upstream", "abort the next answer was 400")


def test_the_length_of_the_first_gives_way():
    head = replace(SSE, headers=(*SSE.headers, (b"content-length", b"18")), framing=Framing.LENGTH)
    played = play([AGAIN], [(1.0, ONE), (2.0, RESET), *GOOD], head=head)
    assert first(played.head[1].headers, b"content-length") is None
    assert played.data == ONE + ONE + TWO


# ---- with others, and who leaves


def test_no_further_try_for_a_client_that_is_gone():
    played = play([RetryUpstream(on=("5xx",), timeout=1.0)], [(0.5, "hangup")])
    assert (played.asked_again, played.cancelled_at) == ([], 0.5)


def test_a_machine_in_front_that_goes_on_without_its_client_has_the_upstream_asked_for_nobody():
    played = play([[RetryUpstream(on=("5xx",))], [ClientAbort(mode="ignore")]], [(0.5, "hangup"), (1.0, BUSY), *GOOD])
    assert (played.asked_again, played.out) == ([1.0], [])


def test_an_outer_machine_that_waits_less_long_sees_one_long_silence():
    hops = [[RetryUpstream(on=("timeout",), timeout=40.0)], [Timeout(first_byte=60.0)]]
    played = play(hops, [])
    assert heads(played) == [0.0, 40.0]
    assert (played.head[0], played.end_cause) == (60.0, "timeout:first_byte")


def test_nothing_to_retry():
    for spec in (RetryUpstream(), RetryUpstream(on=("5xx",)), replace(AGAIN, idle=200.0)):
        check_fault(spec)
    check_fault(RetryUpstream(on=("5xx", 429)), neutral=True)


def test_speed_divides_its_times():
    fast = Context(Random(0), GET, speed=10.0)
    assert play([RetryUpstream(timeout=10.0)], [], context=fast).asked_again == [1.0, 2.0]
    assert play([AGAIN], [(1.0, ONE)], context=fast).asked_again[0] == 2.0


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("retry_upstream: sometimes", 21, "error, timeout, 5xx"),
        ("retry_upstream: [200]", 22, "from 400 to 599"),
        ("retry_upstream: {times: 0}", 29, "a whole number, 1 or more"),
        ("retry_upstream: {timeout: 5}", 31, "a duration"),
        ("retry_upstream: {timeout: 0s}", 31, "no time"),
        ("retry_upstream: {idle: 5s}", 28, "mid_stream"),
        ("retry_upstream: {on: error, mid_stream: true, idle: 5s}", 57, "on: timeout"),
        ("retry_upstream: {at: body}", 22, "at"),
    ],
)
def test_load_errors(refused, text, column, words):
    refused(text, column, words)


def test_nothing_stands_nearer_the_upstream(refused):
    refused("latency: 5ms\n  - retry_upstream: {}", 5, "nothing may stand nearer the upstream", line=4)
