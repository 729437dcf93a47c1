"""Checks of time, over records made by hand: good, bad, and nothing to judge."""

import pytest

from chaosproxy.journal.evidence import MOST_EVENTS
from chaosproxy.journal.record import Ending
from chaosproxy.judging.timing import EventAge, FirstEvent, Gap, Head, Heartbeat
from tests.judging.made import exchange

NO_HEAD = {"head": None, "end": 60.0, "ending": Ending("proxy", "fin", "timeout:first_byte")}

CASES = [
    (Head(within=0.1), {}, True, "the head after 100 ms"),
    (Head(within=0.09), {}, False, "the head after 100 ms"),
    (Head(within=99.0), NO_HEAD, False, "no head in 60000 ms"),
    (FirstEvent(within=0.2), {}, True, "the first event after 200 ms"),
    (FirstEvent(within=0.1), {}, False, "the first event after 200 ms"),
    (FirstEvent(within=99.0), {"events": ()}, False, "no event in 500 ms"),
    (FirstEvent(within=99.0), NO_HEAD, False, "no event in 60000 ms"),
    (Gap(max=0.11), {}, True, "the longest gap 100 ms, p99 100 ms"),
    (Gap(max=0.11), {"events": (0.2, 0.3, 0.6)}, False, "the longest gap 300 ms, p99 300 ms"),
    (Gap(max=1.0), {"events": (0.2,)}, None, ""),
    (EventAge(max=0.05), {}, True, "event 1 was 0.0 ms old"),
    (EventAge(max=0.05), {"events": (0.2, 0.4, 0.4), "came": (0.2, 0.3, 0.4)}, False, "event 2 was 100 ms old"),
    (EventAge(max=0.05), {"events": (0.2,), "came": (0.2, 0.3)}, False, "event 2 was 200 ms old and had not gone"),
    (EventAge(max=0.05), {"events": (), "came": ()}, None, ""),
    (Heartbeat(every=0.11), {}, True, "nothing for 100 ms, from "),
    (Heartbeat(every=1.0), {"end": 9.0}, False, "nothing for 8600 ms, from 400 ms on"),
    (Heartbeat(every=1.0), {"events": (3.0, 3.1, 3.2), "end": 3.3}, False, "nothing for 2900 ms, from 100 ms on"),
    (Heartbeat(every=1.0), NO_HEAD, False, "nothing for 60000 ms, from 0.0 ms on"),
]


@pytest.mark.parametrize(("check", "record", "good", "seen"), CASES, ids=lambda one: getattr(one, "name", None))
def test_one_exchange(check, record, good, seen):
    findings = check.look([exchange(5, **record)])
    if good is None:
        assert findings == []
        return
    (finding,) = findings
    assert (finding.exchanges, finding.good) == ((5,), good)
    assert finding.seen.startswith(seen)


def test_p99_leaves_out_one_in_a_hundred():
    times = [0.1 * number for number in range(100)]
    one = exchange(events=(*times, times[-1] + 5.0), end=20.0)
    two = exchange(events=(*times, times[-1] + 5.0, times[-1] + 10.0), end=20.0)
    assert [Gap(p99=0.2).see(record).good for record in (one, two)] == [True, False]
    assert not Gap(p99=0.2, max=1.0).see(one).good


def test_a_body_whose_events_nobody_can_see_is_not_judged_by_them():
    record = exchange(events=())
    record.response.events_out = None
    assert FirstEvent(within=1.0).see(record) is None
    assert EventAge(max=1.0).see(record) is None


def test_a_silence_ends_where_the_client_has_left():
    assert Heartbeat(every=1.0).see(exchange(left=0.6, end=9.0)).good


def test_what_is_not_kept_of_a_long_stream_is_no_silence():
    times = tuple(0.01 * number for number in range(1, 20_001))
    record = exchange(head=0.0, events=times, end=200.0)
    assert record.deliveries.dropped
    assert Heartbeat(every=0.02).see(record).good


HALVES = {"head": 0.0, "events": (0.5, 1.0), "came": (0.5, 0.5), "end": 1.5}
"""Half a second lies between all of it."""


@pytest.mark.parametrize("check", [Gap, EventAge, Heartbeat])
def test_a_limit_that_is_just_kept_is_kept(check):
    key = check.main
    assert check(**{key: 0.5}).see(exchange(**HALVES)).good
    assert not check(**{key: 0.499}).see(exchange(**HALVES)).good


def test_p99_that_is_just_kept():
    assert Gap(p99=0.5).see(exchange(**HALVES)).good
    assert not Gap(p99=0.499).see(exchange(**HALVES)).good


def test_of_a_request_that_was_never_complete_no_heartbeat_is_asked():
    record = exchange(**NO_HEAD)
    record.times.request_end = None
    assert Heartbeat(every=1.0).see(record) is None


def test_the_last_event_that_went_has_gone():
    assert EventAge(max=0.1).see(exchange(**HALVES)).seen == "event 2 was 500 ms old"


def test_without_evidence_nothing_is_known_of_events():
    record = exchange()
    record.evidence = None
    assert EventAge(max=1.0).see(record) is None
    assert Gap(max=1.0).see(record) is None


def test_events_behind_those_whose_times_are_kept_are_not_missing():
    times = (0.25,) * (MOST_EVENTS + 1)
    record = exchange(events=times[:1], came=())
    record.evidence.events_in.extend(times[:MOST_EVENTS])
    assert EventAge(max=0.1).see(record).good


@pytest.mark.parametrize(("given", "wrong"), [({}, True), ({"max": 1.0}, False), ({"p99": 1.0}, False)])
def test_gap_needs_a_limit(given, wrong):
    assert bool(Gap(**given).problems()) is wrong
