"""`shown`: what a test has tried, for the tables of `docs/security.md`."""

import os
from collections.abc import Callable
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


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Where all of these tests have run, and written, what they did not write is of none any more."""
    config = session.config
    whole = [Path(argument).resolve() for argument in config.args] == [Path(__file__).parent]
    if exitstatus == 0 and whole and os.environ.get(WRITE) == "write" and not config.option.keyword:
        take_out_unwritten()
