"""What a verdict says, and when it is good: never because nothing happened."""

import json

import pytest

from chaosproxy.judging.check import CHECKS, Finding, Verdict, Verdicts
from chaosproxy.judging.judge import judge
from chaosproxy.judging.timing import FirstEvent, Head
from chaosproxy.report.verdicts import verdicts
from chaosproxy.scenario.load import load
from tests.judging.made import exchange

GOOD = Finding((1,), good=True, seen="fine")
BAD = Finding((2, 3), good=False, seen="too late")


def of(*findings):
    return Verdict("head", "the head within 1s", findings, "no exchange has ended")


def test_what_it_says():
    assert str(of(GOOD)) == "head: the head within 1s: 1 of 1"
    assert str(of(GOOD, BAD)) == "head: expected the head within 1s; #2, #3: too late"
    assert str(of()) == "head: expected the head within 1s; nothing to judge: no exchange has ended"
    assert str(Verdicts((of(GOOD), of()))).splitlines() == [str(of(GOOD)), str(of())]


def test_what_a_program_reads():
    assert json.loads(json.dumps(of(GOOD, BAD).as_json())) == {
        "check": "head",
        "good": False,
        "expected": "the head within 1s",
        "findings": [
            {"exchanges": [1], "good": True, "seen": "fine"},
            {"exchanges": [2, 3], "good": False, "seen": "too late"},
        ],
    }


def test_what_a_peer_has_sent_does_nothing_in_it():
    assert str(of(Finding((1,), good=False, seen="x: \x9b2J\u202e"))).endswith("; #1: x: \\x9b2J\\x202e")


def test_all_must_hold_and_there_must_be_one():
    assert of(GOOD).good
    assert not of(GOOD, BAD).good
    assert not of().good
    assert of(GOOD, BAD).bad == (BAD,)
    assert Verdicts(()).good, "where nothing is expected nothing is wrong"
    both = Verdicts((of(GOOD), of(BAD)))
    assert (both.good, both.bad) == (False, (of(BAD),))


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_none_is_good_where_nothing_happened(name):
    """Of no exchange, and of one that was refused before anything of it was known."""
    written = {"head": "1s", "first_event": "1s", "gap": "1s", "event_age": "1s", "heartbeat": "1s"}
    written |= {"upstream_abort": "1s", "client_leaves": {}, "attempts": 1, "retry_delay": "1s", "header": "x"}
    written |= {"fired": "cut", "gives_up": 3, "abort_chain": "1s"}
    (expectation,) = load({"version": 1, "expect": [{name: written[name]} if name in written else name]}).expect
    verdict = expectation.check.judge([])
    assert not verdict.good
    assert verdict.nothing


def test_an_exchange_is_judged_by_the_scenario_that_it_began_with():
    ours, theirs = object(), object()
    checks = [Head(within=1.0), FirstEvent(within=0.25), Head(within=0.05)]
    first, second, third = exchange(1), exchange(2, head=9.0), exchange(3)
    first.evidence.scenario, first.evidence.checks = ours, (0, 1)
    second.evidence.scenario, second.evidence.checks = theirs, (0,)
    third.evidence = None
    judged = judge(ours, checks, [first, second, third])
    assert [verdict.good for verdict in judged.each] == [True, True, False]
    assert [len(verdict.findings) for verdict in judged.each] == [1, 1, 0]


def test_a_report_has_the_moments_that_prove_it():
    late = exchange(7, head=2.0, events=(2.0,), end=2.5)
    judged = [Head(within=0.5).judge([late]), FirstEvent(within=3.0).judge([late]), Head(within=0.5).judge([])]
    assert verdicts(judged, [late]).splitlines() == [
        "FAILED  head: expected the head within 500ms",
        "        #7: the head after 2000 ms",
        "          #7 POST /v1 200 first 2000 ms, 1 event 10 bytes, 2500 ms: clean by upstream",
        "               2000 ms  head 200 sent",
        "ok      first_event: the first event within 3s (1 of 1)",
        "FAILED  head: expected the head within 500ms",
        "        nothing to judge: no exchange has ended",
    ]
    assert verdicts(judged[1:2], [late], good=False) == ""


def test_of_many_some_are_told():
    late = [exchange(number, head=2.0) for number in range(1, 9)]
    told = verdicts([Head(within=0.5).judge(late)], late).splitlines()
    assert sum(": the head after" in line for line in told) == 5
    assert told[-1] == "        and 3 further"
