"""`shown`: what a test has tried, for the tables of `docs/security.md`."""

from collections.abc import Callable

import pytest

from tests.security.rows import Row
from tests.security.rows import shown as show


@pytest.fixture
def shown(request: pytest.FixtureRequest) -> Callable[..., None]:
    """`shown("framing", "two lengths", tried=4, must="400", happens="400", figure="0 of 800 cuts differ")`."""
    file = request.node.path.name

    def one(section: str, name: str, *, tried: int, must: str, happens: str, figure: str = "") -> None:
        by = f"tests/security/{file}"
        show(section, Row(name=name, tried=tried, must=must, happens=happens, figure=figure, by=by))

    return one
