"""The cases in a suite of a user's: parametrised, on functions and coroutines."""

import asyncio
import subprocess
import sys

import pytest

import chaosproxy
from chaosproxy.errors import UsageError
from tests.check.clients.good import Good, NotWhole
from tests.check.clients.wrong import BelievesHttp, SaysItLouder


@pytest.mark.parametrize("case", chaosproxy.check.cases(only=["whole", "fin", "clean-early"]), ids=str)
def test_a_good_client_passes(case):
    result = case.check(Good(10.0).ask)
    assert result.judged.verdict == ("whole" if str(case) == "whole" else "raised")


def test_a_bad_one_fails_with_the_rule_the_mend_and_the_timeline():
    (case,) = chaosproxy.check.cases(only=["clean-early"])
    with pytest.raises(AssertionError) as failed:
        case.check(BelievesHttp(10.0).ask)
    said = str(failed.value)
    assert "clean-early (a clean end in mid-answer, without finish reason and last word): truncated, 6 of 12" in said
    assert "only the provider's last word says that it is whole" in said
    assert "Note the finish reason" in said
    assert "cut: clean after event 6" in said


def test_coroutines_and_mappings_are_clients_too():
    (case,) = chaosproxy.check.cases(only=["fin"])

    async def ask(url):
        try:
            text = await asyncio.to_thread(Good(10.0).ask, url)
        except NotWhole as error:
            return {"text": error.text, "finish": None, "outcome": "flagged", "error": str(error)}
        return {"text": text}

    assert case.run(ask).judged.verdict == "flagged"


def test_it_is_tried_from_within_a_loop_too():
    (case,) = chaosproxy.check.cases(only=["whole"])

    async def within():
        return case.run(SaysItLouder(10.0).ask).judged.verdict

    assert asyncio.run(within()) == "corrupted"


async def test_and_from_within_trio():
    (case,) = chaosproxy.check.cases(only=["whole"])
    assert case.run(lambda url: Good(10.0).ask(url)).judged.good is True


def test_what_hangs_on_a_timeout_does_not_apply_without_one():
    (case,) = chaosproxy.check.cases(only=["stall-stream"])
    assert case.check(Good().ask).judged.verdict == "not_applicable"


def test_a_client_that_returns_something_else_is_a_mistake():
    (case,) = chaosproxy.check.cases(only=["whole"])
    with pytest.raises(TypeError, match="this one bytes"):
        case.check(lambda _: b"Twelve")


def test_a_suite_that_is_not_there_is_a_mistake():
    with pytest.raises(UsageError, match="fastest"):
        chaosproxy.check.cases("fastest")


def test_a_suite_is_collected_without_a_proxy():
    program = (
        "import chaosproxy, sys; chaosproxy.check.cases(); print({'trio', 'uvicorn', 'pydantic'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
