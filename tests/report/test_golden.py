"""Reports as they were looked at: in a browser, in a terminal of 80 columns, in a viewer of Markdown.

`python -m tests.report.test_golden` writes them anew; look at what has changed before it is committed.
"""

import difflib
from pathlib import Path

import pytest

from chaosproxy.report.pages import form_of, write
from tests.report.examples import examples, verdicts

GOLDEN = Path(__file__).with_name("golden")
FILES = ("report.html", "report.txt", "report.xml", "report.md", "unjudged.txt", "unjudged.xml", "unjudged.md")


def written(name: str) -> str:
    judged = verdicts() if name.startswith("report") else ()
    form = form_of(Path(name))
    assert form is not None
    return write(examples(), judged, form, title="an incident")


@pytest.mark.parametrize("name", FILES)
def test_a_report_is_what_it_was(name):
    old, new = (GOLDEN / name).read_text(encoding="utf-8"), written(name)
    changed = "\n".join(difflib.unified_diff(old.splitlines(), new.splitlines(), "golden", "now", lineterm=""))
    assert old == new, changed


def test_without_exchanges_there_is_a_report_too():
    for form in ("html", "text", "junit", "markdown"):
        assert "0 exchanges" in write([], (), form) or 'tests="0"' in write([], (), form)


if __name__ == "__main__":
    for name in FILES:
        (GOLDEN / name).write_text(written(name), encoding="utf-8")
