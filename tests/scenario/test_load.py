"""Sources of every kind, several at once, and everything that is wrong at once."""

import pathlib

import pytest

from chaosproxy.chain.fault import REGISTRY
from chaosproxy.errors import ScenarioError
from chaosproxy.scenario.load import examine, load
from chaosproxy.scenario.schema import TRANSPARENT

FIVE_MISTAKES = """\
version: 1
sed: 7
rules:
  - match: {path: /v1/*}
    probability: 2
    hops:
      - name: nginx
        faults:
          - x_hodl: 4KiB
          - x_hold:
              every: 5
      - name: balancer
        faults:
          - x_hold: {bytes: 8KiB, limit: 4KiB}
"""


def test_five_mistakes_are_reported_together(tmp_path):
    file = tmp_path / "five.yaml"
    file.write_text(FIVE_MISTAKES)
    with pytest.raises(ScenarioError) as caught:
        load(file)
    found = [(one.line, one.column, one.message.partition(";")[0]) for one in caught.value.problems]
    assert found == [
        (2, 1, "unknown key 'sed'"),
        (5, 18, "probability: found the number 2"),
        (9, 13, "unknown fault 'x_hodl'"),
        (11, 22, "every: found the number 5: a number without a unit is no duration"),
        (14, 42, "less than the threshold"),
    ]
    assert "did you mean 'seed'? allowed: version, name, about, seed" in caught.value.problems[0].message
    assert "did you mean 'x_hold'? known: " in caught.value.problems[2].message
    lines = str(caught.value).splitlines()
    assert lines[:3] == [f"{file}:2:1: {caught.value.problems[0].message}", "    sed: 7", "    ^"]
    for place, problem in enumerate(caught.value.problems):
        assert lines[place * 3 + 2].index("^") == problem.column + 3


def test_where_a_key_is_missing_the_key_above_it_is_shown():
    _, problems = examine("version: 1\nfaults:\n- x_cut:\n    then: rst\n- x_stall: {}\n")
    assert [(one.line, one.column, one.message) for one in problems] == [
        (3, 3, "`at` is required; write at: {event: 3}, or another place"),
        (5, 3, "`for` is required"),
    ]


def test_a_misspelt_key_is_one_mistake():
    _, problems = examine("version: 1\nfaults:\n- x_cut: {att: end}\n")
    assert [one.message.partition(" allowed")[0] for one in problems] == ["unknown key 'att'; did you mean 'at'?"]


def test_a_very_long_key_has_no_nearest_name():
    _, (problem,) = examine(f"version: 1\n{'seed' * 20}: 1\n")
    assert "did you mean" not in problem.message
    assert "..." in problem.message


def test_parameters_that_are_not_indented_are_explained():
    _, problems = examine("version: 1\nfaults:\n- x_hold:\n  bytes: 4KiB\n")
    assert problems[0].message.endswith("are the parameters indented below the name?")


def test_problems_of_a_python_structure_name_the_path_that_leads_there():
    with pytest.raises(ScenarioError) as caught:
        load({"version": 1, "faults": [{"x_hold": "4KB/s"}, {"nope": 1}]})
    problems = caught.value.problems
    assert [(one.file, one.line, one.path) for one in problems] == [
        ("", 0, "faults[0].x_hold"),
        ("", 0, "faults[1].nope"),
    ]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"faults": [{"stall": {"at": {"event": 3}, "for": 5}}]}, "faults[0].stall.for: found the number 5"),
        ({"faults": [{"stall": {"at": {"event": 3}, "fro": 5}}]}, "faults[0].stall.fro: unknown key 'fro'"),
        ({"faults": [{"stal": {}}]}, "faults[0].stal: unknown fault 'stal'"),
        ({"faults": [{"latency": {}}]}, "faults[0].latency: `delay` is required"),
        ({"rules": [{"hops": [{"faults": [5]}]}]}, "rules[0].hops[0].faults[0]: found the number 5; a fault is"),
        (
            {"match": {"headers": {"a\nb": b""}}, "faults": []},
            "match.headers['a\\nb']: a scenario holds no bytes",
        ),
        ({"seed": "x"}, "seed: found 'x'; expected a whole number"),
    ],
)
def test_how_a_problem_of_a_python_structure_reads(given, said):
    with pytest.raises(ScenarioError) as caught:
        load({"version": 1, **given})
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


