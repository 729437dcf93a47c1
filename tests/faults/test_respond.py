"""`respond`: the machine answers by itself."""

from dataclasses import replace
from random import Random

import pytest

from chaosproxy.chain.fault import Condition, Context
from chaosproxy.chain.trigger import Trigger
from chaosproxy.errors import ScenarioError
from chaosproxy.faults import Buffer, Cut, Respond, Timeout
from chaosproxy.model.headers import first
from chaosproxy.model.messages import Abort, Data, End
from chaosproxy.scenario.load import load
from chaosproxy.testing.play import GET, POST, Upload, play

UPLOAD = [(0.1, Upload(b"abc")), (0.5, Upload(End()))]


def answered(played):
    """(time, status, body) of the answer."""
    time, head = played.head
    return time, head.status, played.data


def test_it_answers_at_once_and_nothing_is_dialled():
    played = play([Respond(status=503, body=b"busy")], [])
    assert answered(played) == (0.0, 503, b"busy")
    assert isinstance(played.end[1], End)
    assert played.request == []
    assert (played.cancelled_at, played.end_cause) == (0.0, "respond")
    assert played.fired == [(0.0, "respond", "answered 503")]


def test_the_answer_is_framed_by_its_length_and_has_a_type():
    _, head = play([Respond(status=503, body=b"busy")], []).head
    assert (first(head.headers, b"content-length"), first(head.headers, b"content-type")) == (
        b"4",
        b"text/plain; charset=utf-8",
    )


def test_headers_of_its_own():
    _, head = play([Respond(headers=((b"Content-Type", b"application/json"), (b"X", b"y")), body=b"{}")], []).head
    assert head.headers == ((b"Content-Type", b"application/json"), (b"X", b"y"), (b"content-length", b"2"))


@pytest.mark.parametrize(
    ("given", "sent"), [(3, b"3"), ("Wed, 21 Oct 2026 07:28:00 GMT", b"Wed, 21 Oct 2026 07:28:00 GMT")]
)
def test_retry_after_is_seconds_or_stands_as_it_is(given, sent):
    _, head = play([Respond(status=429, retry_after=given)], []).head
    assert first(head.headers, b"retry-after") == sent


def test_it_waits_for_the_whole_request():
    played = play([Respond(status=413)], UPLOAD, request=POST)
    assert answered(played) == (0.5, 413, b"")
    assert played.request == []


def test_early_is_at_the_head():
    assert answered(play([Respond(status=413, early=True)], UPLOAD, request=POST)) == (0.0, 413, b"")


@pytest.mark.parametrize(("early", "time"), [(False, 2.5), (True, 2.0)])
def test_the_delay_counts_from_there(early, time):
    assert answered(play([Respond(status=504, delay=2.0, early=early)], UPLOAD, request=POST))[0] == time


@pytest.mark.parametrize("status", [204, 304])
def test_a_status_without_a_body_has_none(status):
    played = play([Respond(status=status, body=b"not sent")], [])
    assert answered(played) == (0.0, status, b"")
    assert first(played.head[1].headers, b"content-length") is None


def test_the_answer_to_head_has_the_length_and_no_body():
    played = play([Respond(body=b"four")], [], request=replace(GET, method=b"HEAD"))
    assert (played.data, first(played.head[1].headers, b"content-length")) == (b"", b"4")


def test_faults_nearer_the_client_act_on_the_answer_and_those_behind_never_hear_of_the_request():
    behind, front = Buffer(until_end=True), Cut(at=Trigger(bytes=2))
    played = play([[behind], [Respond(body=b"four")], [front]], [])
    assert played.data == b"fo"
    assert isinstance(played.end[1], Abort)
    assert [fault for _, fault, _ in played.fired] == ["respond", "cut"]
    assert played.not_fired == [("buffer", "not reached")]


def test_the_first_of_two_towards_the_client_answers():
    played = play([[Respond(status=500)], [Respond(status=429)]], [])
    assert answered(played)[1] == 429
    assert played.not_fired == [("respond", "not reached")]


def test_a_client_that_leaves_before_the_delay_gets_nothing():
    played = play([Respond(status=504, delay=2.0)], [(1.0, "hangup")])
    assert played.out == []
    assert played.not_fired == [("respond", "not reached")]


@pytest.mark.parametrize("status", [199, 600, 0])
def test_a_status_that_is_none_is_refused(status):
    with pytest.raises(ScenarioError, match="a whole number from 200 to 599"):
        load({"version": 1, "faults": [{"respond": status}]})


def test_no_empty_piece():
    assert not [event for _, event in play([Respond()], []).out if isinstance(event, Data)]


def test_speed_divides_the_delay_and_leaves_retry_after_alone(play):
    fast = Context(Random(0), GET, speed=10.0)
    at, head = play([Respond(status=503, delay=5.0, retry_after=3)], [], context=fast).head
    assert (at, first(head.headers, b"retry-after")) == (0.5, b"3")


def test_the_request_is_taken_to_its_end_however_long_and_slow(play):
    long = [(float(number), Upload(b"x" * 1000)) for number in range(1, 100)]
    played = play([Respond()], [*long, (300.0, Upload(End()))], request=POST, window=4096)
    assert (played.head[0], played.request) == (300.0, [])


def test_where_it_does_not_apply_the_upstream_answers(play):
    played = play([Respond(if_=Condition(protocol="h2"))], [(1.0, b"x"), (2.0, End())])
    assert (played.data, played.not_fired) == (b"x", [("respond", "if")])


def test_it_cannot_wait_for_what_an_upstream_says_that_is_not_asked(play):
    assert play([Respond(if_=Condition(status=200))], [(1.0, b"x")]).not_fired == [("respond", "if")]


def test_a_hop_nearer_the_client_may_give_up_first(play):
    hops = [[Respond(delay=5.0)], [Timeout(first_byte=2.0)]]
    played = play(hops, [(1.0, Upload(End()))], request=POST)
    assert (played.head[0], played.head[1].status, played.end_cause) == (3.0, 504, "timeout:first_byte")
    assert played.not_fired == [("respond", "not reached")]


def test_a_retry_after_that_would_be_two_fields_is_refused():
    [(path, _)] = Respond(retry_after="1\r\nX: y").problems()
    assert path == ("retry_after",)


@pytest.mark.parametrize(
    "spec",
    [Respond(), Respond(status=599), Respond(retry_after=0), Respond(retry_after=-1), Respond(retry_after="soon")],
)
def test_what_is_possible_is_not_refused(spec):
    assert spec.problems() == []
