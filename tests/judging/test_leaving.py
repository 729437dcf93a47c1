"""Checks of who leaves, over records made by hand."""

import pytest

from chaosproxy.journal.record import Ending, Fired
from chaosproxy.judging.leaving import AfterEvent, ClientLeaves, UpstreamAbort
from tests.judging.made import exchange, met, told

BY_US = Ending("proxy", "fin", "client:fin")
ABORT = UpstreamAbort(within=1.0)


@pytest.mark.parametrize(
    ("at", "end", "good", "seen"),
    [
        (0.7, BY_US, True, "told 100 ms after the client had left (fin): fin"),
        (0.6, Ending("proxy", "stream:CANCEL"), True, "told 0.0 ms after the client had left (fin): stream:CANCEL"),
        (2.6, BY_US, False, "told 2000 ms after the client had left (fin): fin"),
        (None, None, False, "the upstream was never told"),
        (0.7, None, False, "the upstream was never told"),
        (9.6, Ending("upstream", "clean"), False, "the upstream went on to its own end, 9000 ms after"),
        (9.6, Ending("proxy", "fin", "shutdown"), False, "told only as the proxy ended, 9000 ms after"),
    ],
)
def test_upstream_abort(at, end, good, seen):
    finding = ABORT.see(told(exchange(left=0.6), at, end))
    assert finding.good is good
    assert finding.seen.startswith(seen)


@pytest.mark.parametrize(
    ("left", "at", "end"),
    [
        (None, 0.5, Ending("upstream", "clean")),
        (0.6, 0.5, Ending("upstream", "clean")),
        (0.6, 0.8, Ending("upstream", "clean")),
        (0.6, 0.8, Ending("proxy", "fin", "shutdown")),
    ],
    ids=["nobody left", "it was over", "it was over before one could say", "so was the proxy"],
)
def test_where_nobody_left_an_upstream_at_work_nothing_is_judged(left, at, end):
    assert ABORT.see(told(exchange(left=left), at, end)) is None


def test_a_client_that_was_served_half_closed_has_not_left():
    record = told(exchange(end=9.0), 9.0, Ending("upstream", "clean"))
    record.times.client_closed = 0.2
    assert ABORT.see(record) is None
    finding = ClientLeaves().see(record)
    assert (finding.good, finding.seen) == (
        False,
        "it closed its sending side after 200 ms and was served to the end: clean by upstream",
    )


def test_an_upstream_that_was_never_reached_is_not_judged():
    record = exchange(head=None, left=0.6)
    record.times.upstream_connected = None
    assert ABORT.see(record) is None


def test_the_hop_that_kept_it_is_named():
    record = told(exchange(left=0.6), 9.6, Ending("upstream", "clean"))
    met(record, Fired(0.6, "client_abort", 1, "nginx", "ignore"))
    assert ABORT.see(record).seen.endswith("; kept by client_abort in nginx")
    met(record, Fired(0.6, "client_abort", 1, None, "ignore"))
    assert ABORT.see(record).seen.endswith("; kept by client_abort in hop 1")
    met(record, Fired(0.2, "stall", 0, "engine", "at event 1"), Fired(0.6, "blackhole", 1, None, "at event 2"))
    assert ABORT.see(record).seen.endswith("; kept by blackhole in hop 1")
    met(record, Fired(0.2, "stall", 0, "engine", "at event 1"))
    assert ABORT.see(record).seen.endswith(": clean")


@pytest.mark.parametrize(
    ("check", "good"),
    [
        (ClientLeaves(), True),
        (ClientLeaves(within=5.0), True),
        (ClientLeaves(within=4.9), False),
        (ClientLeaves(within=4.9, after="head"), True),
        (ClientLeaves(within=4.8, after="head"), False),
        (ClientLeaves(within=4.6, after="last_event"), True),
        (ClientLeaves(within=4.5, after="last_event"), False),
        (ClientLeaves(within=4.6, after="last_byte"), True),
        (ClientLeaves(within=4.7, after="last_content"), True),
        (ClientLeaves(within=4.6, after="last_content"), False),
        (ClientLeaves(within=4.8, after=AfterEvent(event=1)), True),
        (ClientLeaves(within=4.7, after=AfterEvent(event=1)), False),
        (ClientLeaves(after=AfterEvent(event=4)), False),
        (ClientLeaves(at_least=5.0), True),
        (ClientLeaves(at_least=5.1), False),
    ],
)
def test_client_leaves(check, good):
    record = exchange(left=5.0)
    record.evidence.last_content = 0.3
    assert check.see(record).good is good


def test_every_clock_of_the_client_is_told():
    record = exchange(left=5.0)
    record.evidence.last_content = 0.3
    assert ClientLeaves().see(record).seen == (
        "it left (fin) 5000 ms after the request, 4900 ms after the head, 4600 ms after the last byte, "
        "4600 ms after the last event, 4700 ms after the last content"
    )
    assert ClientLeaves(after=AfterEvent(event=2)).see(record).seen.startswith("it left (fin) 4700 ms after event 2, ")
    waiting = exchange(left=5.0, head=None)
    waiting.end = Ending("client", "stream:CANCEL")
    assert ClientLeaves().see(waiting).seen == "it left (stream:CANCEL) 5000 ms after the request, without the head"
    assert ClientLeaves(after="last_event").see(exchange(left=5.0, events=())).seen == (
        "that it counts from never came; it left (fin) 5000 ms after the request, 4900 ms after the head, without a byte"
    )


def test_a_client_that_stays_is_bad():
    finding = ClientLeaves(within=60.0).see(exchange())
    assert (finding.good, finding.seen) == (False, "it stayed to the end: clean by upstream")
    assert ClientLeaves(within=2.0, at_least=1.0, after="last_content").expected == (
        "the client to leave within 2s, not sooner than 1s, after the last content"
    )


def test_a_limit_that_is_just_kept_is_kept():
    """All of it halves, so that nothing is lost in a sum."""
    left = exchange(left=0.5, events=(0.25, 0.25, 0.25))
    assert ABORT.see(told(left, 1.5, BY_US)).good
    assert not ABORT.see(told(left, 1.5625, BY_US)).good
    assert ABORT.see(told(left, 1.5, Ending("upstream", "clean"))) is None
    assert ClientLeaves(within=0.25, at_least=0.25, after=AfterEvent(event=3)).see(left).good
    assert not ClientLeaves(after=AfterEvent(event=4)).see(left).good


def test_whether_a_client_left_a_machine_that_is_gone_nobody_knows():
    record = exchange(end=9.0, ending=Ending("proxy", "fin", "shutdown"))
    assert ClientLeaves().see(record).seen == "it stayed to the end: fin by proxy"
    met(record, Fired(0.3, "blackhole", 0, None, "gone after event 2, response only"))
    assert ClientLeaves().see(record).seen == "it stayed to the end: fin by proxy"
    met(record, Fired(0.3, "blackhole", 0, None, "gone after event 2"))
    finding = ClientLeaves().see(record)
    assert (finding.good, finding.seen) == (
        False,
        "whether it left nobody could see: blackhole, gone after event 2 (with `way: response` its leaving is seen)",
    )


@pytest.mark.parametrize(("given", "wrong"), [({"within": 1.0, "at_least": 2.0}, True), ({"at_least": 2.0}, False)])
def test_no_time_is_longer_and_shorter(given, wrong):
    assert bool(ClientLeaves(**given).problems()) is wrong
