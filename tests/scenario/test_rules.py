"""Which rule takes an exchange, and what the counters count."""

from random import Random

import pytest

from chaosproxy.model.json_values import NOT_JSON, parse
from chaosproxy.model.messages import RequestHead
from chaosproxy.scenario.load import load
from chaosproxy.scenario.nth import Nth, Span, span
from chaosproxy.scenario.rules import Rules
from chaosproxy.scenario.schema import Match, Rule


def get(target=b"/", method=b"GET", headers=(), **more):
    return RequestHead(method, target, tuple(headers), **more)


def rules(*given, seed=7):
    return Rules(given, seed)


def nth(*texts):
    return Nth(tuple(span(text) for text in texts))


def taken(table, count, head=None):
    return [table.decide(head or get(), "http/1.1").index for _ in range(count)]


def test_no_rules_pass_everything_untouched():
    decision = rules().decide(get(), "h2")
    assert decision.rule is None
    assert decision.index is None


def test_the_first_rule_that_says_yes_takes_it():
    first, second = Rule(Match(path="/a*")), Rule(Match(path="/*"))
    table = rules(first, second)
    assert table.decide(get(b"/abc"), "h2").rule is first
    assert table.decide(get(b"/xyz"), "h2").rule is second


def test_a_counter_counts_also_what_an_earlier_rule_took():
    table = rules(Rule(nth=nth("1")), Rule(nth=nth("2")))
    assert taken(table, 3) == [0, 1, None]


def test_a_counter_counts_only_what_matches():
    table = rules(Rule(Match(method="POST"), nth=nth("2")))
    assert taken(table, 3) == [None] * 3
    assert taken(table, 3, get(method=b"POST")) == [None, 0, None]


def test_the_number_is_that_of_the_rule_which_took_it():
    table = rules(Rule(Match(path="/a")), Rule())
    taken(table, 2)
    decision = table.decide(get(b"/a"), "h2")
    assert (decision.index, decision.nth) == (0, 1)
    decision = table.decide(get(b"/b"), "h2")
    assert (decision.index, decision.nth) == (1, 4)


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1"], [1]),
        (["2-4"], [2, 3, 4]),
        (["8-"], [8, 9, 10]),
        (["every 3"], [3, 6, 9]),
        (["1", "3-5"], [1, 3, 4, 5]),
        (["1", "every 4", "9-"], [1, 4, 8, 9, 10]),
    ],
)
def test_nth(texts, numbers):
    table = rules(Rule(nth=nth(*texts)))
    assert [number for number, index in enumerate(taken(table, 10), 1) if index == 0] == numbers


@pytest.mark.parametrize("text", ["", "0", "4-2", "every", "every 0", "-3", "1,2", "one", "1.5", "0-3", "1-2-3", "٣"])
def test_what_is_no_nth(text):
    with pytest.raises(ValueError, match=r"."):
        span(text)


def test_an_open_span_is_never_over():
    assert nth("3").over(3)
    assert not nth("3").over(2)
    assert not nth("1", "3-").over(100)
    assert not Nth((Span(3, float("inf"), 3),)).over(10**6)


def test_probability_is_drawn_from_the_seed_once_per_number():
    table = rules(Rule(probability=0.5), seed=42)
    expected = [0 if Random(f"42:0:{n}:probability").random() < 0.5 else None for n in range(1, 51)]
    assert taken(table, 50) == expected
    assert set(expected) == {0, None}


def test_another_seed_draws_differently():
    assert taken(rules(Rule(probability=0.5), seed=1), 50) != taken(rules(Rule(probability=0.5), seed=2), 50)


def test_a_rule_before_does_not_shift_the_draws():
    lone = taken(rules(Rule(Match(path="/none")), Rule(probability=0.5)), 30)
    assert lone == taken(rules(Rule(nth=nth("1000")), Rule(probability=0.5)), 30)


def test_when_the_draw_says_no_the_next_rule_is_tried():
    assert taken(rules(Rule(probability=0), Rule()), 2) == [1, 1]


