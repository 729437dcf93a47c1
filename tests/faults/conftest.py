"""What the tests of every fault ask."""

import pytest

from chaosproxy.errors import ScenarioError
from chaosproxy.scenario.load import load


@pytest.fixture
def refused():
    """A fault, as it is written in line 3 of a scenario, is refused for one reason, with the place of it."""

    def check(text, column, words, line=3):
        with pytest.raises(ScenarioError) as error:
            load(f"version: 1\nfaults:\n  - {text}\n")
        (problem,) = error.value.problems
        assert (problem.line, problem.column) == (line, column), problem
        assert words in problem.message

    return check


@pytest.fixture
def refused_below():
    """The same of a fault under `connections:`, in line 4, for what such a place does not have."""

    def check(text, words):
        with pytest.raises(ScenarioError) as error:
            load(f"version: 1\nconnections:\n  - faults:\n      - {text}\n")
        (problem,) = error.value.problems
        assert problem.line == 4, problem
        assert words in problem.message

    return check
