"""A machine that was late: whom the card asks once more."""

from dataclasses import replace

import pytest
import trio

from chaosproxy.check.busy import Lateness
from chaosproxy.check.card import Examination
from chaosproxy.check.client import InProcess
from chaosproxy.check.table import CASES

STEADY = next(case for case in CASES if case.id == "whole")


@pytest.mark.parametrize(
    ("silence", "late", "asked"),
    [
        ("0s", 0.2, 1),
        ("0s", 0.3, 2),
        ("10m", 29, 1),  # who had ten minutes was not given up for half of one
        ("10m", 31, 2),
    ],
)
def test_a_bad_verdict_is_doubted_where_the_machine_was_late_for_what_the_client_was_to_bear(
    monkeypatch, silence, late, asked
):
    monkeypatch.setattr(Lateness, "since", lambda *_: late)
    calls = []

    def ask(url):
        calls.append(url)
        raise TimeoutError(url)

    case = replace(STEADY, id="another", silence=silence)
    (result,) = trio.run(Examination(InProcess(ask), [case]).run).results
    assert len(calls) == asked
    judged = result.judged
    if asked == 1:
        assert (judged.verdict, judged.good) == ("raised", False)
    else:
        assert judged.good is None
        assert "the machine was too busy to judge" in judged.seen


def test_a_card_that_is_ended_before_it_could_ask_once_more_believes_nothing_doubtful(monkeypatch):
    monkeypatch.setattr(Lateness, "since", lambda *_: 0.3)

    def ask(url):
        raise TimeoutError(url)

    def end(_progress):
        raise RuntimeError("ended")

    examination = Examination(InProcess(ask), [replace(STEADY, id="another", silence="0s")], progress=end)
    with pytest.raises(BaseExceptionGroup):
        trio.run(examination.run)
    (result,) = examination.so_far.results
    assert result.judged.good is None
    assert "the machine was too busy to judge" in result.judged.seen
