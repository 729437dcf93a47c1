"""`client_abort`: whether, and when, the upstream hears that the client has left."""

from random import Random

import pytest

from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Context
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import AbortUpstream, Buffer, ClientAbort, Cut, Latency, Timeout
from chaosproxy.model.codes import NO_ERROR
from chaosproxy.model.messages import Abort, End, ResponseHead
from chaosproxy.model.vocabulary import Framing, Peer
from chaosproxy.testing.play import GET, play

EVENTS = [(float(number), b"data: %d\n\n" % number) for number in range(1, 7)]
LEAVES = [*EVENTS[:2], (2.5, "hangup"), *EVENTS[2:], (7.0, End())]


def test_without_it_the_upstream_is_told_at_once():
    played = play([], LEAVES)
    assert (played.cancelled_at, played.cancel_cause) == (2.5, "client:fin")


def test_propagate_is_the_same_and_says_so():
    played = play([ClientAbort()], LEAVES)
    assert (played.cancelled_at, played.cancel_cause) == (2.5, "client:fin")
    assert [(time, fault) for time, fault, _ in played.fired] == [(2.5, "client_abort")]


def test_a_delay():
    assert play([ClientAbort(delay=1.25)], LEAVES).cancelled_at == 3.75


def test_on_next_write_waits_for_the_next_byte_of_the_body():
    assert play([ClientAbort(mode="on_next_write")], LEAVES).cancelled_at == 3.0


def test_on_next_write_and_a_delay_behind_it():
    assert play([ClientAbort(mode="on_next_write", delay=0.5)], LEAVES).cancelled_at == 3.5


def test_on_next_write_of_a_silent_upstream_never_comes():
    assert play([ClientAbort(mode="on_next_write")], [*EVENTS[:2], (2.5, "hangup")]).cancelled_at is None


def test_ignore_drains_to_the_end():
    played = play([ClientAbort(mode="ignore")], LEAVES)
    assert played.cancelled_at is None
    assert (played.bytes_in, played.bytes_out) == (6 * 9, 2 * 9)
    assert played.admitted == 6 * 9, "the upstream was credited for what nobody reads"


def test_the_ignoring_machine_hides_it_from_those_nearer_the_upstream_alone():
    swallowed = play([[ClientAbort()], [ClientAbort(mode="ignore")]], LEAVES)
    assert swallowed.cancelled_at is None
    assert [detail for _, detail in swallowed.not_fired] == ["not reached"]
    passed = play([[ClientAbort(mode="ignore")], [ClientAbort()]], LEAVES)
    assert passed.cancelled_at is None
    assert [fault for _, fault, _ in passed.fired] == ["client_abort", "client_abort"]


def test_a_buffer_nearer_the_upstream_goes_on_filling_for_nobody():
    played = play([[Buffer(bytes=20)], [ClientAbort(mode="ignore")]], LEAVES)
    assert played.bytes_in == 6 * 9
    assert played.admitted == 6 * 9


@pytest.mark.parametrize("mode", ["propagate", "on_next_write", "ignore"])
def test_without_a_leaving_it_does_nothing(mode):
    played = play([ClientAbort(mode=mode)], [*EVENTS, (7.0, End())])
    assert played.out == play([], [*EVENTS, (7.0, End())]).out
    assert played.not_fired == [("client_abort", "not reached")]


def test_on_next_write_sees_only_what_the_hop_before_it_lets_out(play):
    faults = [[Buffer(events=5)], [ClientAbort(mode="on_next_write")]]
    script = [(float(number), b"data: %d\n\n" % number) for number in range(1, 9)]
    assert play(faults, [*script[:2], (2.5, "hangup"), *script[2:]]).cancelled_at == 5.0


@pytest.mark.parametrize("last", [End(), Abort("upstream:rst", Peer.UPSTREAM)])
def test_an_answer_that_ends_meanwhile_needs_no_telling(play, last):
    assert play([ClientAbort(delay=2.0)], [(1.0, b"x"), (1.5, "hangup"), (2.0, last)]).cancelled_at is None


