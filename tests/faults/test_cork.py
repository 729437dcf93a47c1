"""`cork`: what is gathered, until when, in which answers."""

from dataclasses import replace
from random import Random

import pytest

from chaosproxy.chain.fault import Context
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import Cork, Cut
from chaosproxy.model.messages import Abort, Data, End, Interim, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Framing, Peer
from chaosproxy.scenario.load import load
from chaosproxy.testing import check_fault
from chaosproxy.testing.play import GET, SSE

TYPE = (b"content-type", b"text/event-stream")
SIZED = ResponseHead(200, (TYPE, (b"content-length", b"3000")), framing=Framing.LENGTH)
H2_SIZED = replace(SIZED, framing=Framing.STREAM)
H2_SSE = ResponseHead(200, (TYPE,), framing=Framing.STREAM)
CLOSE = ResponseHead(200, (TYPE,), framing=Framing.CLOSE)
OLD = replace(GET, version=b"1.0")
EVENT = b"data: " + b"." * 42 + b"\n\n"
"""50 bytes; a chunk of 56."""
BROKEN = Abort("upstream:fin", Peer.UPSTREAM)


def every(gap, count=60, since=0.0):
    return [(round(since + number * gap, 6), EVENT) for number in range(count)]


def bursts(played):
    """`(time, events)` of what left at one moment; the head is an event of its own."""
    found: dict[float, int] = {}
    for time, event in played.out:
        found[time] = found.get(time, 0) + (not isinstance(event, End))
    return list(found.items())


# ---- the time


def test_small_events_leave_five_times_a_second_and_the_head_with_the_first_of_them(play):
    played = play([Cork(segment=65483)], [(0.0, SSE), *every(0.019), (1.2, End())])
    assert bursts(played) == [(0.2, 12), (0.409, 11), (0.618, 11), (0.827, 11), (1.036, 11), (1.2, 5)]
    assert [payload for _, payload in played.body] == [EVENT] * 60, "every chunk stays what it was"


def test_the_head_of_a_silent_answer_waits_as_well(play):
    played = play([Cork()], [(0.0, SSE), (1.0, EVENT), (2.0, End())])
    assert [(time, type(event)) for time, event in played.out] == [
        (0.2, ResponseHead), (1.2, Data), (2.0, End),
    ]  # fmt: skip


def test_rare_events_are_each_late_by_it(play):
    played = play([Cork()], [(0.0, SSE), *every(0.25, 4, 1.0), (9.0, End())])
    assert [time for time, _ in played.body] == [1.2, 1.45, 1.7, 1.95]


# ---- the segment


def test_a_full_segment_leaves_at_once_with_all_that_waits(play):
    chunk = b"x" * 301  # 307 bytes on the wire with its size of three figures
    script = [(0.0, SSE), *((1.0 + number * 0.02, chunk) for number in range(10)), (9.0, End())]
    assert bursts(play([Cork()], script))[1:3] == [(1.08, 5), (1.18, 5)]


@pytest.mark.parametrize(("head", "last"), [(SSE, 26), (SIZED, 29)])
def test_what_frames_the_chunks_counts(play, head, last):
    """26 chunks of 56 bytes, or 29 times the bare 50, are the first to have 1448."""
    script = [(0.0, head), *every(0.005, 60, 1.0), (9.0, End())]
    first = bursts(play([Cork()], script))[1]
    assert first == (round(1.0 + (last - 1) * 0.005, 6), last)


