"""`slow_reader`: what is read when, and what waits with the upstream. Its sockets: `tests/loopback/test_slow_reader.py`."""

from random import Random

import pytest

from chaosproxy.chain.chain import Chain
from chaosproxy.chain.fault import Condition, Context
from chaosproxy.chain.placed import Placed
from chaosproxy.faults import Buffer, Latency, SlowReader, Stall, Timeout
from chaosproxy.model.messages import Abort, Data, End, Trailers
from chaosproxy.model.vocabulary import Peer
from chaosproxy.scenario.load import load
from chaosproxy.testing import check_fault
from chaosproxy.testing.play import GET

TEN = b"0123456789"
ENDLESS = float("inf")


@pytest.mark.parametrize(
    ("spec", "script", "expected", "detail"),
    [
        # A rate, in twenty turns a second; less than a byte in such a turn is a byte now and then.
        (SlowReader(rate=100), [(1.0, TEN + b"ab")], [(1.0, b"01234"), (1.05, b"56789"), (1.1, b"ab")], "reads 100B/s"),
        (SlowReader(rate=2), [(1.0, b"abc")], [(1.0, b"a"), (1.5, b"b"), (2.0, b"c")], "reads 2B/s"),
        (SlowReader(rate=2048), [(1.0, b"x" * 150)], [(1.0, b"x" * 102), (1.049805, b"x" * 48)], "reads 2KiB/s"),
        # Reads of so much at most, so far apart; what has come between them is read together.
        (SlowReader(pause=1.0, window=4), [(1.0, TEN)], [(1.0, b"0123"), (2.0, b"4567"), (3.0, b"89")], "reads 4 every 1s"),
        (SlowReader(pause=1.0, window=4), [(1.0, b"0123"), (1.5, b"4"), (1.6, b"5")], [(1.0, b"0123"), (2.0, b"4"), (2.0, b"5")], "reads 4 every 1s"),
        (SlowReader(pause=ENDLESS, window=4), [(1.0, TEN), (9.0, TEN)], [(1.0, b"0123")], "reads 4 and no more"),
        # A rate never takes more at once than there is a window for.
        (SlowReader(rate=100, window=2), [(1.0, b"abcd")], [(1.0, b"ab"), (1.02, b"cd")], "reads 100B/s"),
    ],
)  # fmt: skip
def test_what_is_read_when(play, spec, script, expected, detail):
    played = play([spec], script, until=100.0)
    assert [(round(time, 6), data) for time, data in played.body] == expected
    assert [said for _, _, said in played.fired] == [detail]


def test_a_stream_that_is_slower_is_not_touched(play):
    played = play([SlowReader(rate=1000)], [(1.0, TEN), (2.0, TEN), (2.0, End())])
    assert played.body == [(1.0, TEN), (2.0, TEN)]
    assert played.not_fired == [("slow_reader", "not reached")]


def test_the_upstream_waits_once_the_window_is_full(play):
    pieces = [(1.0, b"x" * 10) for _ in range(50)]
    for window, admitted in ((20, 40), (100, 200)):
        assert play([SlowReader(pause=ENDLESS, window=window)], pieces, until=5.0).admitted == admitted
    # A machine between the two reads for itself, and it is that machine which waits.
    assert play([Latency(delay=0.1), SlowReader(pause=ENDLESS, window=20)], pieces, until=5.0).admitted == 500


@pytest.mark.parametrize("behind", [Trailers(((b"a", b"b"),)), End(), Abort("upstream:fin", Peer.UPSTREAM)])
def test_what_is_behind_keeps_its_place(play, behind):
    played = play([SlowReader(pause=1.0, window=5)], [(1.0, TEN), (1.0, behind)])
    assert played.out[-2:] == [(2.0, Data(b"56789")), (2.0, behind)]


def test_a_client_that_leaves_is_heard_at_once(play):
    played = play([SlowReader(pause=ENDLESS, window=1)], [(1.0, TEN), (2.5, "hangup")])
    assert (played.data, played.cancelled_at) == (b"0", 2.5)


def test_for_a_machine_nearer_the_client_it_is_a_silence(play):
    played = play([[SlowReader(pause=60.0, window=4)], [Timeout(idle=5.0)]], [(1.0, TEN), (2.0, End())])
    assert (played.data, played.end[0], played.cancel_cause) == (b"0123", 6.0, "timeout:idle")


def test_speed_multiplies_the_rate(play):
    fast = Context(Random(0), GET, speed=10.0)
    body = play([SlowReader(rate=100)], [(1.0, TEN)], context=fast).body
    assert [(round(time, 6), data) for time, data in body] == [(1.0, b"01234"), (1.005, b"56789")]


def test_the_socket_is_narrow_only_for_the_first_that_makes_the_upstream_wait():
    def narrow(*specs):
        context = Context(Random(0), GET)
        return Chain([Placed(0, None, spec, context) for spec in specs], began=0.0).narrow

    slow = SlowReader(rate=1, window=99)
    assert narrow(slow) == narrow(Timeout(idle=1.0), slow) == narrow(slow, Buffer(bytes=5)) == 99
    assert narrow(Stall(for_=1.0), slow) == 99  # it has no room while it rests
    assert (
        narrow(Buffer(bytes=5), slow) == narrow(Latency(delay=1.0), slow) == narrow(Timeout(idle=1.0)) == narrow() == 0
    )
    never = SlowReader(rate=1, if_=Condition(protocol="h2"))
    assert narrow(never) == 0


@pytest.mark.parametrize("spec", [SlowReader(rate=50), SlowReader(pause=0.3, window=7), SlowReader(rate=7, window=1)])
def test_what_every_fault_stands(spec):
    check_fault(spec)


def test_without_a_pause_it_is_neutral():
    check_fault(SlowReader(pause=0.0), neutral=True)


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("slow_reader: {}", 18, "needs one of rate and pause"),
        ("slow_reader: {rate: 1KiB/s, pause: 1s}", 18, "needs one of rate and pause"),
        ("slow_reader: {window: 1k}", 18, "needs one of rate and pause"),
        ("slow_reader: 0B/s", 18, "pause: forever"),
        ("slow_reader: 5", 18, "a rate"),
        ("slow_reader: {pause: 1}", 26, "a duration"),
        ("slow_reader: {pause: 1s, window: 0}", 38, "at least 1"),
        ("slow_reader: {pause: 1s, way: request}", 35, "response"),
        ("slow_reader: {pause: 1s, at: body}", 30, "unknown key 'at'"),
    ],
)
def test_a_mistake_has_its_place(refused, text, column, said):
    refused(text, column, said)


def test_what_can_be_written():
    [rule] = load(
        "version: 1\nfaults:\n  - slow_reader: 8KiB/s\n  - slow_reader: {pause: forever, window: 4KiB}\n"
    ).rules
    assert rule.faults == (SlowReader(rate=8192.0), SlowReader(pause=ENDLESS, window=4096))
