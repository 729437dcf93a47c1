"""What presets of managed hops are known from: no default without the vendor's own page, no figure without its grade."""

import re

import pytest

from chaosproxy.model.units import duration, size
from chaosproxy.presets.figures import Figures
from chaosproxy.presets.preset import PRESETS
from chaosproxy.scenario.reference import parameters

MANAGED = {name: spec for name, spec in PRESETS.items() if isinstance(spec.sources, Figures)}


@pytest.mark.parametrize("name", sorted(MANAGED))
def test_each_default_is_a_figure_of_the_vendors_and_what_is_none_has_no_default(name):
    told = {one.what.partition(": ")[0]: one for one in MANAGED[name].sources}
    own = vars(MANAGED[name])["__annotations__"]
    for one in [one for one in parameters(MANAGED[name], ()) if one.key in own]:
        figure = told[one.key]
        value = figure.what.partition(": ")[2]
        if one.default:
            assert figure.grade == "documented", figure
            assert same(one.default, value), (one, figure)
        else:
            assert not value or "; " in value or figure.grade != "documented", figure


def same(default: str, value: str) -> bool:
    """`1m` and `60s`."""
    for read in (duration, size):
        try:
            return read(default) == read(value)
        except ValueError:
            continue
    return default == value


@pytest.mark.parametrize("name", sorted(MANAGED))
def test_each_figure_has_its_page_unless_it_is_known_from_none(name):
    assert len(MANAGED[name].sources) > 1
    for one in MANAGED[name].sources:
        assert one.says.endswith((".", ".)")), one
        assert one.where.startswith("https://") or (not one.where and one.grade not in ("documented", "quoted")), one
        assert re.fullmatch(r"(20\d\d(-\d\d){0,2})?", one.date), one


@pytest.mark.parametrize("name", sorted(MANAGED))
def test_each_says_how_it_ends_what_it_ends(name):
    text = str(MANAGED[name]().faults())
    told = {one.what.partition(": ")[0]: one for one in MANAGED[name].sources}
    if "'timeout'" in text:
        assert told["before the head"].what.partition(": ")[2] in text
    if "between_bytes" in text or "total" in text:
        assert "after the head" in told or "hold_head" in text


def test_there_are_as_many_as_are_told_of():
    assert len(MANAGED) >= 25