def test_the_head_counts(play):
    played = play([Cork(segment=100)], [(0.0, SSE), (0.1, EVENT), (9.0, End())])
    size = len(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
    assert size + 56 >= 100 > size
    assert bursts(played) == [(0.1, 2), (9.0, 0)]
    assert bursts(play([Cork(segment=size)], [(0.0, SSE), (9.0, End())])) == [(0.0, 1), (9.0, 0)]


def test_what_is_larger_never_waits(play):
    played = play([Cork()], [(0.0, SSE), (1.0, b"x" * 2000), (1.1, b"x" * 2000), (9.0, End())])
    assert [time for time, _ in played.body] == [1.0, 1.1]


# ---- the end


@pytest.mark.parametrize("last", [End(), BROKEN, Trailers(((b"a", b"b"),))])
def test_at_the_end_nothing_waits(play, last):
    played = play([Cork()], [(0.0, SSE), (1.0, EVENT), (1.05, last)])
    assert played.out[-2:] == [(1.05, Data(EVENT, (50,))), (1.05, last)]


def test_what_waits_when_the_client_leaves_is_nobodys(play):
    played = play([Cork()], [(0.0, SSE), (1.0, EVENT), (1.05, "hangup")])
    assert (played.bytes_out, played.cancelled_at) == (0, 1.05)


def test_an_interim_answer_does_not_wait(play):
    assert play([Cork()], [(0.0, Interim(103)), (0.0, SSE), (1.0, EVENT)]).out[0] == (0.0, Interim(103))


# ---- which answers


@pytest.mark.parametrize(
    ("head", "context", "reason"),
    [
        (CLOSE, Context(Random(0), GET), "framing"),
        (SSE, Context(Random(0), OLD), "framing"),
        (replace(SIZED, final=True), Context(Random(0), GET), "framing"),
        (ResponseHead(101, framing=Framing.TUNNEL), Context(Random(0), GET), "framing"),
    ],
)
def test_in_others_nothing_is_gathered(play, head, context, reason):
    body = [] if head.final else [(1.0, EVENT)]
    played = play([Cork()], [*body, (2.0, End())], head=head, context=context)
    assert played.out == play([], [*body, (2.0, End())], head=head).out
    assert played.not_fired == [("cork", reason)]


@pytest.mark.parametrize(
    ("head", "request_"), [(SSE, GET), (SIZED, GET), (SIZED, OLD), (H2_SSE, GET), (H2_SIZED, GET), (H2_SIZED, OLD)]
)
def test_chunks_and_a_length_are_gathered_whatever_the_upstream_speaks(play, head, request_):
    played = play([Cork()], [(0.0, head), (1.0, EVENT), (9.0, End())], context=Context(Random(0), request_))
    assert [time for time, _ in played.body] == [1.2]
    assert played.fired == [(0.0, "cork", "gathers up to 1448, or for 200ms")]


def test_a_fault_nearer_the_client_sees_bursts(play):
    played = play([[Cork()], [Cut(at=Trigger(event=3))]], [(0.0, SSE), *every(0.02, 9, 1.0), (9.0, End())])
    assert (played.data, played.end[0]) == (3 * EVENT, 1.2)


# ---- what it stands, and how it is written


@pytest.mark.parametrize("spec", [Cork(), Cork(after=0.05, segment=40), Cork(segment=1), Cork(after=float("inf"))])
def test_what_every_fault_stands(spec):
    check_fault(spec)


def test_with_no_time_at_all_it_changes_nothing():
    check_fault(Cork(after=0.0), neutral=True)


def test_the_time_is_divided_by_the_speed(play):
    fast = Context(Random(0), GET, speed=4.0)
    assert play([Cork()], [(0.0, SSE), (1.0, EVENT)], context=fast).body[0][0] == 1.05


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("cork: 5", 11, "a number without a unit is no duration"),
        ("cork: {segment: 0}", 21, "at least one byte"),
        ("cork: {segment: large}", 21, "a size"),
        ("cork: {way: request}", 17, "response"),
    ],
)
def test_a_mistake_has_its_place(refused, text, column, said):
    refused(text, column, said)


def test_what_can_be_written():
    [rule] = load("version: 1\nfaults:\n  - cork: 40ms\n  - cork: {segment: 64KiB}\n  - cork: {}\n").rules
    assert rule.faults == (Cork(after=0.04), Cork(segment=65536), Cork())
