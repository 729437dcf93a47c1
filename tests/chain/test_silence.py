"""A machine that falls silent tells nobody: those nearer the client live on, keep what they hold, and lose patience."""

import pytest

from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Condition
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import AbortUpstream, Buffer, Cut, Headers, HoldHead, Timeout
from chaosproxy.model.messages import Abort, End, ResponseHead
from chaosproxy.model.vocabulary import Manner, Moment

TICKS = [(float(number), b"data: %d\n\n" % number) for number in range(1, 6)]
WHOLE = [*TICKS, (9.0, End())]
SILENT = Cut(at=Trigger(event=2), then=(Ending("silence"),))
BEFORE_THE_HEAD = AbortUpstream(at=Trigger(moment=Moment.REQUEST_END))


def of(terminal):
    return (terminal.cause, terminal.manner)


def test_an_idle_timeout_nearer_the_client_runs_from_the_last_byte(play):
    played = play([[SILENT], [Timeout(idle=3.0)]], WHOLE)
    assert played.data == b"data: 1\n\ndata: 2\n\n"
    assert (played.end[0], *of(played.end[1])) == (5.0, "timeout:idle", Manner.RESET)
    assert (played.cancelled_at, played.cancel_cause) == (2.0, "cut")
    assert [fault for _, fault, _ in played.fired] == ["cut", "timeout"]


@pytest.mark.parametrize("limit", [{"first_byte": 3.0}, {"idle": 3.0}, {"total": 3.0}], ids=str)
def test_a_gateway_whose_worker_has_hung_up_answers_504(play, limit):
    played = play([[BEFORE_THE_HEAD], [Timeout(**limit)]], WHOLE)
    assert [(time, type(event)) for time, event in played.out] == [(3.0, ResponseHead), (3.0, End)]
    assert played.head[1].status == 504
    assert played.cancelled_at == 0.0


def test_nearer_the_upstream_it_is_the_client_that_has_left(play):
    played = play([[Timeout(idle=3.0)], [SILENT]], WHOLE)
    assert (played.end[0], *of(played.end[1])) == (2.0, "cut", Manner.SILENCE)
    assert [fault for _, fault, _ in played.fired] == ["cut"]


def test_what_is_held_nearer_the_client_stays_there(play):
    assert play([[SILENT], [Buffer(events=3)]], WHOLE).body == []
    assert play([[SILENT], [Buffer(events=9, every=3.0)]], WHOLE).body == [(4.0, b"data: 1\n\ndata: 2\n\n")]
    played = play([[SILENT], [HoldHead(until="end")]], WHOLE)
    assert played.out == []
    assert played.not_fired == [("hold_head", "not reached")]


def test_the_client_leaves_and_all_is_over(play):
    played = play([[SILENT], [Timeout(idle=30.0)]], [*TICKS, (6.0, "hangup")])
    assert played.end is None
    assert [fault for _, fault, _ in played.fired] == ["cut"]


def test_machines_that_do_not_apply_change_nothing(play):
    other = Headers(add=((b"x", b"y"),), if_=Condition(status=500))
    assert play([[SILENT], [other]], WHOLE).end == (2.0, play([SILENT], WHOLE).end[1])
    assert isinstance(play([SILENT], WHOLE).end[1], Abort)
