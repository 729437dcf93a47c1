"""`buffer`: every parameter, alone and together, on both ways, and what becomes of the content when it ends early."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Context
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import Buffer, Cut, Timeout
from chaosproxy.faults.buffering import MANY, length_of
from chaosproxy.model.messages import Abort, Data, End, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Framing, Manner, Peer, Scope, Way
from chaosproxy.testing import check_fault
from chaosproxy.testing.play import GET, POST, SSE, Upload

TICKS = [(float(number), b"data: %d\n\n" % number) for number in range(1, 9)]
WHOLE = [*TICKS, (9.0, End())]
ALL = b"".join(piece for _, piece in TICKS)
BREAKS = (9.0, Abort("upstream:rst", Peer.UPSTREAM))
HINTED = ((b"content-type", b"text/event-stream"), (b"X-Accel-Buffering", b"no"))


def pieces(played):
    return [(time, len(payload)) for time, payload in played.body]


def test_it_releases_exactly_that_many_bytes_as_one_chunk_and_keeps_the_rest(play):
    assert pieces(play([Buffer(bytes=20)], WHOLE)) == [(3.0, 20), (5.0, 20), (7.0, 20), (9.0, 12)]


def test_single_bytes_however_many_are_what_they_make_together(play):
    events = b"data: 1\n\n" * (2 * MANY // 9 + 1)
    bytewise = [(float(number), events[number : number + 1]) for number in range(len(events))]
    played = play([Buffer(until_end=True)], [*bytewise, (1000.0, End())])
    assert (played.body, played.records_out) == ([(1000.0, events)], len(events) // 9)


def test_one_read_may_fill_it_several_times(play):
    assert pieces(play([Buffer(bytes=20)], [(1.0, ALL), (9.0, End())])) == [(1.0, 20), (1.0, 20), (1.0, 20), (9.0, 12)]


@settings(max_examples=60)
@given(reads=st.lists(st.binary(min_size=1, max_size=40), min_size=1, max_size=12), size=st.integers(1, 50))
def test_chunks_do_not_depend_on_the_reads(play, reads, size):
    whole = b"".join(reads)
    played = play([Buffer(bytes=size)], [*((float(time), read) for time, read in enumerate(reads)), (99.0, End())])
    assert [payload for _, payload in played.body] == [whole[at : at + size] for at in range(0, len(whole), size)]


def test_sizes_in_turn_and_the_last_repeats(play):
    assert pieces(play([Buffer(bytes=(9, 30, 12))], [(1.0, ALL), (9.0, End())])) == [
        (1.0, 9),
        (1.0, 30),
        (1.0, 12),
        (1.0, 12),
        (9.0, 9),
    ]


def test_events(play):
    assert pieces(play([Buffer(events=3)], WHOLE)) == [(3.0, 27), (6.0, 27), (9.0, 18)]


def test_events_in_one_read_and_what_has_not_ended_stays(play):
    script = [(1.0, ALL[:40]), (2.0, ALL[40:]), (9.0, End())]
    assert pieces(play([Buffer(events=2)], script)) == [(1.0, 18), (1.0, 18), (2.0, 18), (2.0, 18)]


def test_comments_are_no_events_but_leave_with_them(play):
    script = [(1.0, b": ping\n\n"), (2.0, b"data: 1\n\n"), (3.0, b": ping\n\n"), (9.0, End())]
    assert pieces(play([Buffer(events=1)], script)) == [(2.0, 17), (9.0, 8)]


def test_every_counts_from_the_first_byte_held(play):
    script = [(1.0, b"a"), (1.5, b"b"), (4.0, b"c"), (9.0, End())]
    assert pieces(play([Buffer(every=2.0)], script)) == [(3.0, 2), (6.0, 1)]


def test_every_at_speed(play):
    context = Context(Random(0), GET, speed=4.0)
    assert pieces(play([Buffer(every=2.0)], [(1.0, b"a"), (9.0, End())], context=context)) == [(1.5, 1)]


def test_whichever_is_reached_first(play):
    faults = [Buffer(bytes=30, events=3, every=1.5)]
    script = [(1.0, TICKS[0][1]), (5.0, b"x" * 40), (6.0, b"\n\n" + ALL), (20.0, End())]
    assert pieces(play(faults, script)) == [(2.5, 9), (5.0, 30), (6.0, 30), (6.0, 27), (6.0, 27)]


def test_the_head_passes_at_once_and_interim_answers_too(play):
    played = play(
        [Buffer(until_end=True)], [(1.0, ResponseHead(200, framing=Framing.CHUNKED)), (5.0, b"x"), (9.0, End())]
    )
    assert played.head[0] == 1.0


def test_until_end_ignores_the_thresholds(play):
    assert pieces(play([Buffer(bytes=9, events=1, every=0.5, until_end=True)], WHOLE)) == [(9.0, 72)]


def test_until_end_and_full_everything_leaves_and_holding_goes_on(play):
    assert pieces(play([Buffer(until_end=True, limit=30)], WHOLE)) == [(5.0, 36), (9.0, 36)]


@pytest.mark.parametrize(
    ("spec", "room"),
    [
        (Buffer(bytes=4096), 4096),
        (Buffer(bytes=(10, 4096, 5)), 4096),
        (Buffer(events=1), 1024 * 1024),
        (Buffer(every=1.0), 1024 * 1024),
        (Buffer(until_end=True), 16 * 1024 * 1024),
        (Buffer(bytes=4096, until_end=True), 16 * 1024 * 1024),
        (Buffer(bytes=10, limit=20), 20),
        (Buffer(until_end=True, limit=20), 20),
    ],
)
def test_room(spec, room):
    assert spec.room == room


def test_when_its_output_is_blocked_it_fills_and_the_upstream_stops(play):
    script = [(float(number), b"0123456789") for number in range(1, 30)]
    played = play([Buffer(bytes=10, limit=50)], script, room=0, window=10)
    assert (played.bytes_in, played.admitted) == (290, 60)


def test_events_that_do_not_come_within_the_limit_stop_the_upstream_for_good(play):
    played = play([Buffer(events=100, limit=20)], WHOLE)
    assert (played.data, played.admitted, played.end) == (b"", 27, None)


def test_the_rest_leaves_before_the_end_mark_and_before_trailers(play):
    played = play([Buffer(bytes=99)], [(1.0, b"x"), (2.0, Trailers(((b"a", b"b"),))), (2.0, End())])
    assert [type(event) for _, event in played.out[1:]] == [Data, Trailers, End]
    assert play([Buffer(bytes=99)], [(1.0, b"x"), (2.0, End())]).out[1:] == [(2.0, Data(b"x")), (2.0, End())]


@pytest.mark.parametrize(("on_abort", "data"), [("flush", ALL), ("drop", ALL[:60])])
def test_when_the_upstream_breaks_off_it_flushes_or_drops(play, on_abort, data):
    played = play([Buffer(bytes=20, on_abort=on_abort)], [*TICKS, BREAKS])
    assert played.data == data
    assert played.end == BREAKS


@pytest.mark.parametrize(
    ("abort", "data"),
    [
        (Abort("upstream:rst", Peer.UPSTREAM, Scope.CONNECTION, Manner.RESET), ALL[:60]),
        (Abort("upstream:fin", Peer.UPSTREAM, Scope.STREAM, Manner.FIN), ALL),
        (Abort("cut", Peer.PROXY), ALL),
    ],
)
def test_a_reset_may_take_the_content_along(play, abort, data):
    played = play([Buffer(bytes=20, on_abort="drop_on_rst")], [*TICKS, (9.0, abort)])
    assert (played.data, played.end) == (data, (9.0, abort))


def test_the_head_may_take_up_room_in_the_first(play):
    head = ResponseHead(200, ((b"a", b"b"), (b"c", b"dd")), b"OK", Framing.CHUNKED)
    assert length_of(head) == len(b"HTTP/1.1 200 OK\r\na: b\r\nc: dd\r\n\r\n") == 32
    fills = [(1.0, b"x" * 200), (9.0, End())]
    sizes = [size for _, size in pieces(play([Buffer(bytes=50, counts_head=True)], fills, head=head))]
    assert sizes == [18, 50, 50, 50, 32]
    in_turn = Buffer(bytes=(50, 100), counts_head=True)
    assert [size for _, size in pieces(play([in_turn], fills, head=head))] == [18, 50, 100, 32]
    small = Buffer(bytes=30, counts_head=True)
    assert [size for _, size in pieces(play([small], fills, head=head))][:2] == [1, 30]


# ---- the head is held too

WITH_HEAD = Buffer(bytes=20, every=1.0, holds_head=True)


def left(played):
    return [(time, len(event.payload) if isinstance(event, Data) else type(event)) for time, event in played.out]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ([(0.2, b"x" * 9), (0.4, b"x" * 20), (9.0, End())], [(0.4, ResponseHead), (0.4, 20), (1.4, 9), (9.0, End)]),
        ([(0.5, b"x"), (0.8, b"x"), (1.5, b"x"), (9.0, End())], [(1.0, ResponseHead), (1.0, 2), (2.5, 1), (9.0, End)]),
        ([(3.0, b"x"), (9.0, End())], [(1.0, ResponseHead), (4.0, 1), (9.0, End)]),
        ([(0.5, End())], [(0.5, ResponseHead), (0.5, End)]),
        ([(0.3, b"x"), (0.5, Trailers(((b"a", b"b"),))), (0.6, End())], [(0.5, ResponseHead), (0.5, 1), (0.5, Trailers), (0.6, End)]),
        ([(0.3, b"x"), (0.5, BREAKS[1])], [(0.5, ResponseHead), (0.5, 1), (0.5, Abort)]),
    ],
)  # fmt: skip
def test_the_head_waits_with_the_body_and_starts_the_clock(play, script, expected):
    assert left(play([WITH_HEAD], [(0.0, SSE), *script])) == expected


def test_a_head_that_is_held_can_be_dropped(play):
    dropping = Buffer(bytes=20, holds_head=True, on_abort="drop")
    assert left(play([dropping], [(0.0, SSE), (0.3, b"x"), (0.5, BREAKS[1])])) == [(0.5, Abort)]
    assert left(play([WITH_HEAD], [(0.0, SSE), (0.3, b"x"), (0.5, "hangup")])) == []


@pytest.mark.parametrize("head", [ResponseHead(204, final=True), ResponseHead(101, framing=Framing.TUNNEL)])
def test_a_head_without_a_body_passes(play, head):
    assert play([WITH_HEAD], [(0.5, head)]).head == (0.5, head)


# ---- a rest alone is held


def test_what_fits_passes_at_once_and_of_what_does_not_the_rest_waits_for_the_next(play):
    """A buffer of 1 KiB, chunks of 2,000 bytes: 5 bytes of size and 2 behind it go into it too."""
    small = [(float(number), b"x" * 50) for number in range(3)]
    assert pieces(play([Buffer(bytes=1024, holds="rest")], small)) == [(0.0, 50), (1.0, 50), (2.0, 50)]
    large = [(float(number), b"x" * 2000) for number in range(3)]
    played = play([Buffer(bytes=1024, holds="rest")], [*large, (9.0, End())])
    # Of the first 1,019 bytes fill a buffer and 981 wait; they leave with what fills theirs, and so on.
    assert pieces(played) == [(0.0, 1019), (1.0, 2041), (2.0, 2041), (9.0, 899)]
    assert played.admitted == 6000


def test_the_rest_leaves_with_a_small_piece_too(play):
    script = [(0.0, b"x" * 2000), (1.0, b"y" * 10), (2.0, b"z" * 10), (9.0, End())]
    assert pieces(play([Buffer(bytes=1024, holds="rest")], script)) == [(0.0, 1019), (1.0, 991), (2.0, 10)]


def test_where_a_piece_ends_with_a_buffer_nothing_waits(play):
    exact = [(0.0, b"x" * (1024 - 7)), (1.0, b"y" * (2048 - 7)), (2.0, b"z" * (1024 - 6))]
    assert [time for time, _ in pieces(play([Buffer(bytes=1024, holds="rest")], exact))] == [0.0, 1.0, 2.0]
    assert len(play([Buffer(bytes=1024, holds="rest")], exact).data) == sum(len(one) for _, one in exact)


def test_a_piece_that_does_not_fit_behind_a_rest_waits_whole(play):
    """Of 16 bytes the first, with its framing, leaves 3 free."""
    script = [(0.0, b"x" * 23), (1.0, b"y"), (2.0, End())]
    assert play([Buffer(bytes=16, holds="rest")], script).body == [(0.0, b"x" * 12), (1.0, b"x" * 11), (2.0, b"y")]


def test_a_rest_breaks_off_as_the_whole_does(play):
    script = [(0.0, b"x" * 2000), (1.0, Abort("upstream:rst", Peer.UPSTREAM, Scope.CONNECTION, Manner.RESET))]
    for on_abort, size in (("flush", 2000), ("drop_on_rst", 1019)):
        assert len(play([Buffer(bytes=1024, holds="rest", on_abort=on_abort)], script).data) == size
    check_fault(Buffer(bytes=20, holds="rest"))
    check_fault(Buffer(bytes=20, counts_head=True, on_abort="drop_on_rst"))
    check_fault(WITH_HEAD)


def test_nothing_dropped_is_not_journalled_as_dropped(play):
    assert play([Buffer(bytes=9, on_abort="drop")], [(1.0, b"123456789"), BREAKS]).fired == [
        (1.0, "buffer", "held 9 bytes")
    ]


@pytest.mark.parametrize("ends", [(3.5, "hangup"), (3.5, BREAKS[1])])
def test_when_something_nearer_the_client_ends_the_content_is_discarded(play, ends):
    if ends[1] == "hangup":
        played = play([Buffer(bytes=100)], [*TICKS[:3], ends])
    else:
        played = play([[Buffer(bytes=100)], [Cut(at=Trigger(time=3.5), then=(Ending("rst"),))]], TICKS)
    assert (played.data, played.cancelled_at) == (b"", 3.5)
    assert (3.5, "buffer", "dropped 27 bytes") in played.fired


def test_it_says_once_that_it_held(play):
    assert play([Buffer(bytes=20)], WHOLE).fired == [(3.0, "buffer", "held 20 bytes")]
    assert play([Buffer(bytes=20)], [(1.0, End())]).not_fired == [("buffer", "not reached")]


def test_the_hint_disables_it_and_is_removed(play):
    head = ResponseHead(200, HINTED, framing=Framing.CHUNKED)
    played = play([Buffer(bytes=20, hint=True)], WHOLE, head=head)
    assert played.body == TICKS
    assert played.head[1].headers == HINTED[:1]
    assert played.not_fired == [("buffer", "hint")]


def test_without_hint_the_field_passes_and_with_yes_it_only_goes(play):
    head = ResponseHead(200, HINTED, framing=Framing.CHUNKED)
    played = play([Buffer(bytes=20)], WHOLE, head=head)
    assert (len(played.body), played.head[1].headers) == (4, HINTED)
    yes = ResponseHead(200, (*HINTED[:1], (b"x-accel-buffering", b"Yes")), framing=Framing.CHUNKED)
    played = play([Buffer(bytes=20, hint=True)], WHOLE, head=yes)
    assert (len(played.body), played.head[1].headers) == (4, HINTED[:1])
    assert len(play([Buffer(bytes=20, hint=True)], WHOLE).body) == 4


def test_events_never_come_in_a_body_without_any(play):
    plain = ResponseHead(200, ((b"content-type", b"text/plain"),), framing=Framing.CHUNKED)
    assert pieces(play([Buffer(events=1)], WHOLE, head=plain)) == [(9.0, 72)]


# ---- the request


def test_it_holds_the_request_just_so(play):
    script = [(1.0, Upload(b"12345")), (2.0, Upload(b"67890")), (3.0, Upload(b"abc")), (4.0, Upload(End()))]
    played = play([Buffer(bytes=8, way=Way.REQUEST)], script, request=POST)
    assert played.request == [
        (0.0, POST),
        (2.0, Data(b"12345678", whole=False)),
        (4.0, Data(b"90abc")),
        (4.0, End()),
    ]


def test_a_request_that_breaks_off_is_dropped_with_it(play):
    script = [(1.0, Upload(b"12345")), (2.0, Upload(Abort("client:rst", Peer.CLIENT)))]
    played = play([Buffer(bytes=8, way=Way.REQUEST, on_abort="drop")], script, request=POST)
    assert [type(event) for _, event in played.request] == [type(POST), Abort]
    flushed = play([Buffer(bytes=8, way=Way.REQUEST)], script, request=POST)
    assert [type(event) for _, event in flushed.request] == [type(POST), Data, Abort]


def test_a_response_is_nothing_to_a_buffer_of_the_request(play):
    assert play([Buffer(bytes=8, way=Way.REQUEST)], WHOLE).body == TICKS


# ---- position is meaning: the hop nearer the client sees what the buffer lets out

SECONDS = [(float(number), b"data: token %02d\n\n" % number) for number in range(30)]


def test_a_buffer_silences_a_healthy_stream_for_the_timeout_behind_it(play):
    played = play([[Buffer(bytes=4096)], [Timeout(idle=5.0)]], SECONDS)
    assert (played.end[0], played.end[1].cause) == (5.0, "timeout:idle")
    assert played.cancelled_at == 5.0


def test_the_other_way_round_nothing_is_dropped_and_everything_comes_at_the_end(play):
    played = play([[Timeout(idle=5.0)], [Buffer(bytes=4096)]], [*SECONDS, (30.0, End())])
    assert [time for time, _ in played.body] == [30.0]
    assert played.end == (30.0, End())


def test_with_a_flush_every_two_seconds_it_survives_in_bursts(play):
    played = play([[Buffer(bytes=4096, every=2.0)], [Timeout(idle=5.0)]], [*SECONDS, (30.0, End())])
    assert played.end == (30.0, End())
    assert [time for time, _ in played.body][:4] == [2.0, 4.0, 6.0, 8.0]


# ---- what it cannot be


@pytest.mark.parametrize(
    ("parameters", "path", "words"),
    [
        ({}, (), "needs one of"),
        ({"bytes": 0}, ("bytes",), "at least one byte"),
        ({"bytes": (4, 0)}, ("bytes",), "at least one byte"),
        ({"until_end": True, "counts_head": True}, ("counts_head",), "give some"),
        ({"events": 3, "holds": "rest"}, ("holds",), "one size of buffer"),
        ({"bytes": 9, "holds": "rest", "holds_head": True}, ("holds",), "one size of buffer"),
        ({"bytes": 9, "holds_head": True, "way": Way.REQUEST}, ("holds_head",), "`hold_head`"),
        ({"bytes": 9, "counts_head": True, "way": Way.REQUEST}, ("counts_head",), "`hold_head`"),
        ({"bytes": (1, 2), "holds": "rest"}, ("holds",), "one size of buffer"),
        ({"bytes": 9, "every": 1.0, "holds": "rest"}, ("holds",), "one size of buffer"),
        ({"bytes": 4096, "limit": 1024}, ("limit",), "4KiB can never be reached with a limit of 1KiB"),
    ],
)
def test_impossible_combinations(parameters, path, words):
    [(where, message)] = Buffer(**parameters).problems()
    assert where == path
    assert words in message


@pytest.mark.parametrize("spec", [Buffer(bytes=1), Buffer(until_end=True), Buffer(bytes=20, until_end=True, limit=9)])
def test_possible_ones(spec):
    assert spec.problems() == []


def test_it_reads_records_only_where_it_counts_them():
    assert Buffer(events=1).reads_records
    assert not Buffer(bytes=1).reads_records
    assert not Buffer(events=1, until_end=True).reads_records
