"""What the demo asks for: the request that the scenario's own rules take, at a speed at which it shows itself."""

import pytest

from chaosproxy.demo import plan as plans
from chaosproxy.demo.plan import EVENTS, GAP, SHOWN, plan
from chaosproxy.scenario.load import load


def rules(*given: dict) -> dict:
    return {"version": 1, "rules": list(given)}


def test_without_rules_or_with_a_rule_for_everything_it_is_the_plainest_stream():
    for scenario in ("tokens", "buffer-4k"):
        made = plan(load(scenario, env={}))
        assert (made.question, made.protocol, made.taken) == (plans.SSE, "http/1.1", True)
        assert (made.gap, made.speed, made.beside, made.before) == (GAP, 1, 0, 0)
        assert made.target == "/sse?tokens=40&first=10ms&gap=10ms"


@pytest.mark.parametrize(
    ("match", "question", "protocol"),
    [
        ({"path": "/v1/messages"}, plans.MESSAGES, "http/1.1"),
        ({"path": "/api/*"}, plans.OLLAMA, "http/1.1"),
        ({"method": "POST"}, plans.CHAT, "http/1.1"),
        ({"json": {"stream": True}}, plans.CHAT, "http/1.1"),
        ({"json": {"input": "*"}}, plans.RESPONSES, "http/1.1"),
        ({"protocol": "h2"}, plans.SSE, "h2"),
        ({"protocol": "h2", "path": "/v1/completions"}, plans.COMPLETIONS, "h2"),
        ({"query": {"tokens": "40"}}, plans.SSE, "http/1.1"),
        ({"headers": {"accept-encoding": "*gzip*"}}, plans.SSE, "http/1.1"),
    ],
)
def test_a_rule_says_what_is_asked(match, question, protocol):
    made = plan(load(rules({"match": match, "faults": [{"buffer": "4KiB"}]})))
    assert (made.question, made.protocol, made.taken) == (question, protocol, True)


def test_a_fault_that_reads_an_answer_gets_a_provider_s():
    cut = {"cut": {"at": {"terminal": "before"}, "then": "clean"}}
    assert plan(load(rules({"faults": [cut]}))).question is plans.CHAT
    assert plan(load(rules({"match": {"path": "/api/chat"}, "faults": [cut]}))).question is plans.OLLAMA
    assert plan(load(rules({"records": "lines", "faults": [cut]}))).question is plans.OLLAMA


def test_faults_of_http2_connections_are_met_over_http2():
    connections = [{"match": {"protocol": "h2"}, "faults": [{"cut": {"at": {"bytes": 9}}}]}]
    assert plan(load({"version": 1, "connections": connections})).protocol == "h2"


def test_a_rule_that_nothing_meets_is_said_to_be_one():
    made = plan(load(rules({"match": {"path": "/none"}, "faults": [{"buffer": "4KiB"}]})))
    assert (made.taken, made.question, made.before) == (False, plans.SSE, 0)


def test_a_later_request_has_the_ones_before_it():
    assert plan(load(rules({"nth": 3, "faults": [{"buffer": "4KiB"}]}))).before == 2


def test_a_limit_on_connections_has_that_many_streams_running():
    assert plan(load({"version": 1, "upstream": {"max_connections": 2}})).beside == 2


def test_long_times_take_half_of_the_stream_at_a_speed_of_their_own():
    made = plan(load(rules({"faults": [{"timeout": {"idle": "60s", "first_event": "2m", "total": "forever"}}]})))
    assert (made.longest, made.speed) == (120, 120 / SHOWN)
    assert made.longest / made.speed == SHOWN == made.length / 2
    assert made.patience > 2 * made.length


def test_a_connection_that_is_kept_for_an_hour_does_not_hurry_what_happens_in_an_exchange():
    kept = [{"faults": [{"age": {"max": "1h"}}, {"keepalive": {"close_after": "2h"}}]}]
    scenario = {"version": 1, "connections": kept}
    assert plan(load({**scenario, "faults": [{"timeout": {"idle": "60s"}}]})).longest == 60
    assert plan(load({**scenario, "connections": [*kept, {"faults": [{"latency": "90s"}]}]})).longest == 90
    assert plan(load(scenario)).longest == 7200


def test_at_a_given_speed_the_stream_is_as_much_longer():
    scenario = load(rules({"faults": [{"timeout": {"idle": "5s"}}]}))
    made = plan(scenario, speed=1)
    assert (made.speed, made.length) == (1, pytest.approx(10))
    assert plan(scenario, speed=100).length == pytest.approx(0.1)
    assert plan(load("tokens"), speed=2).gap == GAP / 2


def test_short_times_are_shown_as_they_are():
    made = plan(load(rules({"faults": [{"timeout": {"idle": "100ms"}}]})))
    assert (made.speed, made.gap) == (1, GAP)
    assert made.length == pytest.approx(EVENTS * GAP)
