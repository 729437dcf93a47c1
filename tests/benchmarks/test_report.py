"""Medians, ratios and what is added; targets that are met, not met, not measured."""

import pytest

from benchmarks import targets
from benchmarks.report import summary, table


def seen(cpu, p50=100.0, p99=200.0):
    return {"events": 10, "delivered": 1.0, "cpu_us_per_event": cpu, "p50_us": p50, "p99_us": p99, "p999_us": 900.0}


LATE = [
    {"samples": 9, "late_p50_ms": 0.7, "late_p99_ms": 3.2, "first_ms": first, "early": first < 0}
    for first in (0.1, -0.1, 0.1)
]
ROUNDS = {
    "events": {
        "direct": [seen(0.0, 20, 40), seen(0.0, 30, 50), seen(0.0, 25, 60)],
        "splice": [seen(100.0), seen(90.0), seen(140.0)],
        "nginx": [seen(50.0, 75, 90), seen(40.0, 70, 80), seen(60.0, 80, 300)],
        "chaosproxy": [seen(80.0, 100, 200)],
        "haproxy": [],
    },
    "events h2-h1": {"nginx": [seen(30.0)]},
    "bulk": {
        "splice": [{"bytes": 1, "mb_per_cpu_second": 400.0, "mb_per_second": 300.0}],
        "nginx": [{"bytes": 1, "mb_per_cpu_second": 300.0, "mb_per_second": 300.0}],
    },
    "exact": {
        "trio.sleep": [{"samples": 9, "late_p50_ms": 0.5, "late_p99_ms": 1.0, "first_ms": 0.1, "early": 0}],
        "no fault": [{"samples": 9, "late_p50_ms": 0.2, "late_p99_ms": 0.9, "first_ms": 0.1, "early": 0}],
        **dict.fromkeys(("latency", "stall", "pace", "buffer", "timeout"), tuple(LATE)),
    },
}


def test_medians_are_held_against_the_splice_and_direct_of_the_same_run():
    result = summary(ROUNDS)
    nginx = result["events"]["nginx"]
    assert nginx["cpu_us_per_event"] == 50
    assert (nginx["cpu_us_per_event_min"], nginx["cpu_us_per_event_max"]) == (40, 60)
    assert nginx["cpu_to_base"] == 0.5
    assert (nginx["added_p50_us"], nginx["added_p99_us"]) == (75 - 25, 90 - 50)
    assert nginx["p99_us_min"] == 80
    assert "cpu_to_base" not in result["events"]["direct"]
    assert result["bulk"]["nginx"]["bulk_to_base"] == 0.75


def test_http_2_is_held_against_the_splice_over_http_1():
    assert summary(ROUNDS)["events h2-h1"]["nginx"]["cpu_to_base"] == 0.3


def test_a_row_without_a_single_good_round_is_left_out():
    assert "haproxy" not in summary(ROUNDS)["events"]


def test_without_a_splice_there_is_no_ratio():
    result = summary({"events": {"nginx": [seen(30.0)]}})
    assert "cpu_to_base" not in result["events"]["nginx"]


def test_one_that_came_early_is_not_averaged_away():
    latency = summary(ROUNDS)["exact"]["latency"]
    assert (latency["early"], latency["first_ms"]) == (1, -0.1)


def test_the_table_has_a_line_for_each_row_and_each_failure():
    text = table("a title", "events", summary(ROUNDS)["events"], {"haproxy": "ended early"}).splitlines()
    assert text[0].startswith("a title")
    assert [line.split()[0] for line in text[1:]] == ["direct", "splice", "nginx", "chaosproxy", "haproxy:"]
    assert text[1].split()[1:3] == ["-", "-"]
    assert text[3].split()[4] == "0.50"


@pytest.fixture
def verdicts():
    return {row["what"]: row for row in targets.judged(summary(ROUNDS), set(ROUNDS))}


@pytest.mark.parametrize(
    ("what", "value", "verdict"),
    [
        ("CPU per event, h1 to h1, to the splice's", 0.8, "not met"),
        ("CPU per event, h1 to h1, to nginx's", 1.6, "met"),
        ("CPU per event, h1 to h1, to mitmproxy's", None, "not measured"),
        ("added latency p50 to nginx's", 1.5, "met"),
        ("bytes per CPU-second to nginx's", None, "not measured"),
        ("latency late by, p50, to a bare sleep", 1.0, "met"),
        ("latency late by, p99, to a bare sleep", 3.0, "not met"),
        ("how many came early, idle", 5, "not met"),
    ],
)
def test_targets(verdicts, what, value, verdict):
    assert verdicts[what]["value"] == (None if value is None else pytest.approx(value))
    assert verdicts[what]["verdict"] == verdict


def test_only_what_was_looked_at_is_judged(verdicts):
    assert "a further proxy to an empty Trio run" not in verdicts
    assert targets.table(list(verdicts.values())).count("\n") == len(verdicts)
