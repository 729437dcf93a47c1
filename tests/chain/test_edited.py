"""Faults that are handed each unit whole: however it was cut, in the right order, with what was kept back, noted once."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import pytest

from chaosproxy.chain.edited import Edited
from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import FaultSpec
from chaosproxy.chain.trigger import Trigger
from chaosproxy.errors import FaultBug
from chaosproxy.faults import Cut
from chaosproxy.framing.records import payload
from chaosproxy.model.messages import Abort, Data, End, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Framing, Peer
from chaosproxy.testing import check_fault
from chaosproxy.testing.play import SSE, play

ONE, PING, TWO, THREE = b"data: 1\n\n", b": ping\n\n", b"data: 2\n\n", b"data: 3\n\n"
LINES = ResponseHead(200, ((b"content-type", b"application/x-ndjson"),), framing=Framing.CHUNKED)
PLAIN = ResponseHead(200, ((b"content-type", b"text/plain"),), framing=Framing.CHUNKED)
BROKEN = Abort("upstream:fin", Peer.UPSTREAM)


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap(FaultSpec):
    """The event behind the Nth goes first."""

    name: ClassVar[str] = "swap"
    rewrites_body: ClassVar[bool] = True

    event: int = 1

    @property
    def reads_records(self):
        return True

    def start(self, context):
        return Swapping(self.event)


class Swapping(Edited):
    def __init__(self, event):
        super().__init__()
        self._left = event

    def edit(self, raw):
        if payload(self.kind, raw) is None:
            return raw
        self._left -= 1
        if self._left == 0:
            self.kept = raw
            return b""
        kept, self.kept = self.kept, b""
        if kept:
            self.say("swapped two")
        return raw + kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Own(FaultSpec):
    """Runs whatever fault a test has made."""

    name: ClassVar[str] = "own"
    edits_body: ClassVar[bool] = True
    make: Callable[[], Edited]

    def start(self, context):
        return self.make()


def cut(body, size):
    return [body[at : at + size] for at in range(0, len(body), size)]


@pytest.mark.parametrize("spec", [Swap(), Swap(event=2), Swap(event=8), Swap(event=100)], ids=repr)
def test_it_stands_what_every_fault_must(spec):
    check_fault(spec)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_two_events_change_places_however_they_were_cut(size):
    script = [*((1.0, piece) for piece in cut(ONE + PING + TWO + THREE, size)), (2.0, End())]
    played = play([Swap()], script)
    assert played.data == PING + TWO + ONE + THREE
    assert played.fired == [(1.0, "swap", "swapped two")]
    assert played.records_out == 3


def test_what_is_kept_is_held():
    played = play([Swap()], [(1.0, ONE), (2.0, PING), (5.0, TWO)])
    assert played.body == [(2.0, PING), (5.0, TWO), (5.0, ONE)]


@pytest.mark.parametrize("end", [End(), BROKEN, Trailers(((b"a", b"b"),))], ids=["end", "abort", "trailers"])
def test_what_is_still_kept_leaves_in_front_of_the_end(end):
    played = play([Swap(event=2)], [(1.0, ONE), (2.0, TWO), (3.0, end)])
    assert [event for _, event in played.out if not isinstance(event, ResponseHead)] == [
        Data(ONE, (9,)),
        Data(TWO, (9,)),
        end,
    ]
    assert played.not_fired == [("swap", "not reached")]


@pytest.mark.parametrize("end", [End(), BROKEN], ids=["end", "abort"])
def test_what_is_kept_does_not_run_into_an_event_that_was_broken_off(end):
    played = play([Swap()], [(1.0, ONE + b"data: br"), (2.0, end)])
    assert played.data == ONE + b"data: br"
    assert played.records_out == 1


class Twice(Edited):
    """Each line twice."""

    def edit(self, raw):
        return raw + raw


@pytest.mark.parametrize(
    ("make", "end", "left"),
    [
        (lambda: Swapping(1), End(), b"b\na"),
        (lambda: Swapping(2), End(), b"a\nb"),
        (Twice, End(), b"a\na\nb\nb"),
        (Twice, BROKEN, b"a\na\nb"),
    ],
)
def test_a_last_line_without_its_line_feed_is_not_glued_to_another(make, end, left):
    played = play([Own(make=make)], [(1.0, b"a\nb"), (2.0, end)], head=LINES)
    assert played.data == left
    assert played.records_out == left.count(b"\n") + isinstance(end, End)


def test_a_fault_nearer_the_client_counts_what_stands_there_now():
    played = play([Swap(), Cut(at=Trigger(event=1))], [(1.0, ONE + TWO + THREE)])
    assert played.data == TWO


class Without(Edited):
    """Takes a word out, with its line."""

    def edit(self, raw):
        return b"" if b"b" in raw else raw.replace(b"c", b"c\n")


@pytest.mark.parametrize(
    ("body", "left", "records"),
    [(b"a\nb", b"a\n", 1), (b"a\nx", b"a\nx", 2), (b"a\nc", b"a\nc\n", 2), (b"a\nb\n", b"a\n", 1)],
)
def test_a_last_line_without_its_line_feed_counts_if_it_still_stands_there(body, left, records):
    played = play([Own(make=Without)], [(1.0, body), (2.0, End())], head=LINES)
    assert (played.data, played.records_out) == (left, records)


def test_an_end_that_a_fault_has_made_is_still_its_own_behind_one_that_edits():
    faults = [Cut(at=Trigger(bytes=5), then=(Ending("clean"),)), Own(make=Without)]
    assert play(faults, [(1.0, ONE)], head=SSE).end_cause == "cut"


@pytest.mark.parametrize(("head", "reason"), [(PLAIN, "no records"), (SSE, "not reached")])
def test_where_there_are_no_records_it_has_nothing_to_do(head, reason):
    played = play([Swap(event=5)], [(1.0, ONE), (2.0, TWO), (3.0, End())], head=head)
    assert played.body == [(1.0, ONE), (2.0, TWO)]
    assert played.not_fired == [("swap", reason)]


def test_who_says_nothing_of_what_it_edits_is_told_so():
    with pytest.raises(FaultBug, match=r"'own' .* NotImplementedError"):
        play([Own(make=Edited)], [(1.0, ONE)])
