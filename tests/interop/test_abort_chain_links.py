"""The abort chain of the embedded origin with each of its links broken in turn, judged from the other side of a proxy."""

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

import chaosproxy
from chaosproxy.origin.serving import OriginOptions, serving

LONG = {"model": "any", "stream": True, "max_tokens": 2000, "messages": [{"role": "user", "content": "hi"}]}
WITHIN = 20.0


TIME = "3s"
"""To let everything be as it will: what is broken stays so for 40 s."""
BROKEN = ["", "disconnect", "engine", "scheduler", "blocks", "engine blocks"]


def judged(broken: str) -> chaosproxy.Finding:
    """What is found of a server of which these links are broken, when a client has left."""
    expected = {"version": 1, "expect": [{"abort_chain": TIME}]}
    options = OriginOptions(broken=frozenset(broken.split()))
    with serving(options) as origin, chaosproxy.serve(expected, upstream=origin.url) as proxy:
        with (
            httpx.Client(timeout=WITHIN, trust_env=False, verify=False) as http,
            http.stream("POST", proxy.url + "/v1/chat/completions", json=LONG) as answer,
        ):
            next(answer.iter_raw())
        proxy.wait(timeout=WITHIN)
        (verdict,) = proxy.verdict().each
        (found,) = verdict.findings
        return found


@pytest.fixture(scope="module")
def findings() -> dict[str, chaosproxy.Finding]:
    """Of each, all at once: each takes its time."""
    with ThreadPoolExecutor(len(BROKEN)) as threads:
        return dict(zip(BROKEN, threads.map(judged, BROKEN), strict=True))


@pytest.mark.parametrize("link", ["disconnect", "engine", "scheduler", "blocks"])
def test_the_broken_link_is_named(link, findings):
    assert not findings[link].good
    assert f"; broken at {link}: {TIME} later" in findings[link].seen


def test_of_a_chain_that_holds_nothing_is_left(findings):
    assert findings[""].good, findings[""]
    assert findings[""].seen.endswith(f"; {TIME} later answering 0, generating 0, running 0, kv_blocks_used 0")


def test_of_several_broken_links_the_outermost_is_named(findings):
    assert "broken at engine" in findings["engine blocks"].seen
