"""The guards see what a place does wrong. (That ours do nothing wrong, every test of the chain checks through them.)"""

from dataclasses import dataclass, field
from typing import ClassVar

import pytest

from chaosproxy.chain.fault import Fault, FaultSpec
from chaosproxy.chain.guard import GuardError, watch
from chaosproxy.faults import Buffer
from chaosproxy.model.messages import Data, End, ResponseHead, Trailers
from chaosproxy.testing.play import POST, SSE
from chaosproxy.testing.play import play as run

TICKS = [(1.0, b"data: 1\n\n"), (2.0, b"data: 2\n\n"), (3.0, End())]


@dataclass(frozen=True, slots=True, kw_only=True)
class Own(FaultSpec):
    name: ClassVar[str] = "own"
    make: type = field(default=Fault)

    def start(self, context):
        return self.make()


class Unsorted(Fault):
    def data(self, data, now):
        return (Data(data.payload, (5, 3)),)


class Outside(Fault):
    def data(self, data, now):
        return (Data(data.payload, (100,)),)


class Disorderly(Fault):
    def control(self, event, now):
        return (event, Trailers(())) if isinstance(event, ResponseHead) else (event,)


class Losing(Fault):
    def data(self, data, now):
        return (Data(data.payload[1:]),)


class Inventing(Fault):
    def data(self, data, now):
        return (data, Data(b"more"))


class Keeping(Fault):
    capacity = 100

    def data(self, data, now):
        self.held += len(data.payload)
        return ()


class Boasting(Fault):
    capacity = 100

    def data(self, data, now):
        self.held = 7
        return (data,)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (Unsorted, r"record ends \(5, 3\) in 9 bytes"),
        (Outside, r"record ends \(100,\) in 9 bytes"),
        (Disorderly, "behind own.*Data in state TRAILERS"),
        (Losing, "9 bytes entered, 8 left, 0 are held"),
        (Inventing, "9 bytes entered, 13 left, 0 are held"),
        (Boasting, "9 bytes entered, 9 left, 7 are held"),
        (Keeping, "the end has gone, and 18 bytes are still held"),
    ],
)
def test_a_fault_that_breaks_a_rule_is_seen(make, words):
    with pytest.raises(GuardError, match=words):
        run([Own(make=make)], TICKS, lazy=False)


def guarded(chain_of, *specs):
    chain = chain_of(specs, lazy=False)
    guards = watch(chain)[1]
    chain.start(0.0)
    chain.request.push_control(POST, 0.0)
    chain.response.push_control(SSE, 0.0)
    chain.response.push([Data(b"data: 1\n\n")], 5.0)
    guards.check()
    return chain, guards


def test_time_that_goes_back(chain_of):
    chain, _ = guarded(chain_of)
    with pytest.raises(GuardError, match=r"response entry: Data at 4.0, behind something at 5.0"):
        chain.response.push([Data(b"x")], 4.0)


def test_bytes_that_vanish_in_front_of_a_place(chain_of):
    chain, guards = guarded(chain_of, Buffer(bytes=1))
    chain.response.stages[0].bytes -= 1
    with pytest.raises(GuardError, match="9 bytes passed, the place behind counted 8"):
        guards.check()


def test_bytes_that_are_held_for_nobody(chain_of):
    chain, guards = guarded(chain_of, Buffer(bytes=1))
    stage = chain.response.stages[0]
    stage.mute = True
    stage.out_bytes = 3
    with pytest.raises(GuardError, match="3 bytes are held for nobody"):
        guards.check()


def test_only_a_chain_that_is_awake_can_be_watched(chain_of):
    with pytest.raises(ValueError, match="lazy=False"):
        watch(chain_of([]))