def test_a_problem_of_a_text_keeps_its_line_and_column():
    with pytest.raises(ScenarioError) as caught:
        load("version: 1\nfaults:\n  - stall: {at: {event: 3}, for: 5}\n")
    assert str(caught.value).startswith("3:34: for: found the number 5")
    assert caught.value.problems[0].path == ""


@pytest.mark.parametrize(
    "value",
    [
        {"version": 1, "seed": object()},
        {"version": 1, "seed": float("nan")},
        {"version": 1, "seed": float("inf")},
        {"version": 1, "seed": 10**5000},
        {"version": 1, "name": "\ud800"},
        {"version": 1, "name": b"x"},
        {"version": 1, "rules": {1, 2}},
        {"version": 1, 5: 6},
        {"version": 1, "match": {"json": {"a": [1] * 20_001}}, "faults": []},
    ],
)
def test_hostile_python_structures_are_refused(value):
    with pytest.raises(ScenarioError):
        load(value)


@pytest.mark.parametrize("kind", [list, dict])
def test_a_python_structure_that_contains_itself_is_refused(kind):
    value = kind()
    if isinstance(value, list):
        value.append(value)
    else:
        value["a"] = value
    with pytest.raises(ScenarioError, match="nested deeper"):
        load({"version": 1, "rules": value})


def test_tuples_are_lists():
    assert load({"version": 1, "faults": ({"x_hold": (1, 2)},)}).rules[0].faults[0].bytes == (1, 2)


@pytest.mark.parametrize(
    "text",
    [
        "version: 1",
        "{version: 1}",
        "---\nversion: 1\n",
        "version: 1\n",
        '"version": 1',
        "# a\nversion: 1",
        "\nversion: 1",
    ],
)
def test_yaml_text_is_known_from_a_name(text):
    assert load(text).rules == ()


def test_a_path_as_text_or_as_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pathlib.Path("slow.yaml").write_text("version: 1\n")
    assert load("slow.yaml").name == "slow"
    assert load("./slow.yaml").name == "slow"
    assert load(tmp_path / "slow.yaml").name == "slow"


def test_no_sources_are_a_transparent_proxy():
    assert load() == TRANSPARENT


def test_an_unknown_name_says_so():
    _, (problem,) = examine("no-such-scenario")
    assert problem.unreadable
    assert "no file and no shipped scenario is called 'no-such-scenario'" in problem.message


# Several at once


def test_several_sources_are_joined_in_order():
    joined = load(
        "version: 1\nname: a\nabout: x\nseed: 7\nrules:\n- {nth: 1, faults: [x_hold: 1]}\n- {nth: 2, faults: []}\n",
        "version: 1\nname: b\nabout: y\nupstream: {protocol: h2}\nfaults: [x_hold: 2]\n",
        "version: 1\nname: c\nseed: 7\nupstream: {balance: connection}\nconnections: [{faults: [x_cut: {at: {bytes: 1}}]}]\n",
    )
    assert (joined.name, joined.about, joined.seed) == ("a+b+c", "", 7)
    assert [[one.bytes for one in rule.faults] for rule in joined.rules] == [[(1,)], [], [(2,)]]
    assert (joined.upstream.protocol, joined.upstream.balance) == ("h2", "connection")
    assert len(joined.connections) == 1


def test_a_rule_behind_one_that_takes_everything_is_warned_of(tmp_path):
    (tmp_path / "a.yaml").write_text("version: 1\nrules:\n- match: {path: /a}\n- probability: 0.5\n- faults: []\n")
    (tmp_path / "b.yaml").write_text("version: 1\nfaults: []\n")
    scenario, (problem,) = examine(tmp_path / "a.yaml", tmp_path / "b.yaml")
    assert scenario is not None
    assert (problem.file, problem.line, problem.warning) == (str(tmp_path / "b.yaml"), 1, True)
    assert f"never reached: the rule at {tmp_path / 'a.yaml'}:5 takes every exchange" in problem.message


