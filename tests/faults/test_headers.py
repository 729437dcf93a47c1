"""`headers`: what becomes of the fields, on both ways, in which order; what it leaves alone; what cannot be written."""

from dataclasses import replace

import pytest

from chaosproxy.chain.fault import Condition
from chaosproxy.faults import Headers, Respond
from chaosproxy.model.messages import End, Interim, RequestHead, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Framing, Way
from chaosproxy.scenario.dump import dump
from chaosproxy.scenario.load import load
from chaosproxy.testing import check_fault
from chaosproxy.testing.play import GET, POST, SSE, Upload

FIELDS = (
    (b"Server", b"nginx"),
    (b"X-One", b"1"),
    (b"Content-Type", b"text/plain"),
    (b"x-one", b"2"),
    (b"Set-Cookie", b"a=b"),
    (b"Transfer-Encoding", b"chunked"),
)
ANSWER = ResponseHead(200, FIELDS, b"OK", Framing.CHUNKED)
SCRIPT = [(1.0, b"x"), (2.0, End())]


def but(*changes):
    """FIELDS with some lines replaced by others: (index, *lines)."""
    lines = [(pair,) for pair in FIELDS]
    for index, *new in changes:
        lines[index] = tuple(new)
    return tuple(pair for some in lines for pair in some)


NEW = (b"X-New", b"n")
TABLE = {
    "set in its place": ({"set": ((b"Content-Type", b"text/html"),)}, but((2, (b"Content-Type", b"text/html")))),
    "set, the name as written": ({"set": ((b"SERVER", b"x"),)}, but((0, (b"SERVER", b"x")))),
    "set what there is not": ({"set": (NEW,)}, (*FIELDS, NEW)),
    "set once for several": ({"set": ((b"x-one", b"3"),)}, but((1, (b"x-one", b"3")), (3,))),
    "set to several lines": (
        {"set": ((b"Server", b"a"), (b"Server", b"b"))},
        but((0, (b"Server", b"a"), (b"Server", b"b"))),
    ),
    "add": ({"add": ((b"X-One", b"3"), NEW)}, (*FIELDS, (b"X-One", b"3"), NEW)),
    "remove": ({"remove": ("X-ONE",)}, but((1,), (3,))),
    "remove by glob": ({"remove": ("se*", "?-one")}, but((0,), (1,), (3,), (4,))),
    "duplicate": ({"duplicate": ("server",)}, but((0, FIELDS[0], FIELDS[0]))),
    "duplicate by glob": ({"duplicate": ("x-*",)}, but((1, FIELDS[1], FIELDS[1]), (3, FIELDS[3], FIELDS[3]))),
    "remove, then set": ({"remove": ("server",), "set": ((b"Server", b"x"),)}, (*FIELDS[1:], (b"Server", b"x"))),
    "add, then duplicate": ({"add": (NEW,), "duplicate": ("x-new",)}, (*FIELDS, NEW, NEW)),
    "in lower case": ({"case": "lower"}, tuple((name.lower(), value) for name, value in FIELDS)),
    "in title case": (
        {"case": "title", "add": ((b"x-NEW-one", b"n"),)},
        (*but((3, (b"X-One", b"2"))), (b"X-New-One", b"n")),
    ),
    "everything but what frames the body": ({"remove": ("*",)}, (FIELDS[5],)),
}


@pytest.mark.parametrize(("given", "expected"), TABLE.values(), ids=TABLE)
@pytest.mark.parametrize("way", Way)
def test_the_fields(play, given, expected, way):
    upload = replace(POST, headers=FIELDS, authority=b"test")
    script = [(0.5, Upload(End())), *SCRIPT]
    played = play([Headers(way=way, **given)], script, request=upload, head=ANSWER)
    request, answer = played.request[0][1], played.head[1]
    assert request == (replace(upload, headers=expected) if way is Way.REQUEST else upload)
    assert answer == (ANSWER if way is Way.REQUEST else replace(ANSWER, headers=expected))
    assert [(time, fault) for time, fault, _ in played.fired] == [(0.0 if way is Way.REQUEST else 1.0, "headers")]
    assert (played.data, played.end) == (b"x", (2.0, End()))


def test_what_was_done_is_said(play):
    fault = Headers(set=((b"Via", b"x"),), add=(NEW,), remove=("se*",), duplicate=("x-*",))
    ((_, _, detail),) = play([fault], SCRIPT, head=ANSWER).fired
    assert detail == "removed server set-cookie, set Via, added X-New, repeated x-new x-one"


def test_a_name_with_several_lines_is_said_once_with_their_number(play):
    twice = ((b"X-A", b"1"), (b"x-a", b"2"), NEW)
    ((_, _, detail),) = play([Headers(set=twice, add=(NEW, NEW, NEW))], SCRIPT, head=ANSWER).fired
    assert detail == "set X-A (2) X-New, added X-New (3)"
    ((_, _, detail),) = play([Headers(remove=("server",), case="lower")], SCRIPT, head=ANSWER).fired
    assert detail == "removed server, names in lower case"
    cookies = replace(ANSWER, headers=(*ANSWER.headers, (b"X-New", b"a"), (b"x-new", b"b")))
    ((_, _, detail),) = play([Headers(remove=("x-new",))], SCRIPT, head=cookies).fired
    assert detail == "removed x-new (2)"


@pytest.mark.parametrize(
    "fault", [Headers(remove=("via",)), Headers(duplicate=("via",)), Headers(set=((b"Server", b"nginx"),))]
)
def test_nothing_to_change(play, fault):
    played = play([fault], SCRIPT, head=ANSWER)
    assert (played.head[1], played.not_fired) == (ANSWER, [("headers", "nothing to change")])


