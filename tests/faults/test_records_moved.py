"""`drop`, `duplicate` and `reorder`: which records go, come again or change places; that nothing else is changed."""

import pytest

from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Condition
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import Cut, Drop, Duplicate, Reorder
from chaosproxy.model.messages import Abort, Data, End, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Framing, Peer, Way
from chaosproxy.testing import check_fault
from chaosproxy.testing.play import POST, SSE, Upload, play


def head(kind, *more):
    return ResponseHead(200, ((b"content-type", kind), *more), framing=Framing.CHUNKED)


LINES, GRPC, GRPC_WEB = head(b"application/x-ndjson"), head(b"application/grpc"), head(b"application/grpc-web+proto")
PLAIN, CODED = head(b"text/plain"), head(b"text/event-stream", (b"content-encoding", b"gzip"))
STATUS = Trailers(((b"grpc-status", b"0"),))
WRITTEN = {
    "events": (SSE, lambda n: b'id: %d\ndata: {"n":%d}\n\n' % (n, n)),
    "events of CRLF": (SSE, lambda n: b'data: {"n":%d}\r\n\r\n' % n),
    "lines": (LINES, lambda n: b'{"n":%d}\n' % n),
    "messages": (GRPC, lambda n: b"\0\0\0\0\7" + b'{"n":%d}' % n),
}
"""A record with its number, by the kind of body."""

