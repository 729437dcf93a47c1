"""For each expectation one client or server that behaves, and one that does not: told apart by their verdicts, on sockets.

What is well-behaved keeps limits that no busy machine misses; what is not can never keep them.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import httpx
import openai
import pytest

import chaosproxy
from chaosproxy.judging.check import CHECKS
from tests.interop.applications import behaving, served

PATIENT = 20.0
IMPATIENT = 0.2
STORM = 17
"""Attempts: what one client of a language model, inside a retrying library, inside a retrying application comes to."""


@pytest.fixture(scope="module")
def proxy() -> Iterator[chaosproxy.ServedProxy]:
    with served(behaving) as url, chaosproxy.serve(upstream=url) as running:
        yield running


Act = Callable[[str], None]


def reads(path: str, timeout: float | None = PATIENT) -> Act:
    """httpx, to the end, or until nothing has come for so long."""

    def act(url: str) -> None:
        with contextlib.suppress(httpx.HTTPError), httpx.Client(timeout=timeout, trust_env=False, verify=False) as http:
            http.get(url + path)

    return act


def watches_the_tokens(url: str) -> None:
    """httpx, in the hands of somebody who leaves when no token has come for a while, whatever else does."""
    with (
        httpx.Client(timeout=PATIENT, trust_env=False, verify=False) as http,
        http.stream("GET", url + "/pinging_on") as answer,
    ):
        last = time.monotonic()
        for line in answer.iter_lines():
            now = time.monotonic()
            if "choices" in line:
                last = now
            elif now - last > IMPATIENT:
                return


def leaves_at_the_first_token(path: str) -> Act:
    def act(url: str) -> None:
        with (
            httpx.Client(timeout=PATIENT, trust_env=False, verify=False) as http,
            http.stream("GET", url + path) as answer,
        ):
            next(answer.iter_raw())

    return act


def asks_twice_at_once(url: str) -> None:
    """It does not wait for the first."""
    with (
        httpx.Client(timeout=PATIENT, trust_env=False, verify=False) as http,
        http.stream("GET", url + "/endless"),
        http.stream("GET", url + "/endless"),
    ):
        pass


def sdk(path: str, retries: int) -> Act:
    """OpenAI's client, as its documentation shows."""

    def act(url: str) -> None:
        with openai.OpenAI(base_url=url + path, api_key="x", max_retries=retries, timeout=PATIENT) as client:
            asked = client.chat.completions.create(
                model="any", messages=[{"role": "user", "content": "hi"}], stream=True
            )
            for _ in asked:
                pass

    def contained(url: str) -> None:
        with contextlib.suppress(openai.APIError, httpx.HTTPError):
            act(url)

    return contained


def again(act: Act, times: int) -> Act:
    """An application that tries whatever failed once more, and at once."""

    def acts(url: str) -> None:
        for _ in range(times):
            act(url)

    return acts


@dataclass(frozen=True)
class Pair:
    """Of one expectation."""

    expect: object
    well: Act
    ill: Act
    faults: tuple[object, ...] = ()
    """Of the machine in between, for both."""
    ill_faults: tuple[object, ...] = ()
    """Where it is the machine that behaves badly."""


TABLE = {
    "head: a server that never answers": Pair({"head": "20s"}, reads("/whole"), reads("/headless", IMPATIENT)),
    "first_event: a server that sends a head and no more": Pair(
        {"first_event": "20s"}, reads("/whole"), reads("/eventless", IMPATIENT)
    ),
    "gap: a server that halts": Pair({"gap": "500ms"}, reads("/whole"), reads("/halting")),
    "event_age: a gateway that buffers": Pair(
        {"event_age": "100ms"}, reads("/whole"), reads("/halting"), (), ({"buffer": {"until_end": True}},)
    ),
    "heartbeat: a server that is silent while it thinks": Pair(
        {"heartbeat": "3s"}, reads("/pinging"), reads("/eventless", 3.2)
    ),
    "upstream_abort: a gateway that reads on for nobody": Pair(
        {"upstream_abort": "0ms"},
        leaves_at_the_first_token("/endless"),
        leaves_at_the_first_token("/long_halting"),
        (),
        ({"client_abort": "ignore"},),
    ),
    "client_leaves: a client without a time-out": Pair(
        {"client_leaves": {"within": "10s", "after": "last_byte"}},
        reads("/endless", IMPATIENT),
        reads("/halting", None),
    ),
    "client_leaves: a client whose time-out any byte winds up": Pair(
        {"client_leaves": {"within": "10s", "after": "last_content"}}, watches_the_tokens, reads("/pinging")
    ),
    "attempts: a client that retries inside an application that does": Pair(
        {"attempts": {"max": 3}}, sdk("/briefly_busy", 2), again(sdk("/briefly_busy", 2), 2)
    ),
    "attempts: a retry storm": Pair({"attempts": {"max": 3}}, again(reads("/busy"), 3), again(reads("/busy"), STORM)),
    "gives_up: a client that goes on": Pair(
        {"gives_up": {"after": 3}}, sdk("/briefly_busy", 1), again(reads("/busy"), STORM)
    ),
    "retry_delay: a client that asks at once": Pair(
        {"retry_delay": {"min": "300ms"}},
        sdk("/failing", 1),
        asks_twice_at_once,
    ),
    "retry_after: a client that does not read it": Pair(
        "retry_after", sdk("/busy", 1), again(reads("/busy_for_long"), 2)
    ),
    "no_retry_after_output: an application that asks for all of it again": Pair(
        "no_retry_after_output", sdk("/breaking", 2), again(sdk("/breaking", 2), 2)
    ),
    "header: a server behind nginx that does not ask for no buffering": Pair(
        {"header": {"name": "X-Accel-Buffering", "value": "no"}}, reads("/whole"), reads("/bare")
    ),
    "ended: a server with a bug": Pair(
        {"ended": {"how": "clean", "by": "upstream"}}, reads("/whole"), reads("/breaking")
    ),
    "unchanged: a gateway that takes out the end mark": Pair(
        "unchanged", reads("/whole"), reads("/whole"), (), ({"strip": "done"},)
    ),
    "fired: a client that does not get so far": Pair(
        {"fired": "cut"},
        reads("/whole"),
        leaves_at_the_first_token("/endless"),
        ({"cut": {"at": {"event": 2}}},),
    ),
}


def test_each_expectation_is_in_the_table():
    seen = {pair.expect if isinstance(pair.expect, str) else next(iter(pair.expect)) for pair in TABLE.values()}
    assert seen == set(CHECKS) - {"abort_chain"}, "which has its own, with servers that have engines"


@pytest.mark.parametrize("pair", TABLE.values(), ids=TABLE)
def test_told_apart(pair, proxy):
    for act, faults, good in ((pair.well, pair.faults, True), (pair.ill, pair.faults + pair.ill_faults, False)):
        proxy.use({"version": 1, "faults": list(faults), "expect": [pair.expect]})
        proxy.clear()
        assert not proxy.verdict().good, "nothing has happened"
        act(proxy.url)
        proxy.wait(timeout=PATIENT)
        assert proxy.settle(timeout=PATIENT)
        verdict = proxy.verdict()
        assert verdict.good is good, verdict
        (judged,) = verdict.each
        assert judged.findings, "not for want of anything to judge"
