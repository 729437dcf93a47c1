"""`run --assert`: the verdicts on stdout, and what the exit status says of them."""

import json

import pytest

from tests.cli.test_run import ANSWER, Upstream, refused, run, streaming, upstream

__all__ = ["refused", "run", "streaming", "upstream"]

GOOD = "version: 1\nname: good\nexpect:\n- head: 1h\n- ended: {how: clean}\n"
BAD = 'version: 1\nname: bad\nexpect:\n- header: {name: content-length, value: "3"}\n'


@pytest.fixture
def scenario(tmp_path):
    def write(text: str, name: str = "scenario") -> str:
        file = tmp_path / f"{name}.yaml"
        file.write_text(text)
        return str(file)

    return write


def test_what_does_not_hold_exits_1_and_is_proven(run, upstream, scenario):
    proxy = run(scenario(GOOD), scenario(BAD, "bad"), "--assert", "--upstream", upstream.url)
    proxy.get("/a")
    status, out, _ = proxy.stop()
    first, second, third, seen, exchange, *proof = out.splitlines()
    assert status == 1
    assert [line.split()[:2] for line in (first, second, third)] == [
        ["ok", "head:"],
        ["ok", "ended:"],
        ["FAILED", "header:"],
    ]
    assert third.endswith("expected content-length: 3 in the response")
    assert seen.strip() == "#1: content-length: 2"
    assert exchange.strip().startswith("#1 GET /a 200")
    assert proof == []


def test_a_stream_that_runs_at_the_end_is_judged_as_it_was_ended(run, streaming, scenario):
    expect = "version: 1\nexpect:\n- ended: {by: proxy, cause: shutdown}\n- first_event: 1h\n"
    proxy = run(scenario(expect), "--assert", "--grace", "0s", "--upstream", streaming.url)
    with proxy.open_stream():
        status, out, _ = proxy.stop()
    assert (status, out.count("ok  ")) == (0, 2)


def test_wrong_expectations_exit_2(refused, upstream, scenario):
    file = scenario("version: 1\nexpect:\n- haed: 1s\n- gap: {}\n- attempts: {count: 1, max: 2}\n- gives_up: {}\n")
    status, err = refused(file, "--assert", "--upstream", upstream.url)
    assert status == 2
    assert "3:3: unknown expectation 'haed'; did you mean 'head'?" in err
    assert "`gap` needs max or p99" in err
    assert "`attempts` needs count or max, one of them" in err
    assert "`gives_up` needs after or within" in err


def test_a_port_that_is_taken_exits_3_whatever_is_expected(refused, scenario):
    served = Upstream(ANSWER)
    try:
        taken = served.url.rpartition("/")[2]
        status, _ = refused(scenario(BAD), "--assert", "--listen", taken, "--upstream", served.url)
    finally:
        served.close()
    assert status == 3


def test_what_holds_exits_0_and_what_memory_has_lost_is_said_to_be_missing(run, upstream, scenario):
    proxy = run(scenario(GOOD), "--journal-limit", "2", "--upstream", upstream.url, env={"CHAOSPROXY_ASSERT": "1"})
    for _ in range(5):
        proxy.get("/a")
    status, out, err = proxy.stop()
    assert status == 0
    assert out.splitlines() == [
        "ok      head: the head within 60m (2 of 2)",
        "ok      ended: an end how clean (2 of 2)",
    ]
    assert "#5 GET /a 200" in err
    assert "judged without the first 3 exchanges" in err


def test_as_json_and_of_nothing_nothing_is_good(run, upstream, scenario):
    proxy = run(
        scenario(BAD + "- head: {within: 1s, match: {path: /never}}\n"),
        "--assert",
        "--json",
        "--upstream",
        upstream.url,
    )
    proxy.get("/a")
    status, out, _ = proxy.stop()
    exchange, verdict, nothing = map(json.loads, out.splitlines())
    assert (status, exchange["id"]) == (1, 1)
    assert verdict == {
        "check": "header",
        "good": False,
        "expected": "content-length: 3 in the response",
        "findings": [{"exchanges": [1], "good": False, "seen": "content-length: 2"}],
    }
    assert (nothing["check"], nothing["good"], nothing["findings"]) == ("head", False, [])


def test_where_nobody_expects_or_nobody_asserts_the_status_is_0(run, upstream, scenario):
    proxy = run(scenario(BAD), "--upstream", upstream.url)
    proxy.get("/a")
    assert proxy.stop()[:2] == (0, "")
    assert run("--assert", "--upstream", upstream.url).stop()[:2] == (0, "ok      nothing is expected\n")
