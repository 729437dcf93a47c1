"""The check of the whole abort chain, over records made by hand."""

import pytest

from chaosproxy.journal.evidence import Account, Question
from chaosproxy.journal.record import Ending
from chaosproxy.judging.chain import AbortChain
from tests.judging.made import exchange, told

CHECK = AbortChain(within=1.0)
FREE = {"answering": 0, "generating": 0, "running": 0, "kv_blocks_used": 0}


def left(document: object = None, *, problem: str = "", others: int = 0, at: float = 0.75):
    """Its client left at 0.5, the upstream was told at `at`, and has said this."""
    record = told(exchange(left=0.5), at, Ending("proxy", "fin", "client:fin"))
    record.evidence.accounts[Question("/stats", 1.0)] = Account(document, problem, others)
    return record


def test_nothing_is_left():
    finding = CHECK.see(left(FREE))
    how, _, later = finding.seen.partition("; ")
    assert (finding.good, how) == (True, "told 250 ms after the client had left (fin): fin")
    assert later == "1s later answering 0, generating 0, running 0, kv_blocks_used 0"


@pytest.mark.parametrize(
    ("numbers", "link"),
    [
        ({"answering": 1, "generating": 1, "running": 1, "kv_blocks_used": 3}, "disconnect"),
        ({"generating": 1, "running": 1, "kv_blocks_used": 3}, "engine"),
        ({"running": 1, "kv_blocks_used": 3}, "scheduler"),
        ({"kv_blocks_used": 3}, "blocks"),
        ({"kv_blocks_used": 0.5}, "blocks"),
    ],
)
def test_the_first_number_that_is_not_back_names_the_link(numbers, link):
    finding = CHECK.see(left({**FREE, **numbers}))
    assert not finding.good
    assert f"; broken at {link}: 1s later answering" in finding.seen


@pytest.mark.parametrize("document", [None, [], {}, {**FREE, "running": "none"}, {**FREE, "answering": None}])
def test_an_account_without_the_numbers(document):
    finding = CHECK.see(left(document))
    assert not finding.good
    assert "; no number `" in finding.seen


def test_no_account():
    finding = CHECK.see(left(problem="status 404"))
    assert (finding.good, finding.seen.rpartition("; ")[2]) == (False, "status 404")


def test_told_too_late_the_proxy_is_the_broken_link():
    finding = CHECK.see(left(FREE, at=2.0))
    assert (finding.good, finding.seen) == (
        False,
        "broken at the proxy: told 1500 ms after the client had left (fin): fin",
    )


def test_of_whom_nothing_can_be_said():
    assert CHECK.see(exchange()) is None, "nobody left"
    assert CHECK.see(left(FREE, others=1)) is None
    never = left(FREE)
    never.evidence.accounts.clear()
    assert CHECK.see(never) is None, "the run ended before"
    never.evidence = None
    assert CHECK.see(never) is None
    assert AbortChain(within=2.0).see(left(FREE)) is None, "another question"
