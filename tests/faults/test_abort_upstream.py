"""`abort_upstream`: where it acts, what each side is told, and what cannot be written. (On the wire: `tests/loopback`.)"""

from random import Random

import pytest

from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Context
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import AbortUpstream, ClientAbort, Cut
from chaosproxy.model.messages import Abort, End
from chaosproxy.model.vocabulary import Manner, Moment, Peer, Scope
from chaosproxy.scenario.load import load
from chaosproxy.testing import check_fault
from chaosproxy.testing.play import GET, POST, Upload

TICKS = [(float(number), b"data: %d\n\n" % number) for number in range(1, 9)]
WHOLE = [*TICKS, (9.0, End())]
SILENCE = Abort("abort_upstream", Peer.PROXY, Scope.STREAM, Manner.SILENCE)
CANCEL, FIN, RST = Ending("stream", code=0x8), Ending("fin"), Ending("rst")


def test_the_client_has_what_came_before_and_then_silence_and_the_upstream_is_told(play):
    played = play([AbortUpstream(at=Trigger(event=3), then=(RST,))], WHOLE)
    assert played.body == TICKS[:3]
    assert played.end == (3.0, SILENCE)
    assert (played.cancelled_at, played.cancel_cause, played.upstream_endings) == (3.0, "abort_upstream", (RST,))
    assert played.fired == [(3.0, "abort_upstream", "ended the upstream after event 3")]


def test_who_ends_the_client_at_the_same_moment_leaves_the_upstreams_ending_as_it_was(play):
    silence = Trigger(idle=5.0)
    both = [AbortUpstream(at=silence, then=(RST,)), Cut(at=silence, then=(RST,))]
    played = play(both, [*TICKS[:2], (60.0, End())])
    assert (played.cancelled_at, played.upstream_endings) == (7.0, (RST,))
    assert played.end == (7.0, Abort("cut", Peer.PROXY, Scope.CONNECTION, Manner.RESET))


@pytest.mark.parametrize(
    ("at", "when", "delivered"),
    [
        (None, 1.0, 0),
        (Trigger(bytes=20), 3.0, 20),
        (Trigger(chunk=2), 2.0, 18),
        (Trigger(time=4.5), 4.5, 36),
        (Trigger(match="5"), 5.0, 36),
        (Trigger(moment=Moment.HEADERS), 1.0, 0),
        (Trigger(moment=Moment.REQUEST), 0.0, 0),
    ],
)
def test_where(play, at, when, delivered):
    played = play([AbortUpstream(at=at)], WHOLE)
    assert (played.cancelled_at, len(played.data), played.end) == (when, delivered, (when, SILENCE))


def test_during_an_upload_the_rest_goes_nowhere(play):
    script = [(1.0, Upload(b"1234")), (3.0, Upload(b"567")), (4.0, Upload(End()))]
    played = play([AbortUpstream(at=Trigger(time=2.0))], script, request=POST)
    assert played.request[-1][0] == 1.0
    assert played.cancelled_at == 2.0


def test_for_the_hops_nearer_the_upstream_it_is_their_client_leaving(play):
    hops = [[ClientAbort(delay=2.0)], [AbortUpstream(at=Trigger(event=3), then=(RST,))]]
    played = play(hops, WHOLE)
    assert (played.end, played.cancelled_at, played.upstream_endings) == ((3.0, SILENCE), 5.0, (RST,))
    assert play([[ClientAbort(mode="ignore")], hops[1]], WHOLE).cancelled_at is None


def test_its_times_are_divided_by_the_speed(play):
    fast = Context(Random(0), GET, speed=2.0)
    assert play([AbortUpstream(at=Trigger(time=5.0))], [], context=fast).cancelled_at == 2.5


@pytest.mark.parametrize("at", [None, Trigger(event=3), Trigger(bytes=5), Trigger(time=0.25), Trigger(idle=50.0)])
def test_what_every_fault_stands(at):
    check_fault(AbortUpstream(at=at))


def test_a_place_that_does_not_come_is_neutral():
    check_fault(AbortUpstream(at=Trigger(event=1000)), neutral=True)


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("abort_upstream: clean", 21, "fin, rst or {stream: CODE}"),
        ("abort_upstream: {then: [fin, silence]}", 28, "fin, rst or {stream: CODE}"),
        ("abort_upstream: {then: {stream: NONSENSE}}", 37, "error code"),
        ("abort_upstream: {at: end}", 26, "done by itself"),
        ("abort_upstream: {at: after_end}", 26, "done by itself"),
        ("abort_upstream: {way: request}", 27, "expected response"),
        ("abort_upstream: {at: {event: 3}, for: 1s}", 38, "for"),
    ],
)
def test_a_mistake_has_its_place(refused, text, column, said):
    refused(text, column, said)


def test_what_can_be_written():
    text = "version: 1\nfaults:\n  - abort_upstream: rst\n  - abort_upstream: {at: {event: 3}}\n  - abort_upstream: {then: [{stream: CANCEL}, rst]}\n"
    [rule] = load(text).rules
    assert rule.faults == (
        AbortUpstream(then=(RST,)),
        AbortUpstream(at=Trigger(event=3), then=(CANCEL, FIN)),
        AbortUpstream(then=(CANCEL, RST)),
    )
