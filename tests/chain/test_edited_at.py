"""Faults that edit at a place: which record it is, and that all others pass as and when they come."""

from dataclasses import dataclass
from random import Random
from typing import ClassVar

import pytest

from chaosproxy.chain.edited import Edited
from chaosproxy.chain.fault import Context, FaultSpec
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import Cut, Pace
from chaosproxy.framing.blocks import LIMIT
from chaosproxy.model.messages import End, ResponseHead
from chaosproxy.model.vocabulary import Framing
from chaosproxy.testing import check_fault
from chaosproxy.testing.play import GET, SSE, play

EVENTS = [b"data: %d\n\n" % number for number in range(1, 10)]
PING = b": ping\n\n"
LINES = ResponseHead(200, ((b"content-type", b"application/x-ndjson"),), framing=Framing.CHUNKED)
PLAIN = ResponseHead(200, ((b"content-type", b"text/plain"),), framing=Framing.CHUNKED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Upper(FaultSpec):
    """Writes what `at` means in other words."""

    name: ClassVar[str] = "upper"
    edits_body: ClassVar[bool] = True
    has_at: ClassVar[bool] = True

    text: bytes = b"data: X\n\n"

    @property
    def reads_records(self):
        return self.at.chunk is None

    def start(self, context):
        return Uppering(self, context)


class Uppering(Edited):
    def __init__(self, spec, context):
        super().__init__(spec.at, context)
        self._text = spec.text

    def edit(self, raw):
        if not self.means(raw):
            return raw
        self.say(self.place)
        return self._text


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(FaultSpec):
    """Keeps what `edit` is asked about."""

    name: ClassVar[str] = "asked"
    edits_body: ClassVar[bool] = True

    spec: Upper
    asked: list[bytes]

    def start(self, context):
        fault = self.spec.start(context)
        edit = fault.edit
        fault.edit = lambda raw: self.asked.append(raw) or edit(raw)
        return fault


X = b"data: X\n\n"


def which(data):
    """Which events have become X, by number."""
    blocks = [block for block in data.split(b"\n\n") if block and not block.startswith(b":")]
    return [number for number, block in enumerate(blocks, 1) if block == b"data: X"]


@pytest.mark.parametrize(
    ("at", "meant"),
    [
        (Trigger(event=1), [1]),
        (Trigger(event=4), [4]),
        (Trigger(event=9), [9]),
        (Trigger(event=10), []),
        (Trigger(event=2, every=3), [2, 5, 8]),
        (Trigger(event=2, every=1, times=3), [2, 3, 4]),
        (Trigger(match="[3-5]"), [3]),
        (Trigger(match="[3-5]", every=1), [3, 4, 5]),
        (Trigger(match="[3-9]", every=2, times=2), [3, 5]),
        (Trigger(json=(("", 1),)), []),
        (Trigger(bytes=1), [1]),
        (Trigger(bytes=9), [1]),
        (Trigger(bytes=18), [2]),
        (Trigger(bytes=19), [3]),
        (Trigger(bytes=40, every=18), [4, 6, 8]),
    ],
    ids=repr,
)
@pytest.mark.parametrize("size", [1, 7, 9, 1000])
def test_which_record_it_is_however_they_were_cut(at, meant, size):
    """Behind the second event stands a comment, which is none, and eight bytes long: event 3 ends with byte 35."""
    body = b"".join([*EVENTS[:2], PING, *EVENTS[2:]])
    pieces = [body[begin : begin + size] for begin in range(0, len(body), size)]
    played = play([Upper(at=at)], [*((1.0, piece) for piece in pieces), (2.0, End())])
    assert which(played.data) == meant
    assert len(played.data) == len(body)
    assert [detail for _, _, detail in played.fired] == [f"event {number}" for number in meant]
    assert played.records_out == 9


@pytest.mark.parametrize(
    ("at", "meant"),
    [
        (Trigger(time=2.5), [5]),
        (Trigger(time=2.6), [6]),
        (Trigger(time=0.6, every=1.0), [2, 4, 6, 8]),
        (Trigger(time=0.6, every=1.0, times=2), [2, 4]),
        (Trigger(time=2.6, every=0.2), [6, 7, 8, 9]),
    ],
    ids=repr,
)
@pytest.mark.parametrize(("began", "speed"), [(0.0, 1.0), (10.0, 1.0), (10.0, 5.0)])
def test_from_a_time_on_it_is_the_first_to_end(at, meant, began, speed):
    """Since the request's first byte, in the scenario's seconds."""
    script = [(began + number * 0.5 / speed, event) for number, event in enumerate(EVENTS, 1)]
    played = play([Upper(at=at)], script, context=Context(Random(0), GET, began=began, speed=speed))
    assert which(played.data) == meant


def test_what_was_missed_is_not_made_up_for():
    played = play([Upper(at=Trigger(time=1.0, every=2.0))], [(0.5, EVENTS[0]), (6.0, EVENTS[1]), (6.5, EVENTS[2])])
    assert which(played.data) == [2]


def test_a_last_line_ends_when_the_body_does():
    script = [(1.0, b"a\nb"), (3.0, End())]
    played = play([Upper(at=Trigger(time=2.5), text=b"x\n")], script, head=LINES)
    assert (played.data, played.fired) == (b"a\nx", [(3.0, "upper", "event 2")])


def test_an_event_that_is_broken_off_is_no_record():
    script = [(1.0, EVENTS[0] + b"data: 2\n"), (2.0, End())]
    played = play([Upper(at=Trigger(event=2))], script)
    assert (played.data, played.not_fired) == (EVENTS[0] + b"data: 2\n", [("upper", "not reached")])


def test_a_record_that_is_half_there_when_its_time_comes_is_the_one():
    played = play([Upper(at=Trigger(time=2.0))], [(1.0, EVENTS[0] + b"data"), (3.0, b": 2\n\n"), (4.0, EVENTS[2])])
    assert which(played.data) == [2]


def test_all_before_and_behind_it_pass_as_and_when_they_come():
    script = [
        (1.0, b"data: 1\n"), (2.0, b"\ndata: 2"), (3.0, b"\n\nda"), (4.0, b"ta: 3\n"), (5.0, b"\nda"),
        (6.0, b"ta: 4\n\n"), (7.0, b"data: 5\n"),
    ]  # fmt: skip
    played = play([Upper(at=Trigger(event=3))], script)
    assert played.body == [
        (1.0, b"data: 1\n"), (2.0, b"\ndata: 2"), (3.0, b"\n\n"), (5.0, X), (5.0, b"da"), (6.0, b"ta: 4\n\n"),
        (7.0, b"data: 5\n"),
    ]  # fmt: skip


def test_between_two_repetitions_nothing_is_held():
    script = [(float(number), piece) for number, piece in enumerate(b"".join(EVENTS).split(b"a"), 1)]
    script = [(time, piece + b"a") for time, piece in script[:-1]]
    played = play([Upper(at=Trigger(event=2, every=4))], script)
    late = [time for (time, piece) in script if (time, piece) not in played.body]
    assert late == [3.0, 4.0, 5.0, 11.0, 12.0, 13.0]  # those that have a piece of event 2 or 6 in them


def test_only_those_in_question_are_looked_at():
    spec = Upper(at=Trigger(event=3, every=3, times=2))
    asked = []
    play([Asked(spec=spec, asked=asked)], [*((float(number), event) for number, event in enumerate(EVENTS, 1))])
    assert asked == [EVENTS[2], EVENTS[5]]


def test_a_change_that_moves_record_ends_is_counted_so_to_the_end():
    """Without its blank line the second event becomes a part of the third."""
    faults = [Upper(at=Trigger(event=2), text=b"data: X\n"), Cut(at=Trigger(event=3))]
    played = play(faults, [(1.0, b"".join(EVENTS[:2])), *((2.0, event) for event in EVENTS[2:])])
    assert played.data == EVENTS[0] + b"data: X\n" + EVENTS[2] + EVENTS[3]


def test_what_comes_behind_such_a_change_is_not_held_either():
    played = play(
        [Upper(at=Trigger(event=1), text=b"data: X\n")], [(1.0, EVENTS[0]), (2.0, b"data"), (3.0, b": 2\n\n")]
    )
    assert played.body == [(1.0, b"data: X\n"), (2.0, b"data"), (3.0, b": 2\n\n")]


@pytest.mark.parametrize("head", [SSE, PLAIN], ids=["events", "plain"])
@pytest.mark.parametrize(("at", "meant"), [(Trigger(chunk=2), [2]), (Trigger(chunk=1, every=2), [1, 3])], ids=repr)
def test_a_chunk_is_edited_whatever_is_in_it(head, at, meant):
    """Each comes in pieces, from a machine that cuts them smaller."""
    expected = [b"abc", b"de", b"f"]
    faults = [Pace(bytes=2, every=0.1), Upper(at=at, text=b"-")]
    played = play(faults, [(1.0, expected[:1]), (2.0, expected[1:]), (3.0, End())], head=head)
    assert played.data == b"".join([b"-" if number in meant else one for number, one in enumerate(expected, 1)])
    assert [detail for _, fault, detail in played.fired if fault == "upper"] == [f"chunk {number}" for number in meant]


def test_no_other_chunk_is_held():
    faults = [Pace(bytes=2, every=0.1), Upper(at=Trigger(chunk=2, every=2), text=b"-")]
    played = play(faults, [(1.0, [b"abc", b"def", b"ghi", b"jkl", b"mno"])], head=PLAIN)
    assert [(round(time, 6), piece) for time, piece in played.body] == [
        (1.0, b"ab"), (1.1, b"c"), (1.2, b"-"), (1.3, b"gh"), (1.4, b"i"), (1.5, b"-"), (1.6, b"mn"), (1.7, b"o"),
    ]  # fmt: skip


@pytest.mark.parametrize(("event", "left"), [(2, b"a\ndata: X"), (1, b"data: X\n\nb"), (3, b"a\nb")])
def test_a_last_line_without_its_line_feed_is_a_record(event, left):
    played = play([Upper(at=Trigger(event=event), text=b"data: X\n")], [(1.0, b"a\nb"), (2.0, End())], head=LINES)
    assert played.data == left.replace(b"\n\n", b"\n")
    assert played.records_out == 2


def test_one_that_is_too_long_is_not_the_next_one_instead():
    long = b"data: " + b"x" * LIMIT + b"\n\n"
    played = play([Upper(at=Trigger(event=2))], [(1.0, EVENTS[0]), (2.0, long), (3.0, EVENTS[2]), (4.0, End())])
    assert played.data == EVENTS[0] + long + EVENTS[2]
    assert played.not_fired == [("upper", "record too long")]


def test_one_that_is_too_long_is_not_read_for_what_it_holds():
    long = b"data: x" + b"x" * LIMIT + b"\n\n"
    played = play([Upper(at=Trigger(match="x|3"))], [(1.0, EVENTS[0]), (2.0, long), (3.0, EVENTS[2])])
    assert played.data == EVENTS[0] + long + X
    assert played.fired == [(3.0, "upper", "event 3")]


def test_one_that_is_too_long_counts():
    long = b"data: " + b"x" * LIMIT + b"\n\n"
    played = play([Upper(at=Trigger(event=1, every=2))], [(1.0, EVENTS[0]), (2.0, long), (3.0, EVENTS[2])])
    assert played.data == X + long + X
    script = [(1.0, EVENTS[0]), (2.0, long), (3.0, EVENTS[2]), (4.0, EVENTS[3])]
    assert play([Upper(at=Trigger(event=2, every=2))], script).data == EVENTS[0] + long + EVENTS[2] + X


@pytest.mark.parametrize(
    "at",
    [Trigger(event=3), Trigger(event=1, every=2), Trigger(chunk=2), Trigger(bytes=20), Trigger(time=0.2)],
    ids=repr,
)
def test_it_stands_what_every_fault_must(at):
    check_fault(Upper(at=at))
    check_fault(Upper(at=at, text=b""))
    check_fault(Upper(at=at, text=b"data: x\n"))


def test_one_that_counts_further_than_the_stream_goes_is_neutral():
    check_fault(Upper(at=Trigger(event=1000)), neutral=True)
