"""`linger`: what it asks of whoever writes. What the connection does then: `tests/virtual/test_framing.py`."""

import math
from random import Random

import pytest

from chaosproxy.chain.fault import Context
from chaosproxy.faults import Linger
from chaosproxy.model import asked
from chaosproxy.model.messages import End
from chaosproxy.scenario.load import load
from chaosproxy.testing import check_fault
from chaosproxy.testing.play import GET


@pytest.mark.parametrize(
    ("spec", "speed", "seconds"),
    [(Linger(for_=60.0), 1.0, 60.0), (Linger(for_=60.0), 10.0, 6.0), (Linger(for_=math.inf), 10.0, math.inf)],
)
def test_the_head_asks_for_it_and_nothing_else_changes(play, spec, speed, seconds):
    played = play([spec], [(1.0, b"hello"), (2.0, End())], context=Context(Random(0), GET, speed=speed))
    assert played.head[1].asked == (asked.Linger(seconds),)
    assert (played.body, played.end) == ([(1.0, b"hello")], (2.0, End()))


def test_over_http2_nobody_is_asked(play):
    played = play([Linger(for_=1.0)], [(1.0, b"hello")], context=Context(Random(0), GET, protocol="h2"))
    assert (played.head[1].asked, played.not_fired) == ((), [("linger", "protocol")])


def test_what_every_fault_stands():
    check_fault(Linger(for_=1.0))
    check_fault(Linger(for_=0.0), neutral=True)


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("linger: {}", 5, "`for` is required"),
        ("linger: 5", 13, "a number without a unit is no duration"),
        ("linger: {for: long}", 19, "a duration"),
        ("linger: {for: 1s, way: request}", 28, "response"),
        ("linger: {for: 1s, at: end}", 23, "unknown key 'at'"),
    ],
)
def test_a_mistake_has_its_place(refused, text, column, said):
    refused(text, column, said)


def test_what_can_be_written():
    [rule] = load("version: 1\nfaults:\n  - linger: 60s\n  - linger: {for: forever}\n").rules
    assert rule.faults == (Linger(for_=60.0), Linger(for_=math.inf))
