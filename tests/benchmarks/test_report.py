"""Medians, ratios and what is added."""

from benchmarks.report import summary, table


def seen(cpu, p50=100.0, p99=200.0):
    return {"events": 10, "delivered": 1.0, "cpu_us_per_event": cpu, "p50_us": p50, "p99_us": p99}


ROUNDS = {
    "events": {
        "direct": [seen(0.0, 20, 40), seen(0.0, 30, 50), seen(0.0, 25, 60)],
        "splice": [seen(100.0), seen(90.0), seen(140.0)],
        "nginx": [seen(50.0, 75, 90), seen(40.0, 70, 80), seen(60.0, 80, 300)],
        "haproxy": [],
    },
    "events h2": {"nginx": [seen(30.0)]},
    "bulk": {
        "splice": [{"bytes": 1, "mb_per_cpu_second": 400.0, "mb_per_second": 300.0}],
        "nginx": [{"bytes": 1, "mb_per_cpu_second": 300.0, "mb_per_second": 300.0}],
    },
}


def test_medians_are_held_against_the_splice_and_direct_of_the_same_run():
    result = summary(ROUNDS)
    nginx = result["events"]["nginx"]
    assert nginx["cpu_us_per_event"] == 50
    assert (nginx["cpu_us_per_event_min"], nginx["cpu_us_per_event_max"]) == (40, 60)
    assert nginx["cpu_to_splice"] == 0.5
    assert (nginx["added_p50_us"], nginx["added_p99_us"]) == (75 - 25, 90 - 50)
    assert nginx["p99_us_min"] == 80
    assert "cpu_to_splice" not in result["events"]["direct"]
    assert result["bulk"]["nginx"]["bulk_to_splice"] == 0.75


def test_what_cannot_be_spliced_is_held_against_the_splice_over_http_1():
    assert summary(ROUNDS)["events h2"]["nginx"]["cpu_to_splice"] == 0.3


def test_a_peer_without_a_single_good_round_is_left_out():
    assert "haproxy" not in summary(ROUNDS)["events"]


def test_without_a_splice_there_is_no_ratio():
    result = summary({"events": {"nginx": [seen(30.0)]}})
    assert "cpu_to_splice" not in result["events"]["nginx"]


def test_the_table_has_a_line_for_each_peer_and_each_failure():
    text = table("a title", "events", summary(ROUNDS)["events"], {"haproxy": "ended early"}).splitlines()
    assert text[0].startswith("a title")
    assert [line.split()[0] for line in text[1:]] == ["direct", "splice", "nginx", "haproxy:"]
    assert text[1].split()[1:3] == ["-", "-"]
    assert text[3].split()[4] == "0.50"
