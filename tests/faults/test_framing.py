"""`framing`: what becomes of the head, field by field. How it is written: `tests/virtual/test_framing.py`."""

from dataclasses import replace
from random import Random

import pytest

from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Context
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import Compress, Cut, Framing
from chaosproxy.model.messages import Abort, End, RequestHead, ResponseHead
from chaosproxy.model.vocabulary import Framing as Framed
from chaosproxy.model.vocabulary import Way
from chaosproxy.scenario.load import load
from chaosproxy.testing import check_fault
from chaosproxy.testing.play import GET, POST, Upload

TYPE = (b"content-type", b"text/plain")
CHUNKED = ResponseHead(200, (TYPE, (b"Transfer-Encoding", b"chunked")), framing=Framed.CHUNKED)
LENGTH = ResponseHead(200, ((b"content-length", b"5"), TYPE), framing=Framed.LENGTH)
CLOSE = ResponseHead(200, (TYPE,), framing=Framed.CLOSE)
STREAM = ResponseHead(200, (TYPE,), framing=Framed.STREAM)
BODY = [(1.0, b"hello"), (1.0, End())]


def lengths(head):
    return [value for name, value in head.headers if name.lower() == b"content-length"]


@pytest.mark.parametrize(
    ("spec", "head", "framing", "length", "said"),
    [
        (Framing(as_="chunked"), LENGTH, Framed.CHUNKED, [], "in chunks"),
        (Framing(as_="chunked"), CLOSE, Framed.CHUNKED, [], "in chunks"),
        (Framing(as_="chunked_twice"), LENGTH, Framed.CHUNKED, [], "in chunks, said twice"),
        (Framing(as_="chunked_twice"), CHUNKED, Framed.CHUNKED, [], "in chunks, said twice"),
        (Framing(as_="close_delimited"), LENGTH, Framed.CLOSE, [], "until the connection ends"),
        (Framing(as_="close_delimited"), CHUNKED, Framed.CLOSE, [], "until the connection ends"),
        (Framing(as_="close_delimited"), STREAM, Framed.CLOSE, [], "until the connection ends"),
        (Framing(content_length=9), LENGTH, Framed.LENGTH, [b"9"], "Content-Length 9"),
        (Framing(content_length=9), CHUNKED, Framed.LENGTH, [b"9"], "Content-Length 9"),
        (Framing(content_length=0), STREAM, Framed.LENGTH, [b"0"], "Content-Length 0"),
        (Framing(content_length=9, as_="chunked"), LENGTH, Framed.CHUNKED, [b"9"], "in chunks, Content-Length 9"),
        (Framing(http="1.0"), CHUNKED, Framed.CLOSE, [], "HTTP/1.0"),
        (Framing(http="1.0"), LENGTH, Framed.LENGTH, [b"5"], "HTTP/1.0"),
        (Framing(http="1.0", as_="chunked"), CHUNKED, Framed.CHUNKED, [], "in chunks, HTTP/1.0"),
    ],
)
def test_the_head_says_it(play, spec, head, framing, length, said):
    played = play([spec], BODY, head=head)
    _, changed = played.head
    assert (changed.framing, lengths(changed), changed.literal) == (framing, length, True)
    assert changed.version == (b"1.0" if spec.http else b"1.1")
    assert (played.data, played.fired) == (b"hello", [(1.0, "framing", said)])


def test_over_http2_only_the_length_changes(play):
    over_h2 = Context(Random(0), GET, protocol="h2")
    played = play([Framing(content_length=9, as_="chunked", http="1.0")], BODY, head=CHUNKED, context=over_h2)
    _, changed = played.head
    assert (changed.framing, lengths(changed), changed.version) == (Framed.CHUNKED, [b"9"], b"1.1")
    assert played.fired == [(1.0, "framing", "Content-Length 9")]
    for spec in (Framing(as_="chunked"), Framing(http="1.0")):
        played = play([spec], BODY, head=LENGTH, context=over_h2)
        assert (played.head[1], played.not_fired) == (LENGTH, [("framing", "protocol")])


