"""`resegment`: where the cuts lie, how far the pieces are apart, what is glued, and what cannot be cut."""

from random import Random

import pytest

from chaosproxy.chain.fault import Context
from chaosproxy.faults import Resegment
from chaosproxy.faults.resegmenting import GLUE_ROOM, ROOM
from chaosproxy.model.messages import Abort, Data, End, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Framing, Peer, Way
from chaosproxy.scenario.load import load
from chaosproxy.testing import check_fault
from chaosproxy.testing.play import GET, POST, SSE, Upload

TEN = b"0123456789"
ONE, TWO, THREE, FOUR = (b"data: %d\n\n" % number for number in range(1, 5))
CHARACTERS = "aé€\U0001f680z".encode()
LINES = ResponseHead(200, ((b"content-type", b"application/x-ndjson"),), framing=Framing.CHUNKED)
PLAIN = ResponseHead(200, ((b"content-type", b"text/plain"),), framing=Framing.CHUNKED)
CODED = ResponseHead(
    200, ((b"content-type", b"text/event-stream"), (b"content-encoding", b"gzip")), framing=Framing.CHUNKED
)


@pytest.mark.parametrize(
    ("spec", "script", "expected"),
    [
        # Every so many bytes, however they came; nothing waits until there are so many.
        (Resegment(bytes=4), [(1.0, TEN)], [(1.0, b"0123"), (1.01, b"4567"), (1.02, b"89")]),
        (Resegment(bytes=4), [(1.0, b"ab"), (2.0, b"cdef")], [(1.0, b"ab"), (2.0, b"cd"), (2.01, b"ef")]),
        (Resegment(bytes=4), [(1.0, [b"ab", b"cd", b"e"])], [(1.0, b"ab"), (1.0, b"cd"), (1.01, b"e")]),
        # The pause counts from when a piece left; what comes later has had it.
        (Resegment(bytes=4, pause=0.5), [(1.0, b"01234"), (2.0, b"5")], [(1.0, b"0123"), (1.5, b"4"), (2.0, b"5")]),
        (Resegment(bytes=4, pause=0.5), [(1.0, b"0123"), (1.2, b"4"), (1.4, b"5")], [(1.0, b"0123"), (1.5, b"4"), (1.5, b"5")]),
        (Resegment(bytes=4, pause=0.0), [(1.0, TEN)], [(1.0, b"0123"), (1.0, b"4567"), (1.0, b"89")]),
        # Records: behind every so many, and in the middle of each, whatever stands between them.
        (Resegment(events=1), [(1.0, ONE + TWO)], [(1.0, ONE), (1.01, TWO)]),
        (Resegment(events=2), [(1.0, ONE + TWO + THREE + FOUR[:3])], [(1.0, ONE + TWO), (1.01, THREE + FOUR[:3])]),
        (Resegment(split="event"), [(1.0, ONE), (2.0, TWO)], [(1.0, b"data"), (1.01, b": 1\n\n"), (2.0, b"data"), (2.01, b": 2\n\n")]),
        (Resegment(split="event"), [(1.0, b": a long comment\n\n" + ONE)], [(1.0, b": a long comment\n\ndata"), (1.01, b": 1\n\n")]),
        # What the sender has cut inside a record is cut: the rest of it may not catch up.
        (Resegment(split="event"), [(1.0, [ONE[:3], ONE[3:]])], [(1.0, ONE[:3]), (1.01, ONE[3:])]),
        # Characters of one byte, two, three and four; and one that comes in two pieces.
        (Resegment(split="utf8"), [(1.0, CHARACTERS)], [(1.0, b"a\xc3"), (1.01, b"\xa9\xe2"), (1.02, b"\x82\xac\xf0\x9f"), (1.03, b"\x9a\x80z")]),
        (Resegment(split="utf8"), [(1.0, [b"a\xf0", b"\x9f\x9a\x80"])], [(1.0, b"a\xf0"), (1.01, b"\x9f\x9a\x80")]),
        (Resegment(split="utf8"), [(1.0, b"ascii")], [(1.0, b"ascii")]),
        # Where nothing was cut nothing waits: `a` and what is behind it share their moment.
        (Resegment(split="utf8"), [(1.0, [b"a", b"b\xc3\xa9"])], [(1.0, b"a"), (1.0, b"b\xc3"), (1.01, b"\xa9")]),
        (Resegment(split="crlf"), [(1.0, [b"a", b"\r\nb\r\nc\r\nd"])], [(1.0, b"a"), (1.0, b"\r"), (1.01, b"\nb\r"), (1.02, b"\nc\r"), (1.03, b"\nd")]),
        # CR and LF; of a CR at the end nobody knows whether its LF follows.
        (Resegment(split="crlf"), [(1.0, b"data: 1\r\n\r\nd\n")], [(1.0, b"data: 1\r"), (1.01, b"\n\r"), (1.02, b"\nd\n")]),
        (Resegment(split="crlf"), [(1.0, [b"a\r", b"\nb"])], [(1.0, b"a\r"), (1.01, b"\nb")]),
        # So many records as one piece; those that are left at the end too.
        (Resegment(glue=2), [(1.0, ONE), (2.0, TWO), (3.0, THREE), (4.0, End())], [(2.0, ONE + TWO), (4.0, THREE)]),
        (Resegment(glue=2), [(1.0, ONE + TWO + THREE + FOUR)], [(1.0, ONE + TWO), (1.01, THREE + FOUR)]),
        (Resegment(glue=2), [(1.0, [ONE[:3], ONE[3:] + TWO[:4], TWO[4:]])], [(1.0, ONE + TWO)]),
        (Resegment(glue=2), [(1.0, ONE), (2.0, Abort("upstream:fin", Peer.UPSTREAM))], [(2.0, ONE)]),
    ],
)  # fmt: skip
def test_what_leaves_when(play, spec, script, expected):
    played = play([spec], script)
    assert played.body == expected
    assert bool(played.fired) is (expected != [(1.0, b"ascii")])


