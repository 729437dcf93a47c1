"""Every field of every fault refuses what it cannot be, at the value's line and column: one table, made of the reference.

What a fault refuses only because of its other fields stands in that fault's own tests.
"""

import re
from collections.abc import Iterator

import pytest
import yaml

import chaosproxy.faults
from chaosproxy.chain.fault import REGISTRY
from chaosproxy.scenario.load import examine
from chaosproxy.scenario.reference import Parameter, parameters, reference

SHIPPED = sorted(spec.name for spec in REGISTRY.values() if spec.__module__.startswith(chaosproxy.faults.__name__))
ANYTHING = ("any value", "text", "header fields")
NOTHING = "no such thing"
"""A text that no field but one of texts can be."""


def wrong(parameter: Parameter) -> Iterator[object]:
    """Values that are none of the parameter's, by what its reference says that it is."""
    form = parameter.form
    loose = any(word in form for word in ANYTHING)
    if not loose:
        yield NOTHING
    if not loose and "mapping" not in form and "place" not in form and "ending" not in form:
        yield {"no_such_key": 1}
    if not loose and "list" not in form and "place" not in form and "ending" not in form:
        yield [NOTHING]
    if "mapping of header fields" in form:
        yield NOTHING
        yield {"no name": "x"}
        yield {"name": "two\r\nlines: x"}
    if re.search(r"\b(duration|rate)\b", form):
        yield 5  # without its unit
        yield "5 parsec"
    if re.search(r"\bsize\b", form):
        yield -1
        yield "4Kib/s"
    for least, most in re.findall(r"whole number from (-?\d+) to (-?\d+)", form):
        yield int(least) - 1
        if "text" not in form:
            yield int(most) + 1
    for least in re.findall(r"whole number, (\d+) or more", form):
        yield int(least) - 1
        yield 1.5
    if "a place" in form:
        yield {"evnt": 3}
        yield {"event": 0}
    if "an ending" in form:
        yield "rest"
        yield {"stream": "CANCLE"}


TABLE = [
    pytest.param(name, parameter.key, value, id=f"{name}: {parameter.key}: {value}")
    for name in SHIPPED
    for parameter in parameters(REGISTRY[name])
    for value in wrong(parameter)
]


@pytest.mark.parametrize(("name", "key", "value"), TABLE)
def test_what_a_field_cannot_be_is_refused_where_it_stands(name, key, value):
    written = yaml.safe_dump(value, default_flow_style=True, width=1000).removesuffix("\n").removesuffix("\n...")
    text = f"version: 1\nfaults:\n  - {name}:\n      {key}: {written}\n"
    scenario, problems = examine(text)
    assert scenario is None
    column = len(f"      {key}: ") + 1
    there = [problem for problem in problems if problem.line == 4 and problem.column >= column]
    assert there, f"{problems}"
    assert all(len(problem.message.split()) > 3 and problem.source for problem in there)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_misspelt_field_is_refused_with_those_there_are(name):
    known = [parameter.key for parameter in parameters(REGISTRY[name])]
    text = f"version: 1\nfaults:\n  - {name}:\n      nonsense: 1\n"
    (problem,) = [problem for problem in examine(text)[1] if "unknown key" in problem.message]
    assert (problem.line, problem.column) == (4, 7)
    assert all(key in problem.message for key in known)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_place_and_a_way_that_it_does_not_have_are_refused(name):
    told = reference(REGISTRY[name])
    if told.at == "none":
        text = f"version: 1\nfaults:\n  - {name}:\n      at: body\n"
        assert any((problem.line, problem.column) == (4, 7) for problem in examine(text)[1])
    for way in {"request", "response", "both"} - set(told.ways):
        text = f"version: 1\nfaults:\n  - {name}:\n      way: {way}\n"
        assert any((problem.line, problem.column) == (4, 12) for problem in examine(text)[1]), way


def test_the_table_holds_every_fault():
    assert {row.values[0] for row in TABLE} == set(SHIPPED)
