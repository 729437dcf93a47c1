"""The code in the documentation runs, and its scenarios load."""

import re
from pathlib import Path

import pytest

from chaosproxy.chain.fault import REGISTRY
from chaosproxy.scenario.load import load

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def snippets(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL)


def test_the_guide_to_a_new_fault_works_from_top_to_bottom():
    known = dict(REGISTRY)
    try:
        names: dict[str, object] = {"__name__": "chaosproxy.faults.echo_gap"}
        code = snippets(ROOT / "docs" / "adding-a-fault.md", "python")
        assert len(code) == 4
        for snippet in code:
            exec(compile(snippet, "adding-a-fault.md", "exec"), names)
        assert "echo_gap" in REGISTRY
    finally:
        REGISTRY.clear()
        REGISTRY.update(known)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_scenario_in_the_documentation_loads(page):
    for snippet in snippets(page, "yaml"):
        load(snippet)


def test_every_page_that_is_linked_is_there():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
