"""docs/examples: every test passes as it stands there, and the page leads to each file."""

import re
import shutil
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLES = sorted((DOCS / "examples").glob("*.py"))


def test_the_examples_pass(pytester, page):
    for file in EXAMPLES:
        shutil.copy(file, pytester.path)
    done = page(pytester.runpytest_subprocess)
    written = sum(len(re.findall(r"^def test_", file.read_text(), re.MULTILINE)) for file in EXAMPLES)
    outcomes = done.parseoutcomes()
    assert len(EXAMPLES) == 10
    assert outcomes.keys() == {"passed"}
    assert outcomes["passed"] >= written


def test_the_page_leads_to_each():
    page = (DOCS / "python.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[`(\w+[.]py)`\]\(examples/\1\)", page, re.MULTILINE)
    assert sorted(rows) == [file.name for file in EXAMPLES]
