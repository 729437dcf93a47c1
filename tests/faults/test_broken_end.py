"""`broken_end`: what becomes of an answer that broke off, when, and of which."""

from random import Random

import pytest

from chaosproxy.chain.endings import ABORT, CLEAN, Ending
from chaosproxy.chain.fault import Condition, Context
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import BrokenEnd, Buffer, ClientAbort, Cut, Timeout
from chaosproxy.model.codes import CANCEL, INTERNAL_ERROR, PROTOCOL_ERROR
from chaosproxy.model.messages import Abort, End, ResponseHead
from chaosproxy.model.vocabulary import Framing, Manner, Peer, Scope
from chaosproxy.scenario.load import load
from chaosproxy.testing import check_fault
from chaosproxy.testing.play import GET, SSE

END_STREAM, RST = Ending("end_stream"), Ending("rst")
H2 = Context(Random(0), GET, protocol="h2")
LENGTH = ResponseHead(
    200, ((b"content-type", b"text/event-stream"), (b"content-length", b"99")), framing=Framing.LENGTH
)
EVENT = b"data: 1\n\n"
STREAM = [(1.0, EVENT), (2.0, EVENT)]
FIN = Abort("upstream:fin", Peer.UPSTREAM, Scope.STREAM, Manner.FIN)
RESET = Abort("upstream:rst", Peer.UPSTREAM, Scope.CONNECTION, Manner.RESET)
STREAM_RESET = Abort("upstream:stream:CANCEL", Peer.UPSTREAM, code=CANCEL)
GOAWAY = Abort("upstream:goaway:NO_ERROR", Peer.UPSTREAM, Scope.CONNECTION, Manner.GOAWAY)
SILENCE = Abort("stall", Peer.PROXY, manner=Manner.SILENCE)
MALFORMED = Abort("malformed", Peer.UPSTREAM)


def aborted(cause, code=INTERNAL_ERROR):
    """How `abort` and `{stream: CODE}` look: a FIN on HTTP/1."""
    return Abort(cause, Peer.PROXY, Scope.STREAM, Manner.RESET, code)


@pytest.mark.parametrize(
    ("then", "head", "context", "end"),
    [
        # A clean end hides it, where it can be one.
        ((CLEAN,), SSE, None, End()),
        ((CLEAN,), SSE, H2, End()),
        ((CLEAN,), LENGTH, None, aborted("upstream:fin")),
        ((CLEAN, RST), LENGTH, None, Abort("upstream:fin", Peer.PROXY, Scope.CONNECTION, Manner.RESET)),
        # Over HTTP/2 alone, and there whatever the length.
        ((END_STREAM, ABORT), SSE, None, aborted("upstream:fin")),
        ((END_STREAM, ABORT), SSE, H2, End()),
        ((END_STREAM, ABORT), LENGTH, None, aborted("upstream:fin")),
        ((END_STREAM, ABORT), LENGTH, H2, End()),
        ((Ending("stream", code=PROTOCOL_ERROR),), SSE, H2, aborted("upstream:fin", PROTOCOL_ERROR)),
    ],
)
def test_what_becomes_of_it(play, then, head, context, end):
    played = play([BrokenEnd(then=then)], [*STREAM, (3.0, FIN)], head=head, context=context)
    assert (played.data, played.end) == (2 * EVENT, (3.0, end))
    assert played.end_cause == ("upstream:fin" if end == End() else None)
    assert [(time, fault) for time, fault, _ in played.fired] == [(3.0, "broken_end")]


BROKEN = {"fin": FIN, "rst": RESET, "stream": STREAM_RESET, "goaway": GOAWAY, "malformed": MALFORMED}


@pytest.mark.parametrize(
    ("when", "meant"),
    [("any", set(BROKEN)), ("rst", {"rst"}), ("fin", {"fin", "stream", "goaway", "malformed"})],
)
def test_of_which(play, when, meant):
    hidden = set()
    for name, broken in BROKEN.items():
        played = play([BrokenEnd(then=(CLEAN,), when=when)], [*STREAM, (3.0, broken)])
        if played.end == (3.0, End()):
            hidden.add(name)
        else:
            assert (played.end, played.not_fired) == ((3.0, broken), [("broken_end", "not reached")])
    assert hidden == meant


def test_of_a_silence_nothing_becomes(play):
    assert play([BrokenEnd(then=(CLEAN,))], [*STREAM, (3.0, SILENCE)]).end == (3.0, SILENCE)


def test_a_whole_answer_is_left_alone(play):
    played = play([BrokenEnd(then=(ABORT,), delay=1.0)], [*STREAM, (3.0, End())])
    assert (played.out, played.fired) == (play([], [*STREAM, (3.0, End())]).out, [])


@pytest.mark.parametrize("when", ["any", "fin"])
def test_what_a_machine_nearer_the_upstream_has_broken_off_is_no_different(play, when):
    for inner in (Cut(at=Trigger(event=2)), Timeout(idle=1.0)):
        played = play([[inner], [BrokenEnd(then=(CLEAN,), when=when)]], [*STREAM, (9.0, End())])
        assert isinstance(played.end[1], End)
        assert played.cancelled_at == played.end[0], "the upstream hears of the cut at once, and of nothing else"
        assert played.end_cause in ("cut", "timeout:idle")


# ---- before the head


def test_before_the_head_there_is_nothing_to_end_cleanly(play):
    played = play([BrokenEnd(then=(CLEAN, RST), delay=1.0)], [(3.0, FIN)])
    assert played.out == [(3.0, FIN)], "whoever stands behind answers, as without it"


