"""Every shipped scenario can be shown, and its picture tells what it is about."""

import pytest
import trio

from chaosproxy.demo.plan import plan
from chaosproxy.demo.shown import show
from chaosproxy.demo.words import meaning
from chaosproxy.origin.serving import OriginOptions, serving
from chaosproxy.scenario import library
from chaosproxy.scenario.load import load

SHIPPED = [name for name, path in library.shipped().items() if library.theme(path) != "presets"]
PRESET = "nginx-1.22"
"""One stands for all: what they do is no incident, and is shown in `tests/presets`."""
SAID = {
    "rate-limited": "429, Retry-After: 1",
    "missing-done": "ended cleanly, as HTTP sees it",
    "missing-last-chunk": "broke off after 3 of",
    "reset": "broke off after 3 of",
    "h2-reset": "broke off after 3 of",
    "stall-comments": "After 3 of 40 events bytes still came",
    "black-hole": "After 3 of 40 events nothing came, not even an end",
    "slow-drip": "bytes still came, and no event",
    "error-openai": "After 5 events came an error inside a 200",
    "error-anthropic": "After 5 events came an error inside a 200",
    "error-ollama": "After 5 events came an error inside a 200",
}
"""What is said of those that do not depend on how busy this machine is."""
EITHER = {"idle-drop": ("broke off before any", "the answer is 504")}
"""The time without a byte may pass even before the head."""
AT_THE_END = {"buffer-4k", "whole-answer", "gzip-until-end"}
NO_FAULT = {"tokens", "one-connection", "pinned"}
NOT_TAKEN = {"frozen-by-one"}
"""Those of a path that the demo's origin does not know."""
NEVER_BEGUN = {"always-refused", "http1-required"}
"""Those whose request is refused before it is one."""
NO_OCCASION = {
    "goaway-race",
    "too-many-pings",
    "frozen-by-one",
    "runs-on",
    "cancelled-streams-linger",
    "split-characters",
    "stopped-reader",
    "grpc-idle",
    "six-connections",
    "full-backlog",
    "too-many-streams",
    "too-many-requests",
}
"""Those of a client that leaves, which the demo's does not, of several connections or requests, and of text, or of so
much, that its origin does not send."""
RACES = {"killed-mid-chunk", "total-timeout", "recommended"}
"""Those that a stream may escape whose end comes late together with their time."""


@pytest.fixture(scope="module")
def shown():
    """Several at once: most of the time passes in waiting."""
    seen = {}

    async def one(name, url, turns):
        async with turns:
            seen[name] = await show(name, plan(load(name)), url)

    async def every(url):
        turns = trio.CapacityLimiter(16)
        async with trio.open_nursery() as nursery:
            for name in [*SHIPPED, PRESET]:
                nursery.start_soon(one, name, url, turns)

    with serving(OriginOptions(slots=1000, kv_blocks=100_000)) as origin:
        trio.run(every, origin.url)
    return seen


@pytest.mark.parametrize("name", [*SHIPPED, PRESET])
def test_it_can_be_shown(shown, name):
    seen = shown[name]
    assert (seen.direct.status, seen.direct.end) == (200, "clean")
    assert sum(count for _, count in seen.direct.events) >= 40
    assert plan(load(name)).taken is (name not in NOT_TAKEN)
    if name in NEVER_BEGUN:
        assert (seen.record, seen.through.events) == (None, [])
        return
    assert seen.record is not None
    assert (seen.record.rule is None) is (name in NO_FAULT | NOT_TAKEN or not load(name).rules)
    if name not in NO_FAULT | NO_OCCASION | RACES:
        assert [fired.fault for fired in seen.record.faults], "the proxy says what it did"
    if name in AT_THE_END:
        assert seen.through.events[0][0] >= 0.39, "not before the server has sent its last"
    said = meaning(seen.direct, seen.through)
    assert SAID.get(name, "") in said
    assert any(words in said for words in EITHER.get(name, [""]))


def test_what_is_claimed_here_is_of_shipped_ones():
    assert (
        SAID.keys() | EITHER.keys() | AT_THE_END | NO_FAULT | NO_OCCASION | RACES | NOT_TAKEN | NEVER_BEGUN
        <= library.shipped().keys()
    )
