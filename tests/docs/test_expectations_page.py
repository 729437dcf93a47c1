"""The page of expectations has each check, with what it says of itself and an example that was really judged."""

import re

import pytest

from chaosproxy.judging.check import CHECKS
from chaosproxy.scenario.load import load
from chaosproxy.scenario.reference import parameters
from docs.expectations import PAGE
from docs.judged import CLIENTS, judged

TEXT = PAGE.read_text(encoding="utf-8")


def test_each_check_stands_there_once():
    assert sorted(re.findall(r"^### (.*)$", TEXT, re.MULTILINE)) == sorted(CHECKS)
    assert sorted(re.findall(r"<!-- check: (.*) -->", TEXT)) == sorted(CHECKS)


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_each_has_words_for_its_keys_and_an_example_with_its_verdict(name):
    section = TEXT.partition(f"### {name}\n")[2].partition("\n### ")[0]
    examples = [load(one) for one in re.findall(r"```yaml\n(.*?)```", section, re.DOTALL)]
    assert name in {expectation.check.name for scenario in examples for expectation in scenario.expect}
    assert re.search(rf"<!-- judge: .* -->\n```text\n(?:.*\n)*?(?:ok     |FAILED ) {name}: ", section)
    assert [one.key for one in parameters(CHECKS[name], common=()) if not one.words] == []


@pytest.mark.parametrize("client", sorted(CLIENTS))
def test_the_clients_of_the_page_do_what_they_are_called(client):
    scenario = "version: 1\nexpect: [attempts: 1, client_leaves: 2s, ended: {by: upstream}]"
    asked, left, ended = judged(scenario, client).split("\n")[0], "ok      client_leaves", "ok      ended"
    assert asked.startswith("ok") is ("again" not in client)
    assert (left in judged(scenario, client)) is ("leaves" in client)
    assert (ended in judged(scenario, client)) is ("leaves" not in client)