CASES = {
    "drop": (Drop(at=Trigger(event=3)), [1, 2, 4, 5], ["dropped event 3"]),
    "drop the first": (Drop(at=Trigger(event=1)), [2, 3, 4, 5], ["dropped event 1"]),
    "drop the last": (Drop(at=Trigger(event=5)), [1, 2, 3, 4], ["dropped event 5"]),
    "count": (Drop(at=Trigger(event=2), count=3), [1, 5], ["dropped event 2", "dropped event 3", "dropped event 4"]),
    "more than there are": (Drop(at=Trigger(event=5), count=3), [1, 2, 3, 4], ["dropped event 5"]),
    "drop again and again": (
        Drop(at=Trigger(event=1, every=2)), [2, 4], ["dropped event 1", "dropped event 3", "dropped event 5"],
    ),
    "drop times": (Drop(at=Trigger(event=1, every=2, times=2)), [2, 4, 5], ["dropped event 1", "dropped event 3"]),
    "drop what holds something": (Drop(at=Trigger(match='"n":4')), [1, 2, 3, 5], ["dropped event 4"]),
    "duplicate": (Duplicate(at=Trigger(event=3)), [1, 2, 3, 3, 4, 5], ["repeated event 3"]),
    "copies": (Duplicate(at=Trigger(event=1), copies=2), [1, 1, 1, 2, 3, 4, 5], ["repeated event 1"]),
    "duplicate later": (
        Duplicate(at=Trigger(event=2), later=2), [1, 2, 3, 4, 2, 5], ["repeated event 2 behind event 4"],
    ),
    "copies later": (
        Duplicate(at=Trigger(event=2), copies=2, later=1), [1, 2, 3, 2, 2, 4, 5], ["repeated event 2 behind event 3"],
    ),
    "duplicate where fewer follow": (
        Duplicate(at=Trigger(event=4), later=2), [1, 2, 3, 4, 5, 4], ["repeated event 4 behind all the others"],
    ),
    "duplicate the last later": (
        Duplicate(at=Trigger(event=5), later=2), [1, 2, 3, 4, 5, 5], ["repeated event 5 behind all the others"],
    ),
    "duplicate each": (
        Duplicate(at=Trigger(event=1, every=1, times=2)), [1, 1, 2, 2, 3, 4, 5],
        ["repeated event 1", "repeated event 2"],
    ),
    "duplicate all": (Duplicate(at=Trigger(match="n", every=2)), [1, 1, 2, 3, 3, 4, 5, 5], [
        "repeated event 1", "repeated event 3", "repeated event 5",
    ]),
    "reorder": (Reorder(at=Trigger(event=2)), [1, 3, 2, 4, 5], ["moved event 2 behind event 3"]),
    "reorder far": (Reorder(at=Trigger(event=1), later=3), [2, 3, 4, 1, 5], ["moved event 1 behind event 4"]),
    "reorder to the end": (Reorder(at=Trigger(event=2), later=9), [1, 3, 4, 5, 2], ["moved event 2 behind all the others"]),
    "reorder pair by pair": (
        Reorder(at=Trigger(event=1, every=2)), [2, 1, 4, 3, 5],
        ["moved event 1 behind event 2", "moved event 3 behind event 4"],
    ),
    "one at a time": (
        Reorder(at=Trigger(event=1, every=1)), [2, 1, 4, 3, 5],
        ["moved event 1 behind event 2", "moved event 3 behind event 4"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("size", [1, 6, 17, 1000])
@pytest.mark.parametrize(("answer", "written"), WRITTEN.values(), ids=WRITTEN)
@pytest.mark.parametrize(("spec", "order", "done"), CASES.values(), ids=CASES)
def test_which_records_come_in_which_order(spec, order, done, answer, written, size):
    body = b"".join(map(written, range(1, 6)))
    pieces = [body[begin : begin + size] for begin in range(0, len(body), size)]
    played = play([spec], [*((1.0, piece) for piece in pieces), (2.0, End())], head=answer)
    assert played.data == b"".join(map(written, order))
    assert [detail for _, _, detail in played.fired] == done
    assert (played.records_in, played.records_out) == (5, len(order))


@pytest.mark.parametrize(
    "spec",
    [
        Drop(at=Trigger(event=3)),
        Drop(at=Trigger(json=(("n", 3),)), count=2),
        Drop(at=Trigger(bytes=20, every=20)),
        Drop(at=Trigger(time=0.25)),
        Drop(at=Trigger(chunk=2)),
        Drop(at=Trigger(event=2), way=Way.REQUEST),
        Duplicate(at=Trigger(event=3)),
        Duplicate(at=Trigger(event=2), copies=3, later=2),
        Duplicate(at=Trigger(chunk=2), later=1),
        Duplicate(at=Trigger(terminal="before")),
        Reorder(at=Trigger(event=3)),
        Reorder(at=Trigger(event=1, every=3), later=2),
        Reorder(at=Trigger(chunk=2)),
        Reorder(at=Trigger(event=1), way=Way.REQUEST),
    ],
    ids=repr,
)
def test_it_stands_every_script(spec):
    check_fault(spec)


@pytest.mark.parametrize("kind", [Drop, Duplicate, Reorder])
def test_one_that_is_never_reached_is_neutral(kind):
    check_fault(kind(at=Trigger(event=1000)), neutral=True)


EVENTS = [b"data: %d\n\n" % number for number in range(1, 6)]
PING = b": ping\n\n"


def timed(pieces):
    return [(float(number), piece) for number, piece in enumerate(pieces, 1)]


def test_all_before_it_is_on_time_and_in_its_own_pieces():
    script = timed([b"data: 1\n", b"\ndata", b": 2\n\nda", b"ta: 3\n", b"\nda", b"ta: 4\n\n"])
    assert play([Drop(at=Trigger(event=3))], script).body == [
        (1.0, b"data: 1\n"), (2.0, b"\ndata"), (3.0, b": 2\n\n"), (5.0, b"da"), (6.0, b"ta: 4\n\n"),
    ]  # fmt: skip


def test_a_comment_is_no_record_and_stays_where_it_is():
    script = timed([EVENTS[0], PING, EVENTS[1], PING, EVENTS[2], PING])
    assert play([Drop(at=Trigger(event=2), count=2)], script).body == [
        (1.0, EVENTS[0]), (2.0, PING), (4.0, PING), (6.0, PING),
    ]  # fmt: skip
    assert play([Reorder(at=Trigger(event=1))], script).body == [
        (2.0, PING), (3.0, EVENTS[1]), (3.0, EVENTS[0]), (4.0, PING), (5.0, EVENTS[2]), (6.0, PING),
    ]  # fmt: skip


def test_a_copy_is_a_piece_of_its_own():
    played = play([Duplicate(at=Trigger(event=2), copies=2)], [(1.0, b"".join(EVENTS[:3]))])
    assert played.body == [(1.0, EVENTS[0])] + [(1.0, EVENTS[1])] * 3 + [(1.0, EVENTS[2])]


def test_chunks_change_places_whatever_is_in_them():
    played = play([Reorder(at=Trigger(chunk=1))], [(1.0, [b"ab", b"c"]), (2.0, b"d"), (3.0, End())], head=PLAIN)
    assert played.body == [(1.0, b"c"), (1.0, b"ab"), (2.0, b"d")]
    played = play([Duplicate(at=Trigger(chunk=2), copies=2)], [(1.0, [b"ab", b"c"]), (3.0, End())], head=CODED)
    assert played.body == [(1.0, b"ab"), (1.0, b"c"), (1.0, b"c"), (1.0, b"c")]


def test_a_fault_nearer_the_client_counts_what_is_left():
    played = play([Drop(at=Trigger(event=1)), Cut(at=Trigger(event=2), then=(Ending("clean"),))], timed(EVENTS))
    assert played.data == b"".join(EVENTS[1:3])


@pytest.mark.parametrize(
    ("spec", "left"),
    [
        (Drop(at=Trigger(event=2)), b"a\n"),
        (Duplicate(at=Trigger(event=2)), b"a\nb\nb"),
        (Reorder(at=Trigger(event=1)), b"b\na"),
        (Reorder(at=Trigger(event=2)), b"a\nb"),
    ],
)
def test_a_last_line_without_its_line_feed(spec, left):
    played = play([spec], [(1.0, b"a\nb"), (2.0, End())], head=LINES)
    assert (played.data, played.records_out) == (left, left.count(b"\n") + (not left.endswith(b"\n")))


def test_what_is_on_its_way_leaves_in_front_of_an_abort():
    broken = Abort("upstream:fin", Peer.UPSTREAM)
    played = play([Reorder(at=Trigger(event=1), later=2)], [(1.0, EVENTS[0]), (2.0, EVENTS[1]), (3.0, broken)])
    assert (played.body, played.end) == ([(2.0, EVENTS[1]), (3.0, EVENTS[0])], (3.0, broken))


def test_of_lines_too():
    broken = Abort("upstream:fin", Peer.UPSTREAM)
    played = play([Reorder(at=Trigger(event=1), later=2)], [(1.0, b"a\nb"), (2.0, broken)], head=LINES)
    assert (played.data, played.records_out) == (b"a\nb", 1)


@pytest.mark.parametrize("where", ["before", "inside", "after"])
def test_the_terminal_record(where):
    done = b"data: [DONE]\n\n"
    script = [*timed(EVENTS[:2]), (3.0, done), (4.0, End())]
    assert play([Drop(at=Trigger(terminal=where))], script).data == b"".join(EVENTS[:2])
    assert play([Duplicate(at=Trigger(terminal=where))], script).data == b"".join(EVENTS[:2]) + done * 2


def test_the_trailers_of_grpc_are_its_terminal_record():
    script, at = [(1.0, b"\0\0\0\0\1x"), (2.0, STATUS), (2.0, End())], Trigger(terminal="before")
    played = play([Drop(at=at)], script, head=GRPC)
    assert [event for _, event in played.out[1:]] == [Data(b"\0\0\0\0\1x", (6,)), End()]
    assert played.fired == [(2.0, "drop", "dropped the trailers")]
    played = play([Duplicate(at=at)], script, head=GRPC)
    assert (played.data, played.not_fired) == (b"\0\0\0\0\1x", [("duplicate", "format")])


def test_the_trailers_of_grpc_web_are_a_part_of_the_body():
    script, at = [(1.0, b"\0\0\0\0\1x"), (2.0, b"\x80\0\0\0\3a:b"), (2.0, End())], Trigger(terminal="before")
    assert play([Drop(at=at)], script, head=GRPC_WEB).data == b"\0\0\0\0\1x"
    assert play([Duplicate(at=at)], script, head=GRPC_WEB).data == b"\0\0\0\0\1x" + b"\x80\0\0\0\3a:b" * 2


def test_the_length():
    """`reorder` keeps it; the others may change it."""
    length = ResponseHead(
        200, ((b"content-type", b"text/event-stream"), (b"content-length", b"27")), framing=Framing.LENGTH
    )
    script = [(1.0, b"".join(EVENTS[:3])), (2.0, End())]
    assert play([Reorder(at=Trigger(event=1))], script, head=length).head[1] == length
    assert play([Drop(at=Trigger(event=1))], script, head=length).head[1].framing is Framing.CHUNKED
    assert play([Duplicate(at=Trigger(event=1))], script, head=length).head[1].framing is Framing.CHUNKED


@pytest.mark.parametrize(
    ("answer", "at", "reason"),
    [
        (PLAIN, Trigger(event=1), "no records"),
        (CODED, Trigger(event=1), "coded body"),
        (SSE, Trigger(event=3), "not reached"),
        (SSE, Trigger(chunk=3), "not reached"),
        (SSE, Trigger(match="x"), "not reached"),
    ],
)
@pytest.mark.parametrize("kind", [Drop, Duplicate, Reorder])
def test_why_it_did_not_fire(kind, answer, at, reason):
    played = play([kind(at=at)], [(1.0, EVENTS[0]), (2.0, EVENTS[1]), (3.0, End())], head=answer)
    assert played.body == [(1.0, EVENTS[0]), (2.0, EVENTS[1])]
    assert [why for _, why in played.not_fired] == [reason]


def test_the_last_one_cannot_be_moved():
    played = play([Reorder(at=Trigger(event=2))], [(1.0, EVENTS[0]), (2.0, EVENTS[1]), (3.0, End())])
    assert (played.body, played.not_fired) == (
        [(1.0, EVENTS[0]), (3.0, EVENTS[1])],
        [("reorder", "no record behind it")],
    )


def test_if():
    played = play([Drop(at=Trigger(event=1), if_=Condition(status=500))], timed(EVENTS))
    assert (played.data, played.not_fired) == (b"".join(EVENTS), [("drop", "if")])


def test_an_upload():
    request = POST.__class__(
        b"POST", b"/", (*POST.headers, (b"content-type", b"application/jsonl")), framing=Framing.CHUNKED
    )
    script = [(1.0, Upload(b"1\n")), (2.0, Upload(b"2\n")), (3.0, Upload(End()))]
    for spec, left in [
        (Drop(at=Trigger(event=1), way=Way.REQUEST), b"2\n"),
        (Duplicate(at=Trigger(event=1), way=Way.REQUEST), b"1\n1\n2\n"),
        (Reorder(at=Trigger(event=1), way=Way.REQUEST), b"2\n1\n"),
    ]:
        played = play([spec], script, request=request)
        assert b"".join(event.payload for _, event in played.request if isinstance(event, Data)) == left


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("drop: 3", 11, "mapping"),
        ("drop: {}", 5, "`at`"),
        ("drop: {count: 2}", 5, "`at`"),
        ("drop: {at: body}", 16, "`body` is no record"),
        ("drop: {at: {idle: 2s}}", 16, "a silence is no record"),
        ("drop: {at: {event: 0}}", 24, "1 or more"),
        ("drop: {at: {event: 1}, count: 0}", 35, "1 or more"),
        ("drop: {at: {event: 1}, copies: 1}", 28, "count"),
        ("duplicate: {at: {event: 1}, copies: 0}", 41, "from 1 to 100"),
        ("duplicate: {at: {event: 1}, later: -1}", 40, "0 or more"),
        ("duplicate: {at: end}", 21, "`end` is no record"),
        ("reorder: {at: {event: 1}, later: 0}", 38, "1 or more"),
        ("reorder: {at: {event: 1}, later: 1s}", 38, "1 or more"),
        ("reorder: {at: headers}", 19, "no record"),
    ],
)
def test_what_cannot_be_has_its_place(refused, text, column, words):
    refused(text, column, words)