@pytest.mark.parametrize(
    "head",
    [
        ResponseHead(204, (), framing=Framed.NONE, final=True),
        ResponseHead(200, ((b"content-length", b"0"),), framing=Framed.LENGTH, final=True),
        ResponseHead(101, (), framing=Framed.TUNNEL),
    ],
)
def test_without_a_body_there_is_nothing_to_frame(play, head):
    played = play([Framing(content_length=9)], [(1.0, End())], head=head)
    assert (played.head[1], played.not_fired) == (head, [("framing", "no body")])


OLD = RequestHead(b"GET", b"/", ((b"Host", b"test"),), final=True, version=b"1.0")
AUTO = Framing(as_="auto")
ASKS_OLD = Framing(http="1.0", way=Way.REQUEST)


@pytest.mark.parametrize(
    ("head", "request_", "framing", "said"),
    [
        (CLOSE, GET, Framed.CHUNKED, "in chunks"),
        (CHUNKED, GET, Framed.CHUNKED, None),
        (LENGTH, GET, Framed.LENGTH, None),
        (STREAM, GET, Framed.STREAM, None),
        (CLOSE, OLD, Framed.CLOSE, None),
        (CHUNKED, OLD, Framed.CLOSE, "until the connection ends"),
        (LENGTH, OLD, Framed.LENGTH, None),
    ],
)
def test_a_machine_frames_what_it_passes_on_for_who_has_asked(play, head, request_, framing, said):
    played = play([AUTO], BODY, head=head, request=request_)
    assert played.head[1] == replace(head, framing=framing)
    assert played.fired == ([] if said is None else [(1.0, "framing", said)])
    assert played.not_fired == ([("framing", "framed so")] if said is None else [])


def test_one_that_asks_in_http_1_0_is_answered_without_chunks_by_the_machine_behind_it(play):
    """Upstream, a machine that frames for who asks it, and one nearer the client that asks it in HTTP/1.0."""
    played = play([[AUTO], [ASKS_OLD]], BODY, head=CHUNKED)
    assert played.head[1].framing is Framed.CLOSE
    assert [event.old for _, event in played.request if isinstance(event, RequestHead)] == [True]
    both = play([[ASKS_OLD, AUTO], [ASKS_OLD, AUTO]], BODY, head=CLOSE)
    assert both.head[1].framing is Framed.CHUNKED
    assert both.fired[-1] == (1.0, "framing", "in chunks")


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        (POST, "in chunks"),
        (RequestHead(b"CONNECT", b"a:1", framing=Framed.TUNNEL), "tunnel"),
        (RequestHead(b"GET", b"/", upgrade=b"websocket"), "tunnel"),
    ],
)
def test_what_http_1_0_cannot_ask_stays_as_it_is(play, request_, why):
    played = play([ASKS_OLD], [(1.0, Upload(End())), *BODY], head=LENGTH, request=request_)
    assert played.request[0] == (0.0, request_)
    assert played.not_fired == [("framing", why)]


def test_a_request_with_a_length_can_be_asked_in_http_1_0(play):
    asked = RequestHead(b"POST", b"/", ((b"content-length", b"5"),), framing=Framed.LENGTH)
    played = play([ASKS_OLD], [(1.0, Upload(b"hello")), (1.0, Upload(End())), *BODY], head=LENGTH, request=asked)
    assert played.request[0] == (0.0, replace(asked, old=True))
    assert played.fired == [(0.0, "framing", "asks in HTTP/1.0")]


def test_position_is_meaning(play):
    """A machine nearer the client that changes the body frames it anew; one nearer the upstream has done so already."""
    coded = Compress(when_accepted=False)
    _, anew = play([Framing(content_length=9, http="1.0"), coded], BODY, head=LENGTH).head
    assert (anew.framing, lengths(anew), anew.literal, anew.version) == (Framed.CHUNKED, [], False, b"1.1")
    _, lie = play([coded, Framing(content_length=9)], BODY, head=LENGTH).head
    assert (lie.framing, lengths(lie)) == (Framed.LENGTH, [b"9"])
    _, both = play([Framing(content_length=9, as_="chunked"), coded], BODY, head=LENGTH).head
    assert (both.framing, lengths(both)) == (Framed.CHUNKED, [])


