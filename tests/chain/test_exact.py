"""A place counts what enters it and cuts at the exact record, byte or chunk, whatever the reads were."""

from dataclasses import dataclass
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaosproxy.chain.actions import Rest
from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Fault, FaultSpec
from chaosproxy.chain.trigger import Trigger
from chaosproxy.errors import FaultBug
from chaosproxy.faults import Buffer, Cut, Timeout
from chaosproxy.framing.sse import SseSplitter
from chaosproxy.model.messages import Abort, Data, End, ResponseHead
from chaosproxy.model.vocabulary import Framing

EVENTS = [b"data: %d\n\n" % number for number in range(1, 10)]
TICKS = [(float(number), event) for number, event in enumerate(EVENTS, 1)]
STREAM = b"".join(EVENTS)


def reads_of(stream, cuts):
    places = sorted({cut % len(stream) for cut in cuts} - {0})
    return [stream[start:stop] for start, stop in zip([0, *places], [*places, len(stream)], strict=True)]


chunkings = st.lists(st.integers(1, 10_000), max_size=12)


@settings(max_examples=100)
@given(cuts=chunkings, number=st.integers(1, 9))
def test_a_cut_at_an_event_lets_exactly_that_many_pass_and_acts_with_the_read_that_completes_it(play, cuts, number):
    reads = reads_of(STREAM, cuts)
    script = [(float(time), read) for time, read in enumerate(reads)]
    played = play([Cut(at=Trigger(event=number), then=(Ending("rst"),))], script)
    assert played.data == b"".join(EVENTS[:number])
    came, completed_at = 0, None
    for time, read in script:
        came += len(read)
        if completed_at is None and came >= len(played.data):
            completed_at = time
    assert played.end[0] == completed_at


@settings(max_examples=100)
@given(cuts=chunkings, place=st.integers(1, len(STREAM)))
def test_a_cut_at_a_byte_is_exact(play, cuts, place):
    script = [(float(time), read) for time, read in enumerate(reads_of(STREAM, cuts))]
    played = play([Cut(at=Trigger(bytes=place))], script)
    assert played.data == STREAM[:place]
    assert isinstance(played.end[1], Abort)


def test_a_cut_at_the_last_byte_of_a_read_acts_with_it_and_not_with_the_next(play):
    played = play([Cut(at=Trigger(bytes=18))], TICKS)
    assert played.end[0] == 2.0


def test_what_came_before_the_place_came_exactly_when_it_would_have(play):
    played = play([Cut(at=Trigger(event=3))], TICKS)
    assert played.body == TICKS[:3]


def test_a_boundary_inside_a_read_makes_a_piece_of_its_own_of_what_is_in_front(play):
    played = play([Cut(at=Trigger(event=2))], [(1.0, STREAM)])
    assert played.body == [(1.0, b"data: 1\n\ndata: 2\n\n")]


def test_chunks_are_counted_whole_and_not_in_their_pieces(play):
    halves = [
        (1.0, Data(b"a" * 5, whole=False, size=10)),
        (2.0, Data(b"b" * 5)),
        (3.0, Data(b"c")),
        (4.0, Data(b"d")),
    ]
    played = play([Cut(at=Trigger(chunk=2))], halves)
    assert (played.data, played.end[0]) == (b"aaaaabbbbbc", 3.0)


def test_the_record_passes_the_first_cut_before_it_acts_so_the_one_nearer_the_client_is_first(play):
    played = play([Cut(at=Trigger(event=2)), Cut(at=Trigger(event=2), then=(Ending("rst"),))], TICKS)
    assert played.fired == [(2.0, "cut", "rst after event 2")]
    assert played.not_fired == [("cut", "not reached")]


def test_of_two_places_in_one_read_the_earlier_acts(play):
    played = play([Cut(at=Trigger(event=5)), Cut(at=Trigger(event=2))], [(1.0, STREAM)])
    assert played.data == b"data: 1\n\ndata: 2\n\n"


def test_counts_are_those_of_the_place_not_of_the_upstream(play):
    played = play([Buffer(bytes=27), Cut(at=Trigger(chunk=1))], TICKS)
    assert played.body == [(3.0, b"".join(EVENTS[:3]))]


def test_a_count_goes_on_where_an_alarm_has_settled_it(play):
    ticks = [(0.5 * number, event) for number, event in enumerate(EVENTS)]
    played = play([Timeout(idle=1.0), Cut(at=Trigger(event=6))], ticks)
    assert played.body == ticks[:6]
    assert played.end[0] == 2.5


def test_events_that_end_between_a_carriage_return_and_a_line_feed(play):
    stream = [(1.0, b"data: 1\r\n\r"), (2.0, b"\ndata: 2\r\n\r\n"), (3.0, b"data: 3\r\n\r\n")]
    played = play([Cut(at=Trigger(event=1))], stream)
    assert (played.data, played.end[0]) == (b"data: 1\r\n\r\n", 2.0)


def test_a_last_line_without_a_line_feed_is_a_record_that_the_end_completes(play):
    head = ResponseHead(200, ((b"content-type", b"application/x-ndjson"),), framing=Framing.CHUNKED)
    played = play([Cut(at=Trigger(event=2))], [(1.0, b"{}\n"), (2.0, b"{}"), (3.0, End())], head=head)
    assert (played.data, played.end[0]) == (b"{}\n{}", 3.0)
    assert isinstance(played.end[1], Abort)
    whole = play([], [(1.0, b"{}\n"), (2.0, b"{}"), (3.0, End())], head=head)
    assert (whole.records_in, whole.records_out) == (2, 2)


def test_the_lines_counts_are_those_of_its_two_ends(play):
    played = play([Cut(at=Trigger(bytes=23), side="client")], [*TICKS, (20.0, End())])
    assert (played.bytes_in, played.records_in) == (81, 9)
    assert (played.bytes_out, played.records_out) == (23, 2)


def test_a_data_knows_where_its_records_end_however_it_was_split(play):
    played = play([Cut(at=Trigger(bytes=5, every=4), then=(Ending("goaway", last="max"),))], [(1.0, STREAM)])
    assert played.data == STREAM[:5]
    splitter = SseSplitter()
    for _, event in play([Buffer(bytes=7)], [(1.0, STREAM), (2.0, End())]).out:
        if isinstance(event, Data):
            assert event.ends == splitter.feed(event.payload)


class Running(Fault):
    rest = Rest(bytes=4)

    def reached(self, limit, now):
        return (Rest(bytes=2),)


class Doubling(Fault):
    """From byte 4 on, whatever is shown to it leaves twice."""

    rest = Rest(bytes=4)

    def data(self, data, now):
        return (data, Data(data.payload))


@dataclass(frozen=True, slots=True, kw_only=True)
class Any(FaultSpec):
    name: ClassVar[str] = "any"
    edits: ClassVar[bool] = True
    make: type[Fault]

    def start(self, context):
        return self.make()


def test_a_fault_that_rests_until_what_has_passed_is_named_as_the_bug(play):
    with pytest.raises(FaultBug, match="'any' in hop 0"):
        play([Any(make=Running)], [(1.0, b"123456")])


def test_a_fault_that_wakes_within_a_read_is_shown_what_is_behind_the_place(play):
    played = play([Any(make=Doubling)], [(1.0, b"123"), (2.0, b"456"), (3.0, b"7")])
    assert played.body == [(1.0, b"123"), (2.0, b"4"), (2.0, b"56"), (2.0, b"56"), (3.0, b"7"), (3.0, b"7")]
