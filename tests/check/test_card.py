"""The card against clients of which it is known what they do: one that does everything right, and those that do one thing
wrong each."""

import math
from dataclasses import replace

import pytest
import trio

from chaosproxy.check.card import Card, Examination
from chaosproxy.check.case import GRPC
from chaosproxy.check.client import InProcess
from chaosproxy.check.runner import Limits
from chaosproxy.check.table import CASES
from tests.check.clients.good import Good
from tests.check.clients.others import BESIDE, H2, Lines, Messages
from tests.check.clients.wrong import WRONG

RUN = [case for case in CASES if case.suite != "slow" and case.kinds != GRPC]
"""Those about gRPC have clients of their own, in `test_grpc.py`."""
TIMEOUT = 1.0
LIMITS = Limits(patience=1.5, start=20, loop=8, timeout=TIMEOUT)
UNHURRIED = replace(LIMITS, busy=math.inf)
"""Whoever is to be found bad is bad on a busy machine too."""
ELSEWHERE = {"whole", "fin", "clean-early", "error-event", "503-once", "comments"}
"""Cases in which a client that breaks one rule is to be found good, unless they are of that rule."""
COMMANDS = {"interrupt"}
"""A function cannot be interrupted."""
WRONGS = [(rule, kind) for rule, kinds in WRONG.items() for kind in kinds] + list(BESIDE.items())
OF_COMMANDS = {"decodes"}
"""Rules of which only what is printed tells: `test_commands.py`."""
ASKS = {Good: "chat", Messages: "messages", Lines: "ollama", H2: "chat"}
AT_A_TIME = 8


class Trying:
    """A client of each case's own."""

    def __init__(self, kind: type[Good]) -> None:
        self._kind = kind

    async def run(self, at, watch):
        return await InProcess(self._kind(TIMEOUT, at.case).ask).run(at, watch)


def cases_for(rule):
    return [case for case in RUN if case.id in ELSEWHERE or case.rule.id == rule]


def briefly(kind):
    """What is the same whatever is asked for, and over whichever HTTP, is tried once."""
    slow = {"429-for-ever", "byte-by-byte", "slow-first", "kept-alive"}
    own = {case.id for case in RUN if ASKS[kind] in case.kinds and "chat" not in case.kinds}
    own |= {case.id for case in RUN if case.protocol == "h2" and kind is H2}
    return [case for case in RUN if case.id in own or (case.suite == "quick" and case.id not in slow)]


@pytest.fixture(scope="module")
def cards() -> dict[type[Good], Card]:
    """Of all of them, several at a time: mostly they wait."""
    made = {}

    async def examine(kind, cases, limiter):
        async with limiter:
            limits = LIMITS if kind in ASKS else UNHURRIED
            made[kind] = await Examination(Trying(kind), cases, limits=limits, jobs=8).run()

    async def all_of_them():
        limiter = trio.CapacityLimiter(AT_A_TIME)
        async with trio.open_nursery() as nursery:
            for kind in ASKS:
                nursery.start_soon(examine, kind, RUN if kind is Good else briefly(kind), limiter)
            for rule, kind in WRONGS:
                nursery.start_soon(examine, kind, cases_for(rule), limiter)

    trio.run(all_of_them)
    return made


@pytest.mark.parametrize("kind", ASKS)
def test_who_does_everything_right_has_a_clean_card(cards, kind):
    results = cards[kind].results
    assert {result.case.id: result.judged for result in results if result.judged.good is False} == {}


def test_only_what_is_about_others_is_left_out(cards):
    left_out = {result.case.id for result in cards[Good].results if result.judged.verdict == "not_applicable"}
    beside = {case.id for case in RUN if case.protocol == "h2" or (case.kinds and "chat" not in case.kinds)}
    assert left_out == beside | COMMANDS


@pytest.mark.parametrize(("rule", "kind"), WRONGS, ids=[kind.__name__ for _, kind in WRONGS])
def test_who_breaks_one_rule_fails_that_rule_alone(cards, rule, kind):
    failed = [result for result in cards[kind].results if result.judged.good is False]
    assert rule in {result.case.rule.id for result in failed}
    if rule != "sound":  # which shows everywhere
        others = [result for result in failed if result.case.rule.id != rule and result.observed.late < LIMITS.busy]
        assert {result.case.id: result.judged.seen for result in others} == {}


def test_each_rule_has_somebody_who_breaks_it():
    assert {case.rule.id for case in RUN} == WRONG.keys() | BESIDE.keys() | OF_COMMANDS
