"""Every preset has its page and its scenario, and both are what it says of itself."""

import pytest

from chaosproxy.presets.preset import PRESETS, family_of
from chaosproxy.scenario.load import load
from chaosproxy.scenario.reference import parameters
from docs.preset_pages import COMMAND, FILES, PAGES, pages


def test_every_page_and_every_scenario_is_what_the_generator_makes():
    made = pages()
    stale = [path.name for path, text in made.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    assert not stale, f"run `{COMMAND}`: {', '.join(stale)}"
    assert {*PAGES.iterdir(), *FILES.iterdir()} == made.keys()


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_what_the_page_shows_is_the_preset(name):
    text = (PAGES / f"{family_of(PRESETS[name])}.md").read_text(encoding="utf-8")
    shown = text.partition(f"## {name}\n")[2].partition("```yaml\n")[2].partition("```")[0]
    by_hand, by_name = load(shown), load(name)
    assert (by_hand.rules, by_hand.connections, by_hand.upstream) == (
        by_name.rules,
        by_name.connections,
        by_name.upstream,
    )


@pytest.mark.parametrize("spec", PRESETS.values(), ids=PRESETS)
def test_each_says_what_it_does_what_was_measured_and_what_each_parameter_means(spec):
    assert spec.about.endswith(".")
    assert spec.measured.endswith(".")
    assert spec.not_measured == "" or spec.not_measured.endswith(".")
    assert [one.key for one in parameters(spec, ()) if not one.words] == []
    text = (FILES / f"{spec.name}.yaml").read_text(encoding="utf-8")
    assert max(map(len, text.splitlines())) <= 140