def test_a_machine_nearer_the_client_believes_the_length(play):
    """It cannot end cleanly short of it."""
    cut = Cut(at=Trigger(bytes=3), then=(Ending("clean"),))
    assert isinstance(play([Framing(content_length=9), cut], BODY, head=CHUNKED).end[1], Abort)
    assert isinstance(play([Framing(content_length=3), cut], BODY, head=CHUNKED).end[1], End)


LAST, ASKED_ALONE = Framing(connection="close"), Framing(connection="close", way=Way.REQUEST)
CLOSING = (b"Connection", b"close")


@pytest.mark.parametrize("head", [CHUNKED, LENGTH, CLOSE])
def test_a_head_that_is_the_last_on_its_connection(play, head):
    played = play([LAST], BODY, head=head)
    assert played.head[1] == replace(head, headers=(*head.headers, CLOSING))
    assert played.fired == [(1.0, "framing", "Connection: close")]
    played = play([ASKED_ALONE], BODY, head=head)
    assert (played.head[1], played.request[0][1].headers[-1]) == (head, CLOSING)


@pytest.mark.parametrize(
    ("spec", "head", "context", "why"),
    [
        (LAST, CHUNKED, Context(Random(0), GET, protocol="h2"), "protocol"),
        (LAST, ResponseHead(101, framing=Framed.TUNNEL), Context(Random(0), GET), "tunnel"),
    ],
)
def test_where_no_connection_ends_with_an_answer(play, spec, head, context, why):
    played = play([spec], BODY, head=head, context=context)
    assert (played.head[1], played.not_fired) == (head, [("framing", why)])


def test_a_request_that_asks_for_a_tunnel_keeps_its_connection(play):
    asked = RequestHead(b"GET", b"/", upgrade=b"websocket")
    played = play([ASKED_ALONE], [(1.0, End())], request=asked, head=LENGTH)
    assert (played.request[0][1], played.not_fired) == (asked, [("framing", "tunnel")])


@pytest.mark.parametrize(
    "spec",
    [
        LAST,
        ASKED_ALONE,
        Framing(as_="chunked"),
        Framing(as_="close_delimited"),
        Framing(content_length=9),
        Framing(http="1.0"),
        AUTO,
        ASKS_OLD,
    ],
)
def test_what_every_fault_stands(spec):
    check_fault(spec)


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("framing: {}", 14, "needs one of as, content_length, http, connection"),
        ("framing: chunks", 14, "did you mean 'chunked'"),
        ("framing: {as: closed}", 19, "one of chunked, chunked_twice, close_delimited, auto"),
        ("framing: {content_length: -1}", 31, "a size"),
        ("framing: {content_length: auto}", 31, "a size"),
        ("framing: {http: 1.1}", 21, "1.0"),
        ("framing: {as: close_delimited, content_length: 5}", 52, "has no length"),
        ("framing: {as: chunked, way: request}", 33, "of a request only the version is another"),
        ("framing: {http: 1.0, as: chunked, way: request}", 44, "of a request only the version is another"),
        ("framing: {http: 1.0, as: auto}", 30, "`auto` says nothing that is not true"),
        ("framing: {content_length: 5, as: auto}", 38, "`auto` says nothing that is not true"),
        ("framing: {connection: keep}", 27, "close"),
        ("framing: {connection: close, as: chunked}", 27, "a framing of its own"),
        ("framing: {as: chunked, at: body}", 28, "unknown key 'at'"),
    ],
)
def test_a_mistake_has_its_place(refused, text, column, said):
    refused(text, column, said)


def test_what_can_be_written():
    written = ["chunked", "{http: 1.0, as: chunked}", "{content_length: 1k}", "close_delimited", "{http: 1.0}"]
    written += ["auto", "{http: 1.0, way: request}"]
    text = "version: 1\nfaults:\n" + "".join(f"  - framing: {one}\n" for one in written)
    [rule] = load(text).rules
    assert rule.faults == (
        Framing(as_="chunked"),
        Framing(http="1.0", as_="chunked"),
        Framing(content_length=1024),
        Framing(as_="close_delimited"),
        Framing(http="1.0"),
        AUTO,
        ASKS_OLD,
    )
