"""The page of security shows the rows that are kept."""

import importlib.util
import os
import re
from pathlib import Path

import pytest

from docs import security
from tests.security import rows

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(
    os.environ.get(rows.WRITE) == "write",
    reason="the rows are being written; the page, and what is taken out, come behind",
)


def test_the_page_is_current():
    assert security.PAGE.read_text("utf-8") == security.page(), "`python -m docs.security` writes it"


def test_whatever_a_row_names_is_there():
    """The test that writes it, which says its section and may make its name; or a command of the Makefile, or of a module."""
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    for section in rows.sections():
        for row in rows.kept(section):
            match row.by.split():
                case [file]:
                    assert f'"{section}"' in (ROOT / file).read_text("utf-8"), row
                case ["make", target]:
                    assert target in targets, row
                case ["python", "-m", module, *_]:
                    assert importlib.util.find_spec(module) is not None, row
                case _:
                    raise AssertionError(row)
