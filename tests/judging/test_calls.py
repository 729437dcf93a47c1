"""Checks of a client that asks again, over records made by hand."""

import pytest

from chaosproxy.journal.record import Ending, Fired
from chaosproxy.judging.calls import Attempts, GivesUp, NoRetryAfterOutput, RetryAfter, RetryDelay, calls
from tests.judging.made import exchange, met

BUSY = {"status": 503, "events": (), "end": 0.125, "ending": Ending("proxy", "clean", "respond")}
BROKEN = {"ending": Ending("proxy", "fin", "cut")}


YEAR = "Mon, 01 Jan 99999999999 00:00:00 GMT"
ZONE = "Mon, 01 Jan 2027 00:00:00 +99999999999999999999"


def busy(number, began, **more):
    return exchange(number, began=began, **BUSY, **more)


def test_attempts_of_one_call_ask_the_same_of_the_same():
    other_path, other_query = exchange(4, began=3.0), exchange(5, began=4.0)
    other_path.request.path, other_query.request.query = "/v2", "a=b"
    records = [exchange(1), exchange(2, began=1.0, body=b"else"), exchange(3, began=2.0), other_path, other_query]
    assert [[one.id for one in attempts] for attempts in calls(records)] == [[1, 3], [2], [4], [5]]


def test_attempts_stand_in_the_order_in_which_they_came_whenever_they_ended():
    assert [one.id for one in calls([exchange(2, began=0.2), exchange(1, began=0.1, end=9.0)])[0]] == [1, 2]


def refused(number, began, length=""):
    """At its head: nothing is known of its body but what was announced."""
    record = busy(number, began)
    record.evidence.request, record.times.request_end = None, None
    record.request.headers = [["Content-Length", length]] if length else []
    return record


def sent(number, began, body):
    record = exchange(number, began=began, body=body)
    record.request.bytes = len(body)
    return record


def test_an_attempt_that_was_over_before_its_body_had_come_is_one_of_the_call_that_has_its_length():
    records = [refused(1, 0.0, "5"), refused(2, 1.0, "6"), sent(3, 2.0, b"hello"), refused(4, 3.0, "5")]
    assert [[one.id for one in attempts] for attempts in calls(records)] == [[1, 3, 4], [2]]
    assert [[one.id for one in attempts] for attempts in calls([refused(1, 0.0), sent(2, 2.0, b"hello")])] == [[1, 2]]
    two = [refused(1, 0.0, "5"), sent(2, 2.0, b"hello"), sent(3, 2.5, b"world"), refused(4, 3.0, "\xb2")]
    assert [[one.id for one in attempts] for attempts in calls(two)] == [[1], [2], [3], [4]], "whose it is nobody knows"


@pytest.mark.parametrize(
    ("check", "good"),
    [(Attempts(count=3), True), (Attempts(max=3), True), (Attempts(max=2), False), (Attempts(count=2), False)],
)
def test_attempts(check, good):
    (finding,) = check.look([busy(1, 0.0), busy(2, 1.0), busy(3, 3.0)])
    assert (finding.exchanges, finding.good, finding.seen) == ((1, 2, 3), good, "3 attempts in 3000 ms")


def test_a_retry_storm_is_said_to_be_one():
    storm = [busy(number, 0.0625 * number) for number in range(17)]
    (finding,) = Attempts(max=3).look(storm)
    assert finding.seen == "17 attempts in 1000 ms, 2 of them at once"
    assert Attempts(max=3).expected == "at most 3 attempts of each call"
    assert Attempts(max=1).expected == "at most 1 attempt of each call"
    assert Attempts(count=17).look(storm)[0].good


def test_each_call_counts_for_itself():
    found = Attempts(max=1).look([busy(1, 0.0), busy(2, 1.0, body=b"else"), busy(3, 2.0)])
    assert [(one.exchanges, one.good) for one in found] == [((1, 3), False), ((2,), True)]


@pytest.mark.parametrize(
    ("check", "good"),
    [
        (RetryDelay(min=0.875), True),
        (RetryDelay(min=0.8755), True),
        (RetryDelay(min=0.877), False),
        (RetryDelay(max=0.875), True),
        (RetryDelay(min=1.0), False),
        (RetryDelay(min=0.5, max=0.8), False),
        (RetryDelay(max=2.0), True),
    ],
)
def test_retry_delay_counts_from_the_end_of_the_attempt_before(check, good):
    (finding,) = check.look([busy(1, 0.0), busy(2, 1.0)])
    assert (finding.exchanges, finding.good, finding.seen) == ((1, 2), good, "asked again after 875 ms")


def test_retry_delay_of_attempts_that_overlap_is_none():
    (finding,) = RetryDelay(min=0.1).look([exchange(1, end=9.0), exchange(2, began=1.0)])
    assert (finding.good, finding.seen) == (False, "asked again after 0.0 ms")


def test_retry_delay_begins_where_the_client_has_left():
    (finding,) = RetryDelay(min=1.0).look([exchange(1, left=2.0, end=60.0), exchange(2, began=3.5)])
    assert (finding.good, finding.seen) == (True, "asked again after 1500 ms")


def test_retry_delay_does_not_wait_for_what_ends_behind_a_client_that_has_left():
    first = exchange(1, left=2.0)
    first.times.end = 60.0
    (finding,) = RetryDelay(min=1.0).look([first, exchange(2, began=3.5)])
    assert finding.seen == "asked again after 1500 ms"


def test_nobody_who_asks_once_has_a_retry_delay():
    assert RetryDelay(min=1.0).look([busy(1, 0.0), busy(2, 1.0, body=b"else")]) == []


