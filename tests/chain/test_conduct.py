"""Faults of one's own of a whole HTTP/2 session, in a row: what each does passes those behind it."""

import math
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from chaosproxy.chain.actions import Note
from chaosproxy.chain.conduct import Conduct
from chaosproxy.chain.fault import Context, FaultSpec
from chaosproxy.chain.placed import Notes, Placed
from chaosproxy.chain.session_fault import SessionFault
from chaosproxy.model.conduct import Ping, Pong
from chaosproxy.testing.play import GET


@dataclass(frozen=True, slots=True, kw_only=True)
class Own(FaultSpec):
    name: ClassVar[str] = "own"
    make: type[SessionFault]

    def conduct(self, context):
        return self.make()


class Says(SessionFault):
    """Only what is in its first SETTINGS is its own."""

    settings: ClassVar = {4: 1000}


class Asks(SessionFault):
    """A PING of its own, once."""

    due = 2.0

    def wake(self, now):
        self.due = math.inf
        return (Note("fired", "asked"), Ping(b"12345678"))


class Mute(SessionFault):
    """Says nothing more."""

    def does(self, act, now):
        return (Note("fired", "kept back"),)


def conduct(*makes):
    notes = Notes()
    context = Context(Random(0), GET)
    return Conduct([Placed(number, None, Own(make=make), context) for number, make in enumerate(makes)], notes), notes


def test_one_that_overrides_nothing_leaves_the_session_what_it_is():
    row, notes = conduct(Says)
    assert (row.begin(0.0), row.does(Pong(b"abcdefgh"), 1.0), row.wake(5.0)) == ([], [Pong(b"abcdefgh")], [])
    assert (row.settings, row.due, list(notes)) == ({4: 1000}, math.inf, [])
    assert [(one.fault, one.kind, one.detail) for one in row.unfired(9.0)] == [("own", "not_fired", "not reached")]


def test_what_one_does_of_itself_passes_those_behind_it_and_not_those_before():
    row, notes = conduct(Mute, Asks)
    assert row.due == 2.0
    assert row.wake(2.0) == [Ping(b"12345678")]
    assert [(one.t, one.hop, one.detail) for one in notes] == [(2.0, 1, "asked")]
    row, notes = conduct(Asks, Mute)
    assert row.wake(2.0) == []
    assert [(one.t, one.hop, one.detail) for one in notes] == [(2.0, 0, "asked"), (2.0, 1, "kept back")]
