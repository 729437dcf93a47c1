"""Checks of what an exchange was, over records made by hand."""

import pytest

from chaosproxy.errors import ScenarioError
from chaosproxy.journal.record import Ending, Fired, NotFired
from chaosproxy.judging.content import Ended, FaultFired, Header, Unchanged
from chaosproxy.scenario.load import load
from tests.judging.made import exchange, met

TYPE = (("Content-Type", "text/event-stream"), ("vary", "accept"), ("Vary", "origin"))


@pytest.mark.parametrize(
    ("check", "good", "seen"),
    [
        (Header(name_="content-type"), True, "content-type: text/event-stream"),
        (Header(name_="Content-Type", value="text/*"), True, "Content-Type: text/event-stream"),
        (Header(name_="content-type", value="text/html"), False, "content-type: text/event-stream"),
        (Header(name_="vary", value="origin"), True, "vary: accept, origin"),
        (Header(name_="x-accel-buffering", value="no"), False, "no x-accel-buffering"),
        (Header(name_="x-ask", value="me", way="request"), True, "x-ask: me"),
        (Header(name_="content-type", way="request"), False, "no content-type"),
    ],
)
def test_header(check, good, seen):
    record = exchange(headers=TYPE)
    record.request.headers = [["X-Ask", "me"]]
    finding = check.see(record)
    assert (finding.good, finding.seen) == (good, seen)


def test_header_of_an_answer_that_never_came():
    assert Header(name_="content-type").see(exchange(head=None)) is None
    assert not Header(name_="content-type", way="request").see(exchange(head=None)).good


def test_a_secret_is_there_or_not_but_nobody_knows_what_it_says():
    with pytest.raises(ScenarioError, match="leave `value` out") as raised:
        load("version: 1\nexpect:\n- header: {name: Authorization, value: Bearer *, way: request}\n")
    (problem,) = raised.value.problems
    assert (problem.line, problem.column) == (3, 40)
    (expectation,) = load({"version": 1, "expect": [{"header": "authorization"}]}).expect
    assert expectation.check == Header(name_="authorization")


@pytest.mark.parametrize(
    ("asked", "good"),
    [
        ({}, True),
        ({"by": "proxy"}, True),
        ({"by": "proxy", "how": "f*", "cause": "timeout:*"}, True),
        ({"how": "clean"}, False),
        ({"by": "proxy", "cause": "cut"}, False),
    ],
)
def test_ended(asked, good):
    finding = Ended(**asked).see(exchange(ending=Ending("proxy", "fin", "timeout:idle")))
    assert (finding.good, finding.seen) == (
        good,
        "fin by proxy, cause timeout:idle; 500 ms after the request, 100 ms after the last byte",
    )


def test_an_end_without_a_body():
    assert Ended().see(exchange(head=None, left=2.0)).seen == "fin by client; 2000 ms after the request"


def test_who_is_still_at_it_has_not_ended_well():
    record = exchange()
    record.end = None
    assert (Ended().see(record).good, Ended().see(record).seen) == (False, "no end yet")


def test_an_end_without_a_cause_matches_no_cause_that_is_asked_for():
    assert not Ended(cause="?*").see(exchange()).good
    assert Ended(by="upstream").expected == "an end by upstream"


def test_unchanged():
    record = exchange()
    assert Unchanged().see(record).seen == "30 bytes came, 30 went"
    record.evidence.same = False
    assert Unchanged().see(record).seen == "30 bytes came, 30 went, and not the same"
    record.response.bytes_out = 20
    assert (Unchanged().see(record).good, Unchanged().see(record).seen) == (False, "30 bytes came, 20 went")
    record.end = Ending("client", "fin")
    assert Unchanged().see(record) is None, "it did not want the rest"
    record.response.bytes_out = 30
    assert not Unchanged().see(record).good, "it had as many, and others"
    record.response.bytes_out = 40
    assert not Unchanged().see(record).good
    record.evidence.same = None
    assert Unchanged().see(record) is None, "no upstream has answered"


CUT = Fired(0.3, "cut", 0, "nginx", "rst after event 3")


@pytest.mark.parametrize(
    ("check", "faults", "good", "seen"),
    [
        (FaultFired(fault="cut"), [CUT], True, "cut: rst after event 3"),
        (FaultFired(fault="c*", hop="ngin?"), [CUT], True, "cut: rst after event 3"),
        (FaultFired(fault="cut", hop="balancer"), [CUT], None, ""),
        (FaultFired(fault="cut"), [NotFired("cut", 0, "not reached", "nginx")], False, "it did not: not reached"),
        (FaultFired(fault="cut", hop="nginx"), [NotFired("cut", 0, "if", "nginx")], False, "it did not: if"),
        (FaultFired(fault="cut", hop="nginx"), [NotFired("cut", 1, "if", "balancer")], None, ""),
        (FaultFired(fault="stall"), [CUT], None, ""),
    ],
)
def test_fired(check, faults, good, seen):
    finding = check.see(met(exchange(), *faults))
    assert finding is None if good is None else (finding.good, finding.seen) == (good, seen)


def test_an_end_that_there_is_not_is_a_mistake():
    with pytest.raises(ScenarioError) as raised:
        load("version: 1\nexpect:\n- ended: {by: sombody, how: clena}\n- ended: {by: pro*, how: stream:*}\n")
    assert [(one.line, one.column) for one in raised.value.problems] == [(3, 15), (3, 29)]
    assert "`by` is one of client, upstream, proxy" in raised.value.problems[0].message