def test_no_rule_is_warned_of_where_each_has_its_turn():
    rules = "- {nth: 1}\n- {match: {method: GET}}\n- {mount: /a}\n- {probability: 0.5}\n- {faults: []}\n"
    assert load(f"version: 1\nrules:\n{rules}").warnings == ()


@pytest.mark.parametrize(
    ("first", "second"), [("seed: 1", "seed: 2"), ("upstream: {protocol: h2}", "upstream: {protocol: auto}")]
)
def test_two_different_values_are_an_error(first, second, tmp_path):
    (tmp_path / "a.yaml").write_text(f"version: 1\n{first}\n")
    (tmp_path / "b.yaml").write_text(f"# second\nversion: 1\n{second}\n")
    _, (problem,) = examine(tmp_path / "a.yaml", tmp_path / "b.yaml")
    assert (problem.file, problem.line) == (str(tmp_path / "b.yaml"), 3)
    assert "two different values" in problem.message
    assert "a.yaml" in problem.message


def test_the_mistakes_of_all_sources_are_reported():
    with pytest.raises(ScenarioError) as caught:
        load("version: 1\nsed: 1\n", "version: 1\nfaults: [bufer: 1]\n")
    assert len(caught.value.problems) == 2


# Faults against their neighbours


def test_records_cannot_be_read_behind_a_coding():
    text = "version: 1\nhops:\n- faults:\n  - x_cut: {at: {event: 1}}\n  - x_compress: gzip\n- faults:\n  - x_cut: {at: {bytes: 5}}\n  - x_cut: {at: {event: 2}}\n"
    _, (problem,) = examine(text)
    assert (problem.line, problem.column) == (8, 5)
    assert (
        problem.message
        == "`x_cut` reads records, but `x_compress` before it codes the body; put it before `x_compress`"
    )


def waits(*hops):
    text = "version: 1\nhops:\n" + "".join(f"- faults:\n  - timeout: {hop}\n" for hop in hops)
    scenario, problems = examine(text)
    assert scenario is not None
    assert scenario.warnings == problems
    return [(one.line, one.warning, one.message.partition(":")[0]) for one in problems]


def test_an_outer_hop_that_waits_longer_is_a_warning():
    assert waits("{idle: 30s}", "{idle: 60s}") == [(6, True, "idle")]
    assert waits("{idle: 60s}", "{idle: 30s}") == []
    assert waits("{idle: 60s}", "{idle: 60s}") == []
    assert waits("{idle: 30s}", "{total: 60s}") == []
    assert waits("{idle: 60s, total: 10s}", "{idle: 30s}", "{idle: 40s, total: 11s}") == [
        (8, True, "idle"),
        (8, True, "total"),
    ]


def test_two_timeouts_in_one_hop_are_no_warning():
    text = "version: 1\nfaults:\n- timeout: {idle: 30s}\n- timeout: {idle: 60s}\n"
    assert examine(text)[1] == ()


def test_a_warning_has_its_place():
    text = "version: 1\nhops:\n- faults: [timeout: {idle: 30s}]\n- faults: [timeout: {idle: 60s}]\n"
    (warning,) = load(text).warnings
    assert (warning.line, warning.column) == (4, 28)
    assert "waits 1m, longer than the 30s of an inner hop" in warning.message


def test_what_a_spec_finds_impossible_stands_at_its_key():
    _, (problem,) = examine("version: 1\nfaults:\n- x_hold:\n    limit: 1KiB\n    bytes: 2KiB\n")
    assert (problem.line, problem.column) == (4, 12)


def test_a_users_own_fault_is_known_at_once(monkeypatch):
    monkeypatch.setitem(REGISTRY, "mine", REGISTRY["x_hold"])
    assert load("version: 1\nfaults: [mine: 3]\n").rules[0].faults[0].bytes == (3,)


def test_a_rule_with_too_many_faults_is_refused_at_the_first_that_is_too_many():
    lines = "".join("  - respond: 200\n" for _ in range(65))
    with pytest.raises(ScenarioError, match="at most 64 faults; here are 65") as error:
        load(f"version: 1\nfaults:\n{lines}")
    assert error.value.problems[0].line == 67
    load("version: 1\nfaults:\n" + "  - respond: 200\n" * 64)
