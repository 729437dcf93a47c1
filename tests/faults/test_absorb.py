"""`absorb`: everything passes at once, and what the client does not take is taken from the upstream, up to its room."""

from chaosproxy.faults import Absorb, Timeout
from chaosproxy.model.messages import Abort, End, ResponseHead
from chaosproxy.model.vocabulary import Framing, Peer, Way
from chaosproxy.testing import check_fault
from chaosproxy.testing.play import POST, Upload

PLAIN = ResponseHead(200, ((b"content-type", b"text/plain"),), framing=Framing.CHUNKED)
PIECES = [(float(number), b"0123456789") for number in range(1, 9)]
WHOLE = [*PIECES, (9.0, End())]


def test_who_reads_has_everything_at_once(play):
    played = play([Absorb()], WHOLE, head=PLAIN)
    assert (played.body, played.end) == (PIECES, (9.0, End()))
    assert played.not_fired == [("absorb", "not reached")]


def test_what_is_not_read_is_taken_all_the_same(play):
    played = play([Absorb()], [*WHOLE, (20.0, 1000)], head=PLAIN, room=0, window=10)
    assert played.admitted == 80
    assert (played.data, played.end) == (b"0123456789" * 8, (20.0, End()))
    assert played.fired == [(1.0, "absorb", "took from the upstream what the client did not read")]
    without = play([], WHOLE, head=PLAIN, room=0, window=10)
    assert without.admitted == 10


def test_beyond_its_room_the_upstream_waits(play):
    played = play([Absorb(bytes=30)], [*WHOLE, (20.0, 10)], head=PLAIN, room=0, window=10)
    assert (played.admitted, len(played.data)) == (50, 10)


def test_a_break_comes_behind_what_waits(play):
    broken = Abort("upstream:fin", Peer.UPSTREAM)
    played = play([Absorb()], [*PIECES, (9.0, broken), (20.0, 1000)], head=PLAIN, room=0, window=10)
    assert (len(played.data), played.end) == (80, (20.0, broken))


def test_nothing_nearer_the_upstream_is_blocked_by_its_client(play):
    played = play([Timeout(idle=3.0), Absorb()], PIECES, head=PLAIN, room=0, window=10)
    assert played.fired[0] == (11.0, "timeout", "abort after 3s (idle)")


def test_a_limit_for_the_client_ends_it(play):
    played = play([Absorb(), Timeout(blocked=4.0)], WHOLE, head=PLAIN, room=0, window=10)
    assert (5.0, "timeout", "abort after 4s (blocked)") in played.fired
    assert (played.end[0], played.cancelled_at) == (5.0, 5.0)


def test_it_takes_an_upload_just_so(play):
    script = [(float(number), Upload(b"0123456789")) for number in range(1, 4)]
    played = play([Absorb(way=Way.REQUEST)], [*script, (4.0, Upload(End()))], request=POST)
    assert len(played.request) == 5


def test_what_every_fault_stands(play):
    check_fault(Absorb(bytes=100))
    check_fault(Absorb(bytes=0), neutral=True)


def test_a_mistake_has_its_place(refused):
    refused("absorb: 5s", 13, "a size")
    refused("absorb: {bites: 1k}", 14, "did you mean 'bytes'")
