"""`bandwidth`: the schedule, the pieces, the burst, the room, and what cannot be written."""

from random import Random

import pytest

from chaosproxy.chain.fault import Context
from chaosproxy.faults import Bandwidth
from chaosproxy.faults.bandwidth import PACKET, ROOM
from chaosproxy.model.messages import Abort, End, Trailers
from chaosproxy.model.vocabulary import Peer, Way
from chaosproxy.scenario.load import load
from chaosproxy.testing import check_fault
from chaosproxy.testing.play import GET, POST, SSE, Upload

TEN = b"0123456789"


def shape(played):
    return [(time, len(payload)) for time, payload in played.body]


# ---- the schedule


@pytest.mark.parametrize(
    ("spec", "script", "expected"),
    [
        # A piece leaves when its last byte would have been sent.
        (Bandwidth(rate=10.0), [(1.0, TEN)], [(2.0, 10)]),
        (Bandwidth(rate=10.0), [(1.0, [TEN, TEN]), (1.5, TEN)], [(2.0, 10), (3.0, 10), (4.0, 10)]),
        # After a silence it begins anew: what was not used is lost.
        (Bandwidth(rate=10.0), [(1.0, TEN), (9.0, TEN)], [(2.0, 10), (10.0, 10)]),
        # A burst leaves at once and comes back at the same rate.
        (Bandwidth(rate=10.0, burst=20), [(1.0, [TEN] * 4)], [(1.0, 10), (1.0, 10), (2.0, 10), (3.0, 10)]),
        (Bandwidth(rate=10.0, burst=20), [(1.0, [TEN] * 2), (2.0, [TEN] * 2)], [(1.0, 10), (1.0, 10), (2.0, 10), (3.0, 10)]),
        (Bandwidth(rate=10.0, burst=20), [(1.0, [TEN] * 2), (9.0, [TEN] * 3)], [(1.0, 10), (1.0, 10), (9.0, 10), (9.0, 10), (10.0, 10)]),
        # What is smaller than a packet is never cut, not even where half of it would be in the burst.
        (Bandwidth(rate=10.0, burst=5), [(1.0, TEN)], [(1.5, 10)]),
        # A stream slower than the line is not touched.
        (Bandwidth(rate=10.0, burst=10), [(1.0, TEN), (2.0, TEN), (3.0, TEN)], [(1.0, 10), (2.0, 10), (3.0, 10)]),
    ],
)  # fmt: skip
def test_when_the_bytes_leave(play, spec, script, expected):
    assert shape(play([spec], script)) == expected


def test_nothing_adds_up_over_a_long_stream(play):
    """Bytes that come faster than the line end exactly when all of them have been sent."""
    script = [(0.001 * number, b"x" * 7) for number in range(1000)]
    played = play([Bandwidth(rate=70.0)], [*script, (1.0, End())], until=1e4)
    assert [time for time, _ in played.body] == [pytest.approx(0.1 * number) for number in range(1, 1001)]
    assert played.end == (100.0, End())


@pytest.mark.parametrize("behind", [Trailers(((b"a", b"b"),)), End(), Abort("upstream:fin", Peer.UPSTREAM)])
def test_the_head_takes_no_time_and_what_is_behind_keeps_its_place(play, behind):
    played = play([Bandwidth(rate=1.0)], [(1.0, SSE), (1.0, TEN), (1.0, behind)])
    assert played.head[0] == 1.0
    assert played.out[-1] == (11.0, behind)


def test_two_in_a_row_are_as_slow_as_the_thinner(play):
    played = play([Bandwidth(rate=1000.0), Bandwidth(rate=10.0)], [(1.0, [TEN] * 3)])
    assert shape(played) == [(pytest.approx(2.01 + number), 10) for number in range(3)]


def test_the_clients_leaving_is_felt_at_once(play):
    assert play([Bandwidth(rate=1.0)], [(1.0, TEN), (2.0, "hangup")]).cancelled_at == 2.0