def test_before_the_head_it_may_answer(play):
    played = play([BrokenEnd(then=(Ending("status", status=503), ABORT), delay=1.0)], [(3.0, FIN)])
    assert (played.head[0], played.head[1].status, played.end) == (3.0, 503, (3.0, End()))
    assert played.fired == [(3.0, "broken_end", "503 for upstream:fin")]


def test_behind_the_head_an_answer_is_not_possible(play):
    then = (Ending("status", status=503), CLEAN)
    assert play([BrokenEnd(then=then)], [*STREAM, (3.0, FIN)]).end == (3.0, End())


# ---- later


def test_the_end_as_it_was_later(play):
    played = play([BrokenEnd(delay=1.5)], [*STREAM, (3.0, FIN)])
    assert (played.data, played.end) == (2 * EVENT, (4.5, FIN))
    assert played.fired == [(3.0, "broken_end", "upstream:fin passed on, 1.5s later")]


def test_another_end_later(play):
    played = play([BrokenEnd(then=(CLEAN,), delay=1.5)], [*STREAM, (3.0, RESET)])
    assert (played.data, played.end, played.cancelled_at) == (2 * EVENT, (4.5, End()), None)
    assert played.fired == [(4.5, "broken_end", "clean for upstream:rst, 1.5s later")]


def test_the_upstream_of_a_time_limit_is_not_kept_waiting(play):
    """Envoy's `stream_idle_timeout`: the upstream is ended at once, an HTTP/1 client a second later."""
    hop = [Timeout(idle=2.0), BrokenEnd(delay=1.0, if_=Condition(protocol="http/1.1"))]
    played = play(hop, STREAM)
    assert (played.cancelled_at, played.end[0]) == (4.0, 5.0)
    played = play(hop, STREAM, context=H2)
    assert (played.cancelled_at, played.end[0]) == (4.0, 4.0)


@pytest.mark.parametrize("then", [(), (CLEAN,)])
def test_a_client_that_leaves_meanwhile_hears_nothing_more(play, then):
    played = play([BrokenEnd(then=then, delay=1.5)], [*STREAM, (3.0, FIN), (3.5, "hangup")])
    assert (played.end, played.bytes_out) == (None, len(2 * EVENT))


def test_the_delay_is_divided_by_the_speed(play):
    fast = Context(Random(0), GET, speed=3.0)
    assert play([BrokenEnd(delay=1.5)], [*STREAM, (3.0, FIN)], context=fast).end[0] == 3.5


# ---- beside others


def test_what_is_held_nearer_the_upstream_comes_first(play):
    played = play([Buffer(bytes=4096), BrokenEnd(then=(CLEAN,))], [*STREAM, (3.0, FIN)])
    assert played.out[-2:] == [(3.0, played.out[-2][1]), (3.0, End())]
    assert played.data == 2 * EVENT


def test_nobody_nearer_the_upstream_is_told_of_a_leaving(play):
    played = play([[ClientAbort(mode="on_next_write")], [BrokenEnd(then=(CLEAN,))]], [*STREAM, (3.0, FIN)])
    assert played.not_fired == [("client_abort", "not reached")]
    assert (played.end, played.cancelled_at) == ((3.0, End()), None)


def test_the_nearest_to_the_upstream_decides(play):
    hops = [[BrokenEnd(then=(CLEAN,))], [BrokenEnd(then=(RST,))]]
    assert play(hops, [*STREAM, (3.0, FIN)]).end == (3.0, End())


# ---- what it stands, and how it is written


@pytest.mark.parametrize(
    "spec",
    [
        BrokenEnd(then=(CLEAN,)),
        BrokenEnd(then=(Ending("status", status=503), RST), delay=0.1),
        BrokenEnd(delay=0.1),
        BrokenEnd(then=(Ending("silence"),)),
        BrokenEnd(then=(CLEAN,), if_=Condition(status=200)),
    ],
)
def test_what_every_fault_stands(spec):
    check_fault(spec)


def test_of_what_never_comes_it_makes_nothing():
    check_fault(BrokenEnd(then=(CLEAN,), when="rst"), neutral=True)


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("broken_end: {}", 17, "needs one of then, delay"),
        ("broken_end: {when: rst}", 17, "needs one of then, delay"),
        ("broken_end: {then: clean, when: short}", 37, "any, fin, rst"),
        ("broken_end: {delay: 1}", 25, "a number without a unit is no duration"),
        ("broken_end: cleen", 17, "did you mean 'clean'?"),
        ("broken_end: {then: clean, way: request}", 36, "response"),
        ("broken_end: {then: clean, at: end}", 31, "unknown key 'at'"),
        ("broken_end: {then: {goaway: NO_ERROR, last: current}}", 24, "cannot live on behind a GOAWAY"),
        ("broken_end: {then: [fin, {goaway: NO_ERROR, last: max}]}", 24, "cannot live on behind a GOAWAY"),
    ],
)
def test_a_mistake_has_its_place(refused, text, column, said):
    refused(text, column, said)


def test_what_can_be_written():
    text = "version: 1\nfaults:\n  - broken_end: clean\n  - broken_end: {then: [{status: 503}, end_stream], when: rst, delay: 1s}\n"
    [rule] = load(text).rules
    then = (Ending("status", status=503), END_STREAM)
    assert rule.faults == (BrokenEnd(then=(CLEAN,)), BrokenEnd(then=then, when="rst", delay=1.0))
