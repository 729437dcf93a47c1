"""Scenarios that say something which their place, or its unit, has no word for."""

import pytest

from chaosproxy.errors import ScenarioError
from chaosproxy.scenario.load import load
from chaosproxy.scenario.nth import ALL, show


def complaint(text):
    with pytest.raises(ScenarioError) as error:
        load(text)
    [problem] = error.value.problems
    return problem.line, problem.message


def test_the_last_chunk_cannot_be_told_on_a_whole_connection():
    line, message = complaint("version: 1\nconnections:\n  - faults:\n      - resegment: {split: last_chunk}\n")
    assert line == 4
    assert "no chunks that could be told" in message


def test_a_connection_has_no_head_to_ask():
    line, message = complaint("version: 1\nconnections:\n  - faults:\n      - accept: {delay: 1s, if: {status: 200}}\n")
    assert line == 4
    assert "narrow it by `match`" in message


@pytest.mark.parametrize("limit", ["5", "often", "5/never"])
def test_so_many_in_a_time_is_a_number_and_a_time(limit):
    line, message = complaint(f"version: 1\nfaults:\n  - rate_limit: {{limit: {limit}}}\n")
    assert line == 3
    assert "5/1s" in message


def test_that_every_exchange_counts_is_not_written():
    assert show(ALL) is None