def test_lines_are_records_too(play):
    played = play([Resegment(glue=2)], [(1.0, b'{"n":1}\n'), (2.0, b'{"n":2}\n')], head=LINES)
    assert played.body == [(2.0, b'{"n":1}\n{"n":2}\n')]
    assert play([Resegment(split="event")], [(1.0, b'{"n":1}\n')], head=LINES).body == [
        (1.0, b'{"n"'),
        (1.01, b":1}\n"),
    ]


def test_random_pieces_follow_from_the_seed_and_not_from_the_reads(play):
    whole = b"0123456789" * 30
    in_one = play([Resegment(split="random", bytes=7)], [(1.0, whole), (1.0, End())])
    sizes = [len(piece) for _, piece in in_one.body]
    assert in_one.data == whole
    assert (min(sizes), max(sizes)) == (1, 7)
    single = [(1.0, [whole[at : at + 1] for at in range(len(whole))]), (1.0, End())]
    cuts = {round(time, 6) for time, _ in play([Resegment(split="random", bytes=7)], single).body}
    assert len(cuts) == len(sizes)
    other = play([Resegment(split="random", bytes=7)], [(1.0, whole), (1.0, End())], seed=1)
    assert [len(piece) for _, piece in other.body] != sizes
    assert max(len(piece) for _, piece in play([Resegment(split="random")], [(1.0, whole)]).body) == 16


@pytest.mark.parametrize("behind", [Trailers(((b"a", b"b"),)), End(), Abort("upstream:fin", Peer.UPSTREAM)])
def test_the_head_waits_for_nobody_and_what_is_behind_keeps_its_place(play, behind):
    played = play([Resegment(bytes=5, pause=1.0)], [(1.0, SSE), (1.0, TEN), (1.0, behind)])
    assert played.head[0] == 1.0
    assert played.out[-2:] == [(2.0, Data(b"56789")), (2.0, behind)]


def test_it_says_once_where_it_cuts_and_only_if_it_has(play):
    assert play([Resegment(bytes=4)], [(1.0, TEN)]).fired == [(1.0, "resegment", "cut behind every 4 bytes")]
    assert play([Resegment(events=1)], [(1.0, ONE), (2.0, TWO)]).fired == []
    assert play([Resegment(events=1)], [(1.0, ONE + TWO)]).fired == [(1.0, "resegment", "cut behind every 1 event")]
    assert play([Resegment(glue=2)], [(1.0, ONE), (2.0, TWO)]).fired == [(2.0, "resegment", "glued 2 events")]
    assert play([Resegment(split="crlf")], [(1.0, TEN)]).not_fired == [("resegment", "not reached")]


def test_the_room_is_bounded_and_then_the_sender_waits(play):
    block = b"x" * 4096
    played = play([Resegment(bytes=4096, pause=1.0)], [(1.0, block) for _ in range(64)], until=1.5)
    assert played.admitted == ROOM + 4096  # the one that has left, and what waits
    assert play([Resegment(bytes=4096, pause=1.0)], [(1.0, block) for _ in range(64)]).data == block * 64


