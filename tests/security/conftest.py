"""`shown`: what a test has tried, for the tables of `docs/security.md`."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.security.rows import WRITE, Row, take_out_unwritten
from tests.security.rows import shown as show


@pytest.fixture
def shown(request: pytest.FixtureRequest) -> Callable[..., None]:
    """`shown("framing", "two lengths", tried=4, must="400", happens="400", figure="0 of 800 cuts differ")`."""
    file = request.node.path.name

    def one(section: str, name: str, *, tried: int, must: str, happens: str, figure: str = "") -> None:
        by = f"tests/security/{file}"
        show(section, Row(name=name, tried=tried, must=must, happens=happens, figure=figure, by=by))

    return one


_left_out: set[str] = set()
"""The files of which a test did not run."""


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """What is skipped on this machine may be shown by another."""
    if report.skipped:
        _left_out.add(report.location[0])


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """By `-k`, `-m`, `--deselect` or `--lf`."""
    _left_out.update(item.location[0] for item in items)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Where all of these tests have run, and written, what they did not write is of none any more."""
    whole = [Path(argument).resolve() for argument in session.config.args] == [Path(__file__).parent]
    if exitstatus == 0 and whole and os.environ.get(WRITE) == "write":
        take_out_unwritten(_left_out)