def test_it_is_noted_once_and_only_if_something_had_to_wait(play):
    assert play([Bandwidth(rate=10.0)], [(1.0, [TEN] * 3)]).fired == [(1.0, "bandwidth", "10B/s")]
    assert play([Bandwidth(rate=32768.0)], [(1.0, TEN)]).fired == [(1.0, "bandwidth", "32KiB/s")]
    assert play([Bandwidth(rate=10.0, burst=30)], [(1.0, [TEN] * 3)]).not_fired == [("bandwidth", "not reached")]


# ---- pieces


def test_a_large_piece_leaves_in_packets(play):
    played = play([Bandwidth(rate=PACKET)], [(1.0, b"x" * (2 * PACKET + 730))])
    assert shape(played) == [(2.0, PACKET), (3.0, PACKET), (3.5, 730)]


def test_what_the_burst_covers_leaves_uncut(play):
    played = play([Bandwidth(rate=PACKET, burst=4 * PACKET)], [(1.0, b"x" * (5 * PACKET))])
    assert shape(played) == [(1.0, 4 * PACKET), (2.0, PACKET)]


def test_on_a_fat_line_the_pieces_are_larger(play):
    played = play([Bandwidth(rate=2_000_000.0)], [(1.0, b"x" * 30_000)])
    assert shape(played) == [(1.005, 10_000), (1.01, 10_000), (1.015, 10_000)]


def test_records_keep_their_ends_in_the_pieces(play):
    events = b"data: %s\n\n" % (b"x" * 992) * 5
    played = play([Bandwidth(rate=1000.0)], [(1.0, events), (1.0, End())])
    assert (played.data, played.records_in, played.records_out) == (events, 5, 5)


# ---- room, the request, speed


def test_beyond_its_room_the_sender_waits(play):
    script = [(1.0, [b"x" * 1000] * 200)]
    assert play([Bandwidth(rate=1.0)], script, until=10.0).admitted == 66_000
    assert ROOM < 66_000 < ROOM + 1000
    played = play([Bandwidth(rate=1000.0)], script)
    assert shape(played) == [(2.0 + number, 1000) for number in range(200)]


def test_the_request(play):
    script = [(1.0, Upload(TEN)), (1.0, Upload(End())), (9.0, End())]
    played = play([Bandwidth(rate=10.0, way=Way.REQUEST)], script, request=POST)
    assert [time for time, _ in played.request] == [0.0, 2.0, 2.0]


def test_speed_multiplies_it(play):
    fast = Context(Random(0), GET, speed=10.0)
    assert shape(play([Bandwidth(rate=1.0)], [(1.0, TEN)], context=fast)) == [(2.0, 10)]


# ---- what every fault must stand


@pytest.mark.parametrize(
    "spec",
    [
        Bandwidth(rate=1.0),
        Bandwidth(rate=90.0),
        Bandwidth(rate=50.0, burst=20),
        Bandwidth(rate=1e9),
        Bandwidth(rate=3.0, burst=4, way=Way.REQUEST),
    ],
)
def test_it_stands_every_stream(spec):
    check_fault(spec)


def test_a_burst_that_covers_everything_is_neutral():
    check_fault(Bandwidth(rate=1.0, burst=1000), neutral=True)
    check_fault(Bandwidth(rate=1.0, burst=1000, way=Way.REQUEST), neutral=True)


# ---- the scenario


def test_the_bare_value_is_the_rate():
    assert load("version: 1\nfaults:\n  - bandwidth: 32KiB/s\n").rules[0].faults == (Bandwidth(rate=32768.0),)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("32KiB", 16, "a rate: 32KiB/s"),
        ("0/s", 16, "carries nothing"),
        ("{rate: 0/s}", 23, "carries nothing"),
        ("{burst: 1k}", 5, "`rate` is required"),
        ("{rate: 1k/s, burst: 1s}", 36, "a size"),
        ("{rate: 1k/s, room: 1k}", 29, "burst"),
    ],
)
def test_a_mistake_has_its_place(refused, text, column, message):
    refused(f"bandwidth: {text}", column, message)
