"""The table of incidents is true: scenarios, knobs, commands, sources and tests are there."""

import ast
import re
from pathlib import Path

import pytest

from chaosproxy.scenario import library
from chaosproxy.scenario.load import load
from docs.incident_table import PAGE, Incident, incidents, page
from docs.shipped import head

ROOT = Path(__file__).parents[2]
ALL = [incident for found in incidents().values() for incident in found]
by_name = pytest.mark.parametrize("incident", ALL, ids=lambda one: f"{one.scenario}: {one.seen[0]}")


def test_the_page_is_that_of_the_entries():
    assert PAGE.read_text(encoding="utf-8") == page(), "make docs"


@by_name
def test_its_scenario_names_the_source_and_the_command(incident: Incident):
    parts = head(library.shipped()[incident.scenario])
    assert [source for source in incident.seen if source not in parts["Seen"]] == []
    assert incident.command in parts["Reproduce"]
    assert set(incident.with_) <= set(re.findall(r"CHAOS_\w+", parts.get("Knobs", "")))
    assert parts["A good client"]
    assert parts["A bad client"]


@by_name
def test_its_scenario_loads_with_its_knobs(incident: Incident):
    load(library.shipped()[incident.scenario], env=incident.with_)


@by_name
def test_its_test_plays_its_scenario(incident: Incident):
    file, _, name = incident.test.partition("::")
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    tests = {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}
    assert name in tests
    said = {one.value for one in ast.walk(tests[name]) if isinstance(one, ast.Constant)}
    assert incident.scenario in said
    assert set(incident.with_) <= said


def test_no_incident_stands_twice():
    assert len({(one.seen, one.what) for one in ALL}) == len(ALL)