def test_only_the_final_head(play):
    aside = Interim(103, ((b"Server", b"x"),))
    last = Trailers(((b"Server", b"y"),))
    played = play([Headers(remove=("server",))], [(0.5, aside), (1.0, b"x"), (2.0, last), (2.0, End())], head=ANSWER)
    assert [event for _, event in played.out if isinstance(event, Interim | Trailers)] == [aside, last]
    assert b"Server" not in dict(played.head[1].headers)


def test_an_answer_that_is_made_nearer_the_upstream(play):
    played = play([[Respond(status=503)], [Headers(add=(NEW,))]], [])
    assert played.head[1].headers[-1] == NEW


def test_if(play):
    hit = Headers(add=(NEW,), if_=Condition(content_type="text/plain"))
    assert play([hit], SCRIPT, head=ANSWER).head[1].headers[-1] == NEW
    played = play([hit], SCRIPT, head=SSE)
    assert (played.head[1], played.not_fired) == (SSE, [("headers", "if")])


# ---- the length, the host


@pytest.mark.parametrize("name", ["content-length", "Content-Length"])
def test_without_its_length_a_body_is_chunked(play, name):
    head = ResponseHead(200, ((b"content-length", b"1"), *FIELDS[:2]), framing=Framing.LENGTH)
    played = play([Headers(remove=(name,))], SCRIPT, head=head)
    assert played.head[1] == ResponseHead(200, FIELDS[:2], framing=Framing.CHUNKED)


def test_a_glob_does_not_take_the_length(play):
    head = ResponseHead(200, ((b"content-length", b"1"), FIELDS[2]), framing=Framing.LENGTH)
    played = play([Headers(remove=("content-*",))], SCRIPT, head=head)
    assert played.head[1] == ResponseHead(200, ((b"content-length", b"1"),), framing=Framing.LENGTH)


def test_the_length_of_an_answer_to_head_can_go(play):
    head = ResponseHead(200, ((b"content-length", b"9"),), framing=Framing.NONE, final=True)
    played = play([Headers(remove=("content-length",))], [(1.0, head), (1.0, End())])
    assert played.head[1] == ResponseHead(200, (), framing=Framing.NONE, final=True)


def test_te_can_go_by_name(play):
    request = replace(GET, headers=((b"te", b"trailers"), (b"a", b"b")))
    assert play([Headers(way=Way.REQUEST, remove=("te",))], [], request=request).request[0][1].headers == (
        (b"a", b"b"),
    )
    assert play([Headers(way=Way.REQUEST, remove=("t*",))], [], request=request).request[0][1] == request


def sent(request, play):
    head = play([Headers(way=Way.REQUEST, set=((b"Host", b"other:1"),), remove=("*",))], [], request=request).request[
        0
    ][1]
    assert isinstance(head, RequestHead)
    return head


def test_the_host_stands_where_the_protocol_has_it(play):
    head = sent(replace(GET, headers=((b"host", b"a"), (b"x", b"y"))), play)
    assert (head.headers, head.authority) == (((b"Host", b"other:1"),), b"")
    head = sent(replace(GET, headers=((b"x", b"y"),), authority=b"a", version=b"2"), play)
    assert (head.headers, head.authority) == ((), b"other:1")


# ---- what every fault must stand, and what cannot be written


@pytest.mark.parametrize(
    "spec",
    [
        Headers(set=((b"content-type", b"text/plain"),)),
        Headers(add=(NEW,), remove=("*",), duplicate=("*",)),
        Headers(way=Way.REQUEST, set=((b"host", b"x"),)),
    ],
)
def test_it_stands_every_script(spec):
    check_fault(spec)


def test_where_there_is_nothing_to_change_it_is_neutral():
    check_fault(Headers(remove=("x-*",)), neutral=True)


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("headers: {}", 3, 14, "one of set, add, remove, duplicate"),
        ("headers: x-one", 3, 14, "a mapping"),
        ("headers: {sets: {a: b}}", 3, 15, "set"),
        ('headers: {set: {"a b": c}}', 3, 28, "no token"),
        ('headers: {set: {":status": 200}}', 3, 32, "no token"),
        ('headers: {add: {a: "b\\r\\nc: d"}}', 3, 24, "CR"),
        ('headers: {add: {a: " b"}}', 3, 24, "blank"),
        ("headers: {remove: [server, 'a b']}", 3, 23, "no token"),
        ("headers: {duplicate: 'a,b'}", 3, 26, "no token"),
        ("headers: {set: {Content-Length: 5}}", 3, 37, "frames the body"),
        ("headers: {add: {Transfer-Encoding: gzip}}", 3, 40, "frames the body"),
        ("headers: {duplicate: content-length}", 3, 26, "frames the body"),
        ("headers: {remove: transfer-encoding}", 3, 23, "frames the body"),
        ("headers: {set: {Connection: close}}", 3, 33, "one connection"),
        ("headers: {remove: keep-alive}", 3, 23, "one connection"),
        ("headers: {way: request, remove: host}", 3, 37, "exactly one Host"),
        ("headers: {way: request, add: {host: b}}", 3, 41, "exactly one Host"),
        ("headers: {way: request, set: {Host: [a, b]}}", 3, 41, "exactly one Host"),
        ('headers: {way: request, set: {host: "a/b"}}', 3, 41, "no host"),
    ],
)
def test_what_cannot_be_has_its_place(refused, text, line, column, words):
    refused(text, column, words, line)


@pytest.mark.parametrize(
    "text",
    ["add: {host: a}", "remove: host", "remove: '*'", "duplicate: '*'", "remove: te", "set: {a: [1, b]}, way: request"],
)
def test_what_can_be_is_read_and_written(text):
    scenario = load(f"version: 1\nfaults:\n  - headers: {{{text}}}\n")
    assert load(dump(scenario)) == scenario