@pytest.mark.parametrize(
    ("match", "head", "matches"),
    [
        (Match(method="P*"), get(method=b"POST"), True),
        (Match(method="post"), get(method=b"POST"), False),
        (Match(path="/v1/*"), get(b"/v1/chat?x=1"), True),
        (Match(path="/v1/chat"), get(b"/v1/chat?x=1"), True),
        (Match(path="*x=1*"), get(b"/v1/chat?x=1"), False),
        (Match(path="/v1/*"), get(b"http://h:80/v1/chat"), True),
        (Match(path="/"), get(b"http://h:80"), True),
        (Match(path="*"), get(b"h:443", method=b"CONNECT"), True),
        (Match(query=(("a", "b"),)), get(b"/?x=1&a=b"), True),
        (Match(query=(("a", "b"),)), get(b"/?a=c"), False),
        (Match(query=(("a", "b"),)), get(b"/?a=c&a=b"), True),
        (Match(query=(("a", ""),)), get(b"/?a="), True),
        (Match(query=(("a", "b c"),)), get(b"/?a=b+c"), True),
        (Match(query=(("a", "é"),)), get(b"/?a=%C3%A9"), True),
        (Match(query=(("a", "*"),)), get(b"/"), False),
        (Match(query=(("a", "*"),)), get(b"/?" + b"&".join([b"a=1"] * 2000)), False),
        (Match(headers=(("accept", "*event-stream*"),)), get(headers=[(b"Accept", b"text/event-stream")]), True),
        (Match(headers=(("accept", "*"),)), get(), False),
        (Match(headers=(("x", "b"),)), get(headers=[(b"x", b"a"), (b"x", b"b")]), True),
        (Match(headers=(("x", "a, b"),)), get(headers=[(b"x", b"a"), (b"x", b"b")]), True),
        (Match(headers=(("cookie", "a=1; b=2"),)), get(headers=[(b"cookie", b"a=1"), (b"cookie", b"b=2")]), True),
        (Match(headers=(("host", "h*"),)), get(authority=b"h:80"), True),
        (Match(headers=(("a", "1"), ("b", "2"))), get(headers=[(b"a", b"1"), (b"b", b"3")]), False),
        (Match(protocol="http/1.1"), get(), True),
        (Match(protocol="h2"), get(), False),
    ],
)
def test_match(match, head, matches):
    assert (rules(Rule(match)).decide(head, "http/1.1").index == 0) is matches


JSON = Match(json=(("stream", True),))


def settle(table, head, body):
    decision = table.decide(head, "http/1.1")
    assert decision.needs_json
    return table.decide_with_json(decision, parse(body))


def test_a_json_rule_holds_the_request():
    table = rules(Rule(JSON))
    assert settle(table, get(), b'{"stream": true}').index == 0
    assert settle(table, get(), b'{"stream": false}').index is None
    assert settle(table, get(), b"not json").index is None
    assert table.counts == [1]


def test_a_json_rule_ruled_out_by_the_head_holds_nothing():
    table = rules(Rule(Match(method="POST", json=JSON.json)), Rule())
    decision = table.decide(get(), "http/1.1")
    assert not decision.needs_json
    assert decision.index == 1


def test_a_json_rule_that_is_over_holds_nothing():
    table = rules(Rule(JSON, nth=nth("1")))
    settle(table, get(), b'{"stream": true}')
    assert not table.decide(get(), "http/1.1").needs_json


def test_a_later_json_rule_counts_what_an_earlier_rule_takes():
    table = rules(Rule(nth=nth("1")), Rule(JSON, nth=nth("2")))
    bodies = [b'{"stream": true}', b'{"stream": false}', b'{"stream": true}']
    assert [settle(table, get(), body).index for body in bodies] == [0, None, 1]


def test_held_requests_count_in_the_order_they_are_decided():
    table = rules(Rule(JSON, nth=nth("1")))
    early, late = table.decide(get(), "http/1.1"), table.decide(get(), "http/1.1")
    assert table.decide_with_json(late, {"stream": True}).index == 0
    assert table.decide_with_json(early, {"stream": True}).index is None


def test_a_held_request_that_is_not_json_still_meets_other_rules():
    table = rules(Rule(JSON), Rule(Match(path="/x")))
    decision = table.decide_with_json(table.decide(get(b"/x"), "http/1.1"), NOT_JSON)
    assert (decision.index, table.counts) == (1, [0, 1])


def test_an_expectation_is_about_those_that_it_names_and_takes_none():
    second = load("version: 1\nexpect:\n- unchanged: {nth: 2}\n- unchanged: {match: {path: /a}}\n").expect
    table = Rules([Rule()], 7, second)
    decided = [table.decide(get(target), "http/1.1") for target in (b"/", b"/a", b"/")]
    assert [one.judged for one in decided] == [(), (0, 1), ()]
    assert [one.index for one in decided] == [0, 0, 0]


def test_a_mount_is_matched_and_told():
    mounted = Rule(Match(path="/v1/*"), mount="/slow")
    table = rules(mounted)
    decision = table.decide(get(b"/slow/v1/chat"), "http/1.1")
    assert (decision.rule, decision.mount) == (mounted, "/slow")
    assert table.decide(get(b"/v1/chat"), "http/1.1").mount == ""
    assert table.decide(get(b"/slowly/v1/chat"), "http/1.1").mount == ""


def test_a_mount_is_stripped_also_when_its_rule_does_not_apply():
    table = rules(Rule(mount="/slow", nth=nth("1")))
    decisions = [table.decide(get(b"/slow"), "http/1.1") for _ in range(2)]
    assert [(one.index, one.mount) for one in decisions] == [(0, "/slow"), (None, "/slow")]