@pytest.mark.parametrize(
    ("told", "again", "good", "seen"),
    [
        ("2", 2.1, True, "told 2s, asked again after 2000 ms"),
        ("2", 1.1, False, "told 2s, asked again after 1000 ms"),
        ("0", 0.2, True, "told 0s, asked again after 100 ms"),
        ("Mon, 30 Nov 2026 12:00:05 GMT", 5.2, True, "told 4.9s, asked again after 5100 ms"),
        ("Mon, 30 Nov 2026 12:00:05 GMT", 3.1, False, "told 4.9s, asked again after 3000 ms"),
        ("Mon, 30 Nov 2026 12:00:05 -0000", 5.2, True, "told 4.9s, asked again after 5100 ms"),
        ("Mon, 30 Nov 2020 12:00:05 GMT", 0.2, True, "told 0s, asked again after 100 ms"),
    ],
)
def test_retry_after(told, again, good, seen):
    (finding,) = RetryAfter().look([busy(1, 0.0, headers=(("Retry-After", told),)), busy(2, again)])
    assert (finding.good, finding.seen) == (good, seen)


@pytest.mark.parametrize("told", ["soon", "-1", "1.5", "\u00b2", "", YEAR, ZONE])
def test_a_retry_after_that_says_nothing_is_not_judged(told):
    assert RetryAfter().look([busy(1, 0.0, headers=(("Retry-After", told),)), busy(2, 1.0)]) == []


def test_who_was_not_told_or_did_not_ask_again_is_not_judged():
    assert RetryAfter().look([busy(1, 0.0), busy(2, 1.0)]) == []
    assert RetryAfter().look([busy(1, 0.0, headers=(("Retry-After", "2"),))]) == []


def test_no_retry_after_output():
    (finding,) = NoRetryAfterOutput().look([busy(1, 0.0), exchange(2, began=1.0, **BROKEN), exchange(3, began=2.0)])
    assert (finding.exchanges, finding.good) == ((2, 3), False)
    assert finding.seen == "3 events delivered, then 1 attempt more, with 3 events of it"
    (finding,) = NoRetryAfterOutput().look([busy(1, 0.0), exchange(2, began=1.0, **BROKEN)])
    assert (finding.exchanges, finding.good, finding.seen) == ((2,), True, "3 events delivered, no attempt behind it")


def test_an_attempt_that_began_before_there_was_output_is_none_behind_it():
    (finding,) = NoRetryAfterOutput().look([exchange(1), exchange(2, began=0.15)])
    assert finding.good
    (finding,) = NoRetryAfterOutput().look([exchange(1), exchange(2, began=0.25)])
    assert not finding.good


def test_where_no_call_had_output_nothing_is_judged():
    assert NoRetryAfterOutput().look([busy(1, 0.0), busy(2, 1.0)]) == []


def test_gives_up():
    three = [busy(1, 0.0), exchange(2, began=1.0, **BROKEN), exchange(3, began=2.0, left=5.0)]
    (finding,) = GivesUp(after=3, within=7.0).look(three)
    assert finding.good
    assert finding.seen == "3 attempts in 2000 ms, the last over after 7000 ms: 200, fin by client"
    assert not GivesUp(after=2).look(three)[0].good
    assert not GivesUp(within=6.9).look(three)[0].good
    assert GivesUp(after=3, within=2.0).expected == "the client to give up after 3 attempts at most within 2s"


def test_who_still_waits_as_the_proxy_ends_has_not_given_up():
    waiting = exchange(1, end=5.0, ending=Ending("proxy", "fin", "shutdown"))
    (finding,) = GivesUp(after=3, within=30.0).look([waiting])
    assert not finding.good
    assert finding.seen.endswith("200, fin by proxy; it still waited as the proxy ended")
    met(waiting, Fired(0.3, "blackhole", 0, "gateway", "gone after event 2"))
    (finding,) = GivesUp(after=3).look([waiting])
    assert not finding.good
    assert "; whether it left nobody could see: blackhole, gone after event 2 (with " in finding.seen


def test_a_call_that_was_answered_has_nothing_to_give_up():
    assert GivesUp(after=1).look([busy(1, 0.0), exchange(2, began=1.0)]) == []


def test_without_a_head_it_has_failed():
    (finding,) = GivesUp(after=1).look([exchange(1, head=None, left=5.0)])
    assert (finding.good, finding.seen) == (True, "1 attempt, the last over after 5000 ms: no head, fin by client")


@pytest.mark.parametrize(("status", "failed"), [(200, False), (399, False), (400, True), (503, True)])
def test_what_has_failed(status, failed):
    found = GivesUp(after=1).look([exchange(1, status=status)])
    assert bool(found) is failed


@pytest.mark.parametrize(("given", "wrong"), [({"min": 2.0, "max": 1.0}, True), ({"min": 1.0, "max": 1.0}, False)])
def test_no_wait_is_longer_and_shorter(given, wrong):
    assert bool(RetryDelay(**given).problems()) is wrong


@pytest.mark.parametrize(("given", "wrong"), [({}, True), ({"after": 1}, False), ({"within": 1.0}, False)])
def test_gives_up_needs_a_limit(given, wrong):
    assert bool(GivesUp(**given).problems()) is wrong


@pytest.mark.parametrize(
    ("given", "wrong"), [({}, True), ({"count": 1}, False), ({"max": 1}, False), ({"count": 1, "max": 1}, True)]
)
def test_attempts_needs_one_number(given, wrong):
    assert bool(Attempts(**given).problems()) is wrong


def test_what_is_expected_in_words():
    assert Attempts(count=1).expected == "1 attempt of each call"
    assert RetryDelay(min=0.5).expected == "at least 500ms between attempts"
    assert RetryDelay(min=0.5, max=2.0).expected == "at least 500ms and at most 2s between attempts"
    assert GivesUp(within=2.0).expected == "the client to give up within 2s"
