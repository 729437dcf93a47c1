"""`pace`: the turns, what they carry, what follows, the room, and what cannot be written."""

from random import Random

import pytest

from chaosproxy.chain.fault import Context
from chaosproxy.faults import Pace
from chaosproxy.faults.pacing import ROOM
from chaosproxy.model.messages import Abort, Data, End, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Framing, Peer, Way
from chaosproxy.scenario.load import load
from chaosproxy.testing import check_fault
from chaosproxy.testing.play import GET, POST, SSE, Upload

TEN = b"0123456789"
ONE, TWO, THREE, FOUR = (b"data: %d\n\n" % number for number in range(1, 5))
CODED = ResponseHead(
    200, ((b"content-type", b"text/event-stream"), (b"content-encoding", b"gzip")), framing=Framing.CHUNKED
)
PLAIN = ResponseHead(200, ((b"content-type", b"text/plain"),), framing=Framing.CHUNKED)


@pytest.mark.parametrize(
    ("spec", "script", "expected"),
    [
        # The first turn is the arrival; then one every 100 ms, however the bytes were read.
        (Pace(bytes=4, every=0.1), [(1.0, TEN)], [(1.0, b"0123"), (1.1, b"4567"), (1.2, b"89")]),
        (Pace(bytes=1, every=0.1), [(1.0, [b"a", b"b"]), (1.05, b"c")], [(1.0, b"a"), (1.1, b"b"), (1.2, b"c")]),
        # What a turn has left is for whoever still comes in it.
        (Pace(bytes=4, every=0.1), [(1.0, b"ab"), (1.05, b"cdef")], [(1.0, b"ab"), (1.05, b"cd"), (1.1, b"ef")]),
        # Where nothing was waiting the turns begin anew, and what was not used is lost.
        (Pace(bytes=4, every=0.1), [(1.0, b"ab"), (5.0, TEN)], [(1.0, b"ab"), (5.0, b"0123"), (5.1, b"4567"), (5.2, b"89")]),
        # A stream that is slower is not touched.
        (Pace(bytes=10, every=0.1), [(1.0, TEN), (2.0, TEN)], [(1.0, TEN), (2.0, TEN)]),
        # Events: a turn each, together, and in pieces.
        (Pace(events=1, every=0.02), [(1.0, ONE + TWO + THREE)], [(1.0, ONE), (1.02, TWO), (1.04, THREE)]),
        (Pace(events=2, every=0.02), [(1.0, ONE + TWO + THREE + FOUR)], [(1.0, ONE + TWO), (1.02, THREE + FOUR)]),
        (Pace(events=2, every=0.02), [(1.0, [ONE, TWO, THREE])], [(1.0, ONE), (1.0, TWO), (1.02, THREE)]),
        (Pace(events=1, every=0.1), [(1.0, ONE[:5]), (1.05, ONE[5:]), (1.06, TWO)], [(1.0, ONE[:5]), (1.05, ONE[5:]), (1.1, TWO)]),
        # What is no event goes with the event behind it.
        (Pace(events=1, every=0.1), [(1.0, ONE + b": ping\n\n" + TWO)], [(1.0, ONE), (1.1, b": ping\n\n" + TWO)]),
    ],
)  # fmt: skip
def test_what_leaves_when(play, spec, script, expected):
    assert play([spec], script).body == expected


def test_nothing_adds_up_over_a_long_stream(play):
    """A tenth of a second is no binary fraction: sums of it go astray, multiples hardly."""
    script = [(0.001 * number, b"x") for number in range(1000)]
    played = play([Pace(bytes=1, every=0.1)], [*script, (1.0, End())], until=1e4)
    assert [time for time, _ in played.body] == [pytest.approx(0.1 * number, abs=1e-6) for number in range(1000)]
    assert played.end == (pytest.approx(99.9, abs=1e-6), End())


@pytest.mark.parametrize("behind", [Trailers(((b"a", b"b"),)), End(), Abort("upstream:fin", Peer.UPSTREAM)])
def test_the_head_has_no_turn_and_what_is_behind_keeps_its_place(play, behind):
    played = play([Pace(bytes=5, every=1.0)], [(1.0, SSE), (1.0, TEN), (1.0, behind)])
    assert played.head[0] == 1.0
    assert played.out[-2:] == [(2.0, Data(b"56789")), (2.0, behind)]


def test_it_says_what_it_did_once_and_only_if_something_had_to_wait(play):
    assert play([Pace(bytes=4, every=0.1)], [(1.0, TEN), (2.0, TEN)]).fired == [(1.0, "pace", "4 bytes every 100ms")]
    assert play([Pace(events=1, every=0.1)], [(1.0, ONE), (1.0, TWO)]).fired == [(1.0, "pace", "1 event every 100ms")]
    assert play([Pace(bytes=10, every=0.1)], [(1.0, TEN)]).fired == []