def test_it_decides_about_an_ending_made_nearer_the_client_and_not_about_one_behind_it(play):
    cut = Cut(at=Trigger(bytes=2), then=(Ending("rst"),))
    script = [(1.0, b"x"), (2.0, b"x"), (9.0, End())]
    assert play([[ClientAbort(delay=3.0)], [cut]], script).cancelled_at == 5.0
    assert play([[cut], [ClientAbort(mode="ignore")]], script).cancelled_at == 2.0


def test_the_delay_is_divided_by_the_speed(play):
    fast = Context(Random(0), GET, speed=4.0)
    assert play([ClientAbort(delay=2.0)], [(1.0, b"x"), (2.5, "hangup")], context=fast).cancelled_at == 3.0


def test_two_in_a_row_wait_one_after_the_other(play):
    hops = [[ClientAbort(delay=1.0)], [ClientAbort(delay=2.0)]]
    assert play(hops, [(1.0, b"x"), (2.5, "hangup")]).cancelled_at == 5.5


# ---- how it left, and how the upstream is told


@pytest.mark.parametrize(
    ("how", "told"),
    [("hangup", 3.0), ("hangup:rst", 3.0), ("hangup:stream:CANCEL", 2.5), ("hangup:goaway:NO_ERROR", 3.0)],
)
def test_an_rst_stream_may_be_seen_at_once(play, how, told):
    script = [(time, how if what == "hangup" else what) for time, what in LEAVES]
    assert play([ClientAbort(mode="on_next_write", rst_stream="propagate")], script).cancelled_at == told
    assert play([ClientAbort(mode="on_next_write")], script).cancelled_at == 3.0


RST = (Ending("rst"),)


@pytest.mark.parametrize("mode", ["propagate", "on_next_write"])
@pytest.mark.parametrize("delay", [0.0, 0.25])
def test_in_which_way_the_upstream_is_told(play, mode, delay):
    assert play([ClientAbort(mode=mode, delay=delay, then=RST)], LEAVES).upstream_endings == RST
    assert play([ClientAbort(mode=mode, delay=delay)], LEAVES).upstream_endings == ()


def test_so_it_is_when_a_fault_nearer_the_client_has_ended_it(play):
    hop = [ClientAbort(then=RST), Timeout(idle=1.5), ClientAbort(mode="on_next_write")]
    quiet = play(hop, EVENTS[:2])
    assert (quiet.cancelled_at, quiet.cancel_cause, quiet.upstream_endings) == (3.5, "timeout:idle", RST)
    left = play(hop, [*EVENTS[:2], (2.5, "hangup"), *EVENTS[2:3]])
    assert (left.cancelled_at, left.cancel_cause, left.upstream_endings) == (3.0, "client:fin", RST)
    unnoticed = play(hop, [*EVENTS[:2], (2.5, "hangup")])
    assert (unnoticed.cancelled_at, unnoticed.upstream_endings) == (3.5, RST)


def test_it_is_the_word_of_the_machine_that_has_the_connection(play):
    other = (Ending("stream", code=NO_ERROR),)
    assert play([[ClientAbort(then=other)], [ClientAbort(then=RST)]], LEAVES).upstream_endings == other
    assert play([[Buffer(bytes=20)], [ClientAbort(then=RST)]], LEAVES).upstream_endings == ()
    gone = AbortUpstream(at=Trigger(event=2), then=other)
    assert play([ClientAbort(then=RST), gone], LEAVES[:2]).upstream_endings == other, "who was asked to has said it"


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("client_abort: {then: clean}", 26, "not how a client ends; expected fin, rst or {stream: CODE}"),
        ("client_abort: {rst_stream: ignore}", 32, "expected one of as_mode, propagate"),
    ],
)
def test_a_mistake_has_its_place(refused, text, column, said):
    refused(text, column, said)


@pytest.mark.parametrize("lazy", [True, False])
@pytest.mark.parametrize("end", [2.0, 4.0], ids=["before", "behind"])
def test_in_a_tunnel_the_upstream_is_told_though_it_has_ended_its_own_way(end, lazy):
    tunnel = ResponseHead(101, (), b"Switching Protocols", Framing.TUNNEL)
    script = sorted([(1.0, b"hello"), (end, End()), (3.0, "hangup")], key=lambda step: step[0])
    played = play([ClientAbort(delay=2.5), Latency(delay=1.25)], script, head=tunnel, lazy=lazy)
    assert played.cancelled_at == 5.5
