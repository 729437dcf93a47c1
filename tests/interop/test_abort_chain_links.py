"""The abort chain of the embedded origin with each of its links broken in turn, judged from the other side of a proxy."""

import httpx
import pytest

import chaosproxy
from chaosproxy.judging.check import Verdicts
from chaosproxy.origin.serving import OriginOptions, serving

LONG = {"model": "any", "stream": True, "max_tokens": 2000, "messages": [{"role": "user", "content": "hi"}]}
WITHIN = 20.0


def judged(broken: frozenset[str], within: str, **scenario: object) -> Verdicts:
    """The verdict on a server of which these links are broken, when a client has left."""
    expected = {"version": 1, "expect": [{"abort_chain": within}], **scenario}
    with serving(OriginOptions(broken=broken)) as origin, chaosproxy.serve(expected, upstream=origin.url) as proxy:
        with (
            httpx.Client(timeout=WITHIN, trust_env=False, verify=False) as http,
            http.stream("POST", proxy.url + "/v1/chat/completions", json=LONG) as answer,
        ):
            next(answer.iter_raw())
        proxy.wait(timeout=WITHIN)
        return proxy.verdict()


@pytest.mark.parametrize("link", ["disconnect", "engine", "scheduler", "blocks"])
def test_the_broken_link_is_named(link):
    verdict = judged(frozenset({link}), "400ms")
    assert not verdict.good
    assert f"; broken at {link}: 400ms later" in str(verdict)


def test_of_a_chain_that_holds_nothing_is_left():
    verdict = judged(frozenset(), "2s")
    assert verdict.good, verdict
    (found,) = verdict.each[0].findings
    assert found.seen.endswith("; 2s later answering 0, generating 0, running 0, kv_blocks_used 0")


def test_of_several_broken_links_the_outermost_is_named():
    assert "broken at engine" in str(judged(frozenset({"engine", "blocks"}), "400ms"))