def test_what_is_too_much_to_be_glued_leaves_as_it_is(play):
    block = b"x" * 65536
    played = play([Resegment(glue=2)], [*((1.0, block) for _ in range(20)), (2.0, End())])
    assert played.body == [(1.0, b"x" * GLUE_ROOM), (2.0, b"x" * 65536 * 4)]


def test_a_client_that_leaves_ends_it(play):
    played = play([Resegment(bytes=1, pause=1.0)], [(1.0, TEN), (2.5, "hangup"), (3.0, TEN)])
    assert (played.data, played.cancelled_at) == (b"01", 2.5)


@pytest.mark.parametrize(("head", "reason"), [(PLAIN, "no records"), (CODED, "coded body")])
@pytest.mark.parametrize("spec", [Resegment(events=1), Resegment(glue=2), Resegment(split="event")])
def test_events_need_records(play, spec, head, reason):
    played = play([spec], [(1.0, ONE + TWO)], head=head)
    assert played.body == [(1.0, ONE + TWO)]
    assert played.not_fired == [("resegment", reason)]


def test_an_upload_is_cut_and_the_answer_is_not(play):
    script = [(1.0, Upload(b"abc")), (1.0, Upload(End())), (1.5, TEN), (2.0, End())]
    played = play([Resegment(bytes=2, pause=1.0, way=Way.REQUEST)], script, request=POST)
    assert played.request[1:] == [(1.0, Data(b"ab", whole=False)), (2.0, Data(b"c")), (2.0, End())]
    assert played.body == [(1.5, TEN)]


def test_speed_divides_the_pause(play):
    fast = Context(Random(0), GET, speed=10.0)
    assert play([Resegment(bytes=5, pause=1.0)], [(1.0, TEN)], context=fast).body == [(1.0, b"01234"), (1.1, b"56789")]
    usual = play([Resegment(bytes=5)], [(1.0, TEN)], context=fast).body
    assert usual == [(1.0, b"01234"), (1.01, b"56789")], "a kernel is no faster for it"


@pytest.mark.parametrize(
    "spec",
    [
        Resegment(bytes=3),
        Resegment(bytes=7, pause=0.0),
        Resegment(events=1),
        Resegment(glue=3),
        Resegment(split="utf8"),
        Resegment(split="crlf"),
        Resegment(split="event"),
        Resegment(split="random"),
        Resegment(split="random", bytes=3),
        Resegment(split="last_chunk"),
        Resegment(bytes=2, way=Way.REQUEST),
    ],
)
def test_what_every_fault_stands(spec):
    check_fault(spec)


@pytest.mark.parametrize(
    ("text", "line", "column", "said"),
    [
        ("resegment: {}", 3, 16, "needs one of bytes, events, glue, split"),
        ("resegment: {pause: 1s}", 3, 16, "needs one of bytes, events, glue, split"),
        ("resegment: {bytes: 1, events: 1}", 3, 16, "needs one of"),
        ("resegment: {bytes: 1, split: utf8}", 3, 16, "`split: random` may have bytes"),
        ("resegment: 0", 3, 16, "at least 1 byte"),
        ("resegment: 1s", 3, 16, "a size"),
        ("resegment: {events: 0}", 3, 25, "1 or more"),
        ("resegment: {glue: 1}", 3, 23, "2 or more"),
        ("resegment: {split: utf-8}", 3, 24, "did you mean 'utf8'"),
        ("resegment: {split: crlf, pause: 5}", 3, 37, "duration"),
        ("resegment: {split: crlf, pause: forever}", 3, 37, "a stall"),
        ("resegment: {split: crlf, at: body}", 3, 30, "at"),
    ],
)
def test_a_mistake_has_its_place(refused, text, line, column, said):
    refused(text, column, said, line)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("resegment: {events: 1}", "no records"),
        ("resegment: {glue: 2}", "no records"),
        ("resegment: {split: event}", "no records"),
        ("resegment: {split: last_chunk}", "no chunks"),
    ],
)
def test_raw_bytes_have_neither_records_nor_chunks(refused_below, fault, said):
    refused_below(fault, said)


def test_what_can_be_written():
    text = (
        "version: 1\nfaults:\n  - resegment: 7\n  - resegment: {split: random, bytes: 1k, pause: 5ms, way: request}\n"
    )
    [rule] = load(text).rules
    assert rule.faults == (
        Resegment(bytes=7),
        Resegment(split="random", bytes=1024, pause=0.005, way=Way.REQUEST),
    )
    [entry] = load("version: 1\nconnections:\n  - faults:\n      - resegment: {split: crlf}\n").connections
    assert entry.faults == (Resegment(split="crlf"),)
