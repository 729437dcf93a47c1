"""No fault costs the square: with eight times the records a stream costs about eight times as much, however it comes.

Counted are calls, and the bytes and record ends that are put into pieces or sliced: what no noise can touch. A fault is
covered by the examples on its page, at every kind of place if it has an `at:`; what acts oftener stands in `OFTEN`.
"""

import cProfile
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pytest

import chaosproxy.faults
from chaosproxy.chain.fault import REGISTRY, FaultSpec
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import Bandwidth, Buffer, Compress, Latency, Pace, Resegment, Stall, Timeout
from chaosproxy.faults.compress import Flush
from chaosproxy.faults.stall import Meanwhile
from chaosproxy.model.messages import Data, End
from chaosproxy.scenario.load import load
from chaosproxy.testing import play
from chaosproxy.testing.play import SSE, Step
from docs.generate import FAULTS

FEW, TIMES = 20, 8
EVENT = b"data: {}\n\n"
PLACES = [
    Trigger(event=1, every=1),
    Trigger(bytes=1, every=1),
    Trigger(chunk=1, every=1),
    Trigger(match="a", every=1),
    Trigger(json=(("a", 1),)),
    Trigger(terminal="before"),
]
OFTEN: list[FaultSpec] = [
    Bandwidth(rate=1000.0),
    Buffer(bytes=1),
    Buffer(events=1),
    Compress(flush="sync", when_accepted=False, cut=30),
    Compress(flush="one_behind", when_accepted=False),
    Compress(flush=Flush(bytes=1), when_accepted=False),
    Latency(delay=0.05, jitter=0.01),
    Pace(bytes=1, every=0.001),
    Pace(events=1, every=0.001),
    Resegment(bytes=1, pause=0.001),
    Resegment(split="random"),
    Resegment(split="event", pause=0.001),
    Resegment(glue=2),
    Stall(for_=0.001, at=Trigger(event=1, every=1), meanwhile=Meanwhile(comments=0.001)),
    Timeout(idle=1.0, ignore=("comments",)),
]
WAYS: dict[str, Callable[[int], list[Step]]] = {
    "in one read": lambda count: [(0.0, SSE), (0.1, Sliced(EVENT * count)), (0.1, End())],
    "in one read of many chunks": lambda count: [(0.0, SSE), (0.1, [EVENT] * count), (0.1, End())],
    "one by one": lambda count: [(0.0, SSE), *((0.01 * at, EVENT) for at in range(count)), (0.01 * count, End())],
}


class Sliced(bytes):
    """Slices of it are counted, and so are slices of these."""

    moved = 0

    def __getitem__(self, key):
        got = super().__getitem__(key)
        if not isinstance(key, slice):
            return got
        Sliced.moved += len(got)
        return Sliced(got)


@dataclass
class Cost:
    calls: int
    moved: int


def cost(faults: list[FaultSpec], steps: list[Step], **options) -> Cost:
    make, profile = Data.__init__, cProfile.Profile()

    def counting(self, payload, ends=(), *others, **named):
        Sliced.moved += len(payload) + len(ends)
        make(self, payload, ends, *others, **named)

    Sliced.moved = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Data, "__init__", counting)
        profile.enable()
        try:
            play(faults, steps, until=1000.0, **options)
        finally:
            profile.disable()
    return Cost(sum(entry.callcount for entry in profile.getstats()), Sliced.moved)


def modes() -> Iterator[FaultSpec]:
    for name, kind in sorted(REGISTRY.items()):
        if not kind.__module__.startswith(chaosproxy.faults.__name__):
            continue
        if not kind.in_hops:
            continue
        page = (FAULTS / f"{name}.md").read_text(encoding="utf-8")
        rules = [rule for text in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) for rule in load(text).rules]
        shown = [fault for rule in rules for fault in rule.faults if fault.name == name]
        yield from shown
        if kind.has_at or kind.needs_at:
            yield from (one for at in PLACES for one in [replace(shown[0], at=at)] if not one.problems())
    yield from OFTEN


MODES = list(modes())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", sorted({spec.name for spec in MODES}))
def test_eight_times_the_records_cost_eight_times_as_much(name, way):
    for spec in MODES:
        if spec.name != name:
            continue
        few, many = (cost([spec], WAYS[way](count)) for count in (FEW, FEW * TIMES))
        assert many.calls <= 1.5 * TIMES * few.calls, f"{spec}: {few}, {many}"
        # Where a few are not cut at all, many may be moved once more.
        assert many.moved <= 2.5 * TIMES * few.moved, f"{spec}: {few}, {many}"


def test_a_client_that_takes_little_at_a_time_costs_no_more_for_what_it_has_not_taken():
    def taken(count: int) -> list[Step]:
        return [(0.0, SSE), (0.1, Sliced(EVENT * count)), (0.1, End()), *((0.2, 5) for _ in range(2 * count))]

    few, many = (cost([], taken(count), room=0, split=True) for count in (FEW, FEW * TIMES))
    assert many.calls <= 1.5 * TIMES * few.calls
    assert many.moved <= 1.5 * TIMES * few.moved
