"""`client_abort`: whether, and when, the upstream hears that the client has left."""

import pytest

from chaosproxy.faults import Buffer, ClientAbort
from chaosproxy.model.messages import End
from chaosproxy.testing.play import play

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
