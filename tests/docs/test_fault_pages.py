"""Every fault has its page, the page is what the generator makes, and its examples are sound."""

import re
from dataclasses import dataclass

import pytest

import chaosproxy.faults
from chaosproxy.chain.fault import REGISTRY, FaultSpec
from chaosproxy.model.units import Duration, Size
from chaosproxy.model.vocabulary import Way
from chaosproxy.scenario.load import load
from chaosproxy.scenario.reference import parameters, reference
from docs.generate import COMMAND, FAULTS, GROUPS, page, pages
from docs.timeline import SCRIPTS, timeline

SHIPPED = sorted(spec.name for spec in REGISTRY.values() if spec.__module__.startswith(chaosproxy.faults.__name__))


def test_every_page_is_what_the_generator_makes():
    stale = [
        path.name for path, text in pages().items() if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    assert not stale, f"run `{COMMAND}`: {', '.join(stale)}"


def test_every_fault_has_a_page_and_every_page_a_fault():
    assert sorted(path.stem for path in FAULTS.glob("*.md")) == sorted([*SHIPPED, "README"])


@pytest.mark.parametrize("name", SHIPPED)
def test_every_fault_has_a_group_an_example_and_a_meaning_for_each_parameter(name):
    text = (FAULTS / f"{name}.md").read_text(encoding="utf-8")
    group = re.search(r"<!-- group: (.*) -->", text)
    assert group, name
    assert group[1] in GROUPS
    assert group[1] != "other", f"name its group in docs/faults/{name}.md, one of {', '.join(GROUPS)}"
    examples = [load(one) for one in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)]
    used = {
        fault.name for scenario in examples for one in (*scenario.rules, *scenario.connections) for fault in one.faults
    }
    assert name in used, f"show {name} in an example in docs/faults/{name}.md"
    silent = [one.key for one in reference(REGISTRY[name]).parameters if not one.words]
    assert silent == [], f"{name}: a docstring below each field is its line in the reference"
    assert [problem for scenario in examples for problem in scenario.warnings] == []


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample(FaultSpec):
    """Waits in a row."""

    name = "sample"
    main = "size"
    ways = frozenset(Way)
    edits_body = True

    first: Duration = 1.5
    """How long. Default 1.5s."""
    size: Size | tuple[Size, ...] | None = None
    """How much | how often."""
    needed: int


def test_what_is_said_of_a_parameter_is_read_from_its_field():
    size, first, needed = parameters(Sample)
    assert (size.key, size.form, size.default) == ("size", "size, or a list of them", "")
    assert (first.key, first.form, first.default) == ("first", "duration", "1.5s")
    assert (needed.key, needed.form, needed.default, needed.words) == ("needed", "a whole number", None, "")


def test_a_new_page_is_a_frame_and_what_is_written_by_hand_stays():
    fresh = page(reference(Sample), "")
    assert "<!-- group: other -->" in fresh
    assert "| `first` | duration | `1.5s` | How long. |" in fresh
    assert "| `size` | size, or a list of them | | How much \\| how often. |" in fresh
    assert "| `needed` | a whole number | required | |" in fresh
    assert "Content-Length is removed" in fresh
    example = "Words.\n\n```yaml\nversion: 1\nfaults: [{cut: {at: {event: 2}}}]\n```\n\n<!-- play: a stream -->\n"
    edited = fresh.replace("group: other", "group: time").replace("## Examples\n", f"## Examples\n\n{example}")
    made = page(reference(Sample), edited)
    assert "<!-- group: time -->" in made
    assert "Words.\n\n```yaml\nversion: 1\n" in made
    assert "cut: abort after event 2" in made
    assert page(reference(Sample), made) == made


def test_a_timeline_shows_both_sides_and_who_did_what():
    cut = "version: 1\nfaults: [{cut: {at: {event: 2}, then: rst}}]"
    assert timeline(cut, "a stream").splitlines() == [
        "      s  the upstream sends     the client gets",
        "  0.000  200 text/event-stream  200 text/event-stream",
        "  0.100  data: 1                data: 1",
        "  0.200  data: 2                data: 2",
        "  0.200    cut: rst after event 2",
        "  0.200    (is told to stop)",
        "  0.200                         TCP RST",
    ]


@pytest.mark.parametrize("name", sorted(SCRIPTS.keys() - {"no upstream"}))
def test_without_faults_both_sides_are_the_same(name):
    title, *rows = timeline("version: 1\nfaults: []", name).splitlines()
    column = title.index("the client gets" if "client gets" in title else "the upstream gets")
    assert rows
    for row in rows:
        sent, got = row[9:column].strip(), row[column:].strip()
        assert got == sent or "(" in row, row
