"""`${NAME}` is filled in after parsing, is never YAML again, and is typed by the field."""

import pytest

from chaosproxy.errors import ScenarioError
from chaosproxy.scenario.environment import Environment
from chaosproxy.scenario.load import examine, load
from chaosproxy.scenario.nth import Nth, Span


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("$A", "$A"),
        ("${A}", "a"),
        ("x${A}y${A}", "xaya"),
        ("${A:-b}", "a"),
        ("${UNSET:-b}", "b"),
        ("${UNSET:-}", ""),
        ("${EMPTY:-b}", "b"),
        ("${EMPTY}", ""),
        ("${UNSET:-a b: [c]}", "a b: [c]"),
        ("$${A}", "${A}"),
        ("${NESTED}", "${A}"),
        ("{$A}", "{$A}"),
    ],
)
def test_expansion(text, expected):
    variables = {"A": "a", "EMPTY": "", "NESTED": "${A}"}
    assert Environment(variables).expand(text) == expected


@pytest.mark.parametrize("text", ["${UNSET}", "${", "${}", "${1A}", "${A-b}", "${A:-${B}}", "${A:-b", "${A b}"])
def test_what_cannot_be_filled_in(text):
    with pytest.raises(ValueError, match=r"\$\{"):
        Environment({"A": "a"}).expand(text)


def test_what_is_filled_in_is_typed_by_its_field():
    text = """
version: ${V:-1}
name: ${N:-5}
seed: ${S:-7}
probability: ${P:-0.5}
nth: ${NTH:-2}
match: {path: "${PATH_GLOB:-/a*}", query: {q: "${Q:-5}"}, json: {n: "${J:-3}", s: "${K:-true}"}}
upstream: {max_connections: "${M:-2}"}
faults:
  - x_respond: ${STATUS:-503}
  - x_respond: {status: "${STATUS:-503}", body: "${STATUS:-503}", headers: {a: "${STATUS:-503}"}}
  - x_hold: ${SIZE:-4096}
  - x_hold: {bytes: "${SIZE:-4}KiB", every: "${D:-250ms}", hint: "${H:-true}"}
  - x_cut: {at: {event: "${E:-3}"}, then: {stream: "${C:-8}"}}
"""
    scenario = load(text, env={})
    (rule,) = scenario.rules
    assert (scenario.name, scenario.seed, rule.probability, rule.nth) == ("5", 7, 0.5, Nth((Span(2, 2),)))
    assert (rule.match.path, rule.match.query, rule.match.json) == ("/a*", (("q", "5"),), (("n", 3), ("s", True)))
    assert scenario.upstream.max_connections == 2
    bare, respond, size, hold, cut = rule.faults
    assert (bare.status, respond.status, respond.body, respond.headers) == (503, 503, b"503", ((b"a", b"503"),))
    assert size.bytes == (4096,)
    assert (hold.bytes, hold.every, hold.hint) == ((4096,), 0.25, True)
    assert (cut.at.event, cut.then[0].code) == (3, 8)
    assert type(scenario.name) is str


def test_a_variable_is_data_never_yaml():
    scenario = load("version: 1\nname: ${N}\n", env={"N": "a, b: [c] &d *e # f"})
    assert scenario.name == "a, b: [c] &d *e # f"
    _, problems = examine("version: 1\nrules: ${R}\n", env={"R": "[{faults: []}]"})
    assert "expected a list" in problems[0].message


def test_an_unset_variable_is_reported_once_beside_the_others():
    text = (
        "version: 1\nseed: ${SEED}\nfaults:\n- x_hold: ${A}\n- x_cut: {at: end, then: ${B}}\n- ${C}\nexpect:\n- ${D}\n"
    )
    with pytest.raises(ScenarioError) as caught:
        load(text.replace("then: ${B}", 'then: "${B}"'), env={})
    assert [(one.line, one.column) for one in caught.value.problems] == [(2, 7), (4, 11), (5, 26), (6, 3), (8, 3)]


def test_an_unset_variable_in_place_of_a_preset_is_one_mistake():
    _, (problem,) = examine("version: 1\nhops:\n- preset: ${P}\n", env={})
    assert (problem.line, problem.column) == (3, 11)
    assert "P is not set" in problem.message


def test_a_variable_that_is_no_sensible_number():
    _, (problem,) = examine("version: 1\nseed: ${S}\n", env={"S": "9" * 30})
    assert problem.message.startswith("seed: found what '${S}' stands for; expected")


def test_variables_in_a_python_structure():
    assert load({"version": 1, "seed": "${S}"}, env={"S": "3"}).seed == 3


def test_the_process_environment_is_the_default(monkeypatch):
    monkeypatch.setenv("CHAOSPROXY_TEST_NAME", "from-outside")
    assert load("version: 1\nname: ${CHAOSPROXY_TEST_NAME}\n").name == "from-outside"


def test_what_a_variable_stands_for_is_not_in_the_scenarios_repr():
    found = load("version: 1\nname: x\nfaults: [{headers: {set: {a: '${KEY}'}}}]\n", env={"KEY": "canary-31"})
    assert repr(found) == "<scenario 'x': 1 rule>"
