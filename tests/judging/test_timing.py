"""Checks of time, over records made by hand: good, bad, and nothing to judge."""

import pytest

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
