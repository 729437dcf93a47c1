"""`strip`: what every fault must stand, how it is written, and what cannot be."""

import pytest

from chaosproxy.errors import ScenarioError
from chaosproxy.faults import Compress, Strip
from chaosproxy.model.vocabulary import Way
from chaosproxy.scenario.dump import dump
from chaosproxy.scenario.load import load
from chaosproxy.testing import check_fault
from chaosproxy.testing.checks import SCRIPTS

ALL = ("usage", "done", "trailers", "ids", "comments")


@pytest.mark.parametrize(
    "spec", [Strip(what=ALL), *(Strip(what=(part,)) for part in ALL), Strip(what=ALL, way=Way.REQUEST)], ids=str
)
def test_it_stands_every_script(spec):
    check_fault(spec)


@pytest.mark.parametrize("part", ["usage", "done", "ids"])
def test_it_is_neutral_where_there_is_nothing_of_it(part):
    whole = {name: script for name, script in SCRIPTS.items() if name not in ("cut anywhere", "broken off")}
    check_fault(
        Strip(what=(part,)), neutral=True, scripts=whole
    )  # of events that come whole, else it waits for the rest


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("strip: trailer", 3, 12, "trailers"),
        ("strip: [usage, done, id]", 3, 26, "ids"),
        ("strip: []", 3, 12, "nothing to strip"),
        ("strip: {}", 3, 5, "what"),
        ("strip: 5", 3, 12, "usage"),
        ("strip: {what: done, at: end}", 3, 25, "at"),
    ],
)
def test_what_cannot_be_has_its_place(refused, text, line, column, words):
    refused(text, column, words, line)


def test_one_or_a_list():
    scenario = load("version: 1\nfaults:\n  - strip: done\n  - strip: [ids, usage]\n")
    one, several = scenario.rules[0].faults
    assert load(dump(scenario)) == scenario
    assert (one, several) == (Strip(what=("done",)), Strip(what=("ids", "usage")))


def test_behind_a_coder_it_is_refused_unless_only_trailers_go():
    text = "version: 1\nfaults:\n  - compress: gzip\n  - strip: {}\n"
    with pytest.raises(ScenarioError, match="reads records"):
        load(text.format("done"))
    first, _ = load(text.format("trailers")).rules[0].faults
    assert isinstance(first, Compress)
