"""The cases are data that can be relied upon: each can be run, says why, and is known by its name."""

import re

import pytest

from chaosproxy.check.case import Case, with_timeout
from chaosproxy.check.choosing import choose
from chaosproxy.check.runner import scenario_of
from chaosproxy.check.table import CASES
from chaosproxy.errors import UsageError
from chaosproxy.scenario.load import load


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_case_can_be_loaded_and_says_why_it_is_there(case: Case) -> None:
    loaded = load(scenario_of(case, timeout=1.5, lead=0.0))
    assert loaded.warnings == ()
    assert loaded.name == case.id
    assert case.good
    assert all((case.title, case.theme, case.source, case.rule.says, case.rule.mend))
    assert re.fullmatch(r"[a-z0-9-]+", case.id)


def test_names_are_names() -> None:
    assert len({case.id for case in CASES}) == len(CASES)
    rules = {}
    for case in CASES:
        assert rules.setdefault(case.rule.id, case.rule) == case.rule


def test_a_duration_in_the_client_s_timeout() -> None:
    assert with_timeout("stall: {for: <0.5T>}, timeout: <2T>", 1.5) == "stall: {for: 750ms}, timeout: 3s"


@pytest.mark.parametrize(
    ("suite", "only", "skip", "some", "none"),
    [
        ("quick", (), (), {"whole", "fin"}, {"fin-mid-chunk"}),
        ("full", (), (), {"whole", "fin-mid-chunk", "stall-stream"}, set()),
        ("quick", ("fin*",), (), {"fin", "fin-mid-chunk"}, {"whole"}),
        ("quick", (), ("h2-*", "whole"), {"fin"}, {"whole", "h2-reset"}),
    ],
)
def test_which_are_chosen(suite, only, skip, some, none) -> None:
    chosen = {case.id for case in choose(suite, only, skip)}
    assert some <= chosen
    assert not none & chosen


def test_a_name_that_fits_no_case_is_a_mistake() -> None:
    with pytest.raises(UsageError, match="fni"):
        choose("quick", ("fni",))
