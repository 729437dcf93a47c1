"""What every shipped scenario owes its reader: it is valid, it says what happens in the field, and a test shows it."""

import re
from pathlib import Path

import pytest

from chaosproxy.scenario import library
from chaosproxy.scenario.load import examine

SHIPPED = {name: path for name, path in library.shipped().items() if library.theme(path) != "presets"}
"""A preset is no incident: `tests/presets` shows what it does, and its file is made from it."""
PARTS = ["In the field:", "A good client:", "A bad client:", "Knobs:", "Reproduce:"]
"""Where it was seen stands behind the first, if it was described in public."""
TESTS = Path(__file__).parents[1]
ANY_TEXT = {
    "CHAOS_MESSAGE",
    "CHAOS_CODE",
    "CHAOS_TYPE",
    "CHAOS_RETRY_AFTER",
    "CHAOS_TOKEN",
    "CHAOS_METHOD",
    "CHAOS_EXTENSION",
    "CHAOS_CHARACTER",
}
"""Knobs for which no text is wrong."""


@pytest.fixture(params=SHIPPED)
def path(request) -> Path:
    return SHIPPED[request.param]


def head_comment(path: Path) -> list[str]:
    """The comment above everything, without its marks."""
    lines = path.read_text().splitlines()
    end = next(number for number, line in enumerate(lines) if not line.startswith("#"))
    return [line.removeprefix("#") for line in lines[:end]]


def test_it_is_valid_as_shipped(path):
    scenario, problems = examine(path, env={})
    assert problems == ()
    assert scenario.name == path.stem
    assert scenario.about.endswith(".")
    assert library.theme(path)


def test_its_head_says_what_happens_what_a_good_client_does_and_what_to_turn(path):
    lines = head_comment(path)
    parts = [line.strip().partition(":")[0] + ":" for line in lines if re.match(r" \S", line)]
    assert [part for part in parts if part != "Seen:"] == PARTS
    assert any(f"chaosproxy run {path.stem} --upstream URL" in line for line in lines)
    assert len(set(parts)) == len(parts)
    assert all(re.match(r" \S|   \S", line) for line in lines), "what goes on is indented"
    assert max(map(len, path.read_text().splitlines())) <= 120


def test_each_knob_is_explained_and_has_a_default(path):
    used = set(re.findall(r"\$\{(\w*)", path.read_text()))
    with_default = set(re.findall(r"\$\{(\w+):-[^}]+\}", path.read_text()))
    knobs = " ".join(head_comment(path)).partition("Knobs:")[2].partition("Reproduce:")[0]
    assert used == with_default == set(re.findall(r"CHAOS_\w+", knobs))
    assert used or knobs.split() == ["none."]


def test_a_wrong_knob_is_a_mistake_with_a_place(path):
    for name in set(re.findall(r"\$\{(\w+)", path.read_text())) - ANY_TEXT:
        scenario, problems = examine(path, env={name: "nonsense of a value"})
        assert scenario is None
        assert all(problem.line and problem.column for problem in problems)


def test_a_test_shows_what_it_does(path):
    files = [file for place in ("virtual", "loopback") for file in (TESTS / place).glob("test_shipped*.py")]
    tests = [file.read_text() for file in [*files, *(TESTS / "incidents").glob("test_*.py")]]
    assert any(f'"{path.stem}"' in text for text in tests)