def test_the_room_is_bounded_and_then_the_sender_waits(play):
    block = b"x" * 4096
    played = play([Pace(bytes=4096, every=1.0)], [(1.0, block) for _ in range(64)], until=1.5)
    assert played.admitted == ROOM + 4096  # the one that has left, and what waits
    assert play([Pace(bytes=4096, every=1.0)], [(1.0, block) for _ in range(64)]).data == block * 64


def test_a_client_that_leaves_ends_it(play):
    played = play([Pace(bytes=1, every=1.0)], [(1.0, TEN), (2.5, "hangup"), (3.0, TEN)])
    assert (played.data, played.cancelled_at) == (b"01", 2.5)


@pytest.mark.parametrize(("head", "reason"), [(PLAIN, "no records"), (CODED, "coded body")])
def test_events_need_records(play, head, reason):
    played = play([Pace(events=1, every=1.0)], [(1.0, ONE + TWO)], head=head)
    assert played.body == [(1.0, ONE + TWO)]
    assert played.not_fired == [("pace", reason)]


def test_an_upload_is_paced_and_the_answer_is_not(play):
    script = [(1.0, Upload(b"abc")), (1.0, Upload(End())), (1.5, TEN), (2.0, End())]
    played = play([Pace(bytes=1, every=1.0, way=Way.REQUEST)], script, request=POST)
    assert played.request[1:] == [(1.0, Data(b"a", whole=False)), (2.0, Data(b"b", whole=False)), (3.0, Data(b"c")), (3.0, End())]  # fmt: skip
    assert played.body == [(1.5, TEN)]


def test_speed_divides_the_distance(play):
    fast = Context(Random(0), GET, speed=10.0)
    assert play([Pace(bytes=5, every=1.0)], [(1.0, TEN)], context=fast).body == [(1.0, b"01234"), (1.1, b"56789")]


@pytest.mark.parametrize(
    "spec", [Pace(bytes=1, every=0.01), Pace(bytes=7, every=0.3), Pace(events=1, every=0.02), Pace(events=3, every=1.0)]
)
def test_what_every_fault_stands(spec):
    check_fault(spec)


@pytest.mark.parametrize("spec", [Pace(bytes=1, every=0.0), Pace(events=1, every=0.0)])
def test_without_a_distance_it_is_neutral(spec):
    check_fault(spec, neutral=True)


@pytest.mark.parametrize(
    ("text", "line", "column", "said"),
    [
        ("pace: 5", 3, 11, "`every` is required"),
        ("pace: {every: 20ms}", 3, 11, "needs one of bytes and events"),
        ("pace: {bytes: 1, events: 1, every: 20ms}", 3, 11, "needs one of bytes and events"),
        ("pace: {bytes: 0, every: 20ms}", 3, 19, "at least 1"),
        ("pace: {events: 0, every: 20ms}", 3, 20, "1 or more"),
        ("pace: {events: 1, every: 20}", 3, 30, "duration"),
        ("pace: {events: 1, every: forever}", 3, 30, "never comes"),
        ("pace: {events: 1, every: 1s, region: head}", 3, 20, "no events in a head"),
        ("pace: {bytes: 1, every: 1s, region: tail}", 3, 41, "body, head, chunk_size"),
    ],
)
def test_a_mistake_has_its_place(refused, text, line, column, said):
    refused(text, column, said, line)


def test_what_can_be_written():
    text = "version: 1\nfaults:\n  - pace: {events: 1, every: 20ms, way: request}\n  - pace: {bytes: 1, every: 1s, region: head}\n"
    [rule] = load(text).rules
    assert rule.faults == (Pace(events=1, every=0.02, way=Way.REQUEST), Pace(bytes=1, every=1.0, region="head"))


@pytest.mark.parametrize("region", ["head", "chunk_size"])
@pytest.mark.parametrize("way", Way)
def test_of_heads_and_sizes_the_body_knows_nothing(region, way):
    """They are written slowly, not held: `tests/virtual/test_pace_regions.py`."""
    check_fault(Pace(bytes=1, every=1.0, region=region, way=way))
    check_fault(Pace(bytes=1, every=0.0, region=region, way=way), neutral=True)


def test_a_machine_that_stood_still_makes_up_for_a_second_at_most():
    """A late alarm is made up for, a stopped process is not."""
    context = Context(Random(0), GET)
    running = Pace(bytes=1, every=0.1).start(context)
    assert running.data(Data(b"x" * 100), 0.0)
    assert len(running.wake(0.95)) == 9
    assert len(running.wake(60.0)) == 1
    assert running.due == pytest.approx(60.1)
