"""Heads on the wire: byte-exact, with the little that HTTP/1.1 must have and nothing else."""

import h11
import pytest

from chaosproxy.http1.heads import parse_request, parse_response
from chaosproxy.http1.session import Http1Session
from chaosproxy.http1.writer import interim_head, request_head, response_head
from chaosproxy.model.messages import Data, End, Interim, RequestHead, ResponseHead
from chaosproxy.model.vocabulary import Framing, Role


def answer(head, method=b"GET", version=b"1.1"):
    written, framing = response_head(head, method, version)
    return written, framing


def test_order_case_and_duplicates_are_kept_and_nothing_is_added():
    head = RequestHead(b"GeT", b"/a%2f?b", ((b"X-b", b"1"), (b"hOST", b"a"), (b"x-B", b"2"), (b"X-b", b"")))
    assert request_head(head) == (b"GeT /a%2f?b HTTP/1.1\r\nX-b: 1\r\nhOST: a\r\nx-B: 2\r\nX-b: \r\n\r\n", Framing.NONE)
    head = ResponseHead(
        200, ((b"SERVER", b"x"), (b"Set-Cookie", b"a"), (b"set-cookie", b"b"), (b"Content-Length", b"1")), b"Fine"
    )
    assert (
        answer(head)[0]
        == b"HTTP/1.1 200 Fine\r\nSERVER: x\r\nSet-Cookie: a\r\nset-cookie: b\r\nContent-Length: 1\r\n\r\n"
    )


def test_what_was_parsed_is_written_again_byte_for_byte():
    wire = b"POST /x HTTP/1.1\r\nhoSt: a.test\r\nTransfer-encoding: chunked\r\nA: \xe9\x01\r\nA:  2 \r\n\r\n"
    request = parse_request(wire[:-4].split(b"\r\n"), b"http")
    assert request_head(request.head)[0] == wire.replace(b":  2 ", b": 2")
    wire = b"HTTP/1.1 299 Odd \xe9\r\nTransfer-encoding: chunked\r\nA: 1\r\na: 2\r\n\r\n"
    parsed = parse_response(wire[:-4].split(b"\r\n"), request.head)
    assert isinstance(parsed.head, ResponseHead)
    assert answer(parsed.head)[0] == wire


def test_a_missing_reason_is_the_standard_phrase_and_an_unknown_status_has_none():
    assert answer(ResponseHead(404, ((b"content-length", b"0"),)))[0].startswith(b"HTTP/1.1 404 Not Found\r\n")
    assert answer(ResponseHead(422, ((b"content-length", b"0"),)))[0].startswith(
        b"HTTP/1.1 422 Unprocessable Content\r\n"
    )
    assert answer(ResponseHead(299, ((b"content-length", b"0"),)))[0].startswith(b"HTTP/1.1 299 \r\n")
    assert interim_head(Interim(103, ((b"link", b"x"),))) == b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n"


def test_chunked_framing_has_its_field_once():
    written, framing = answer(ResponseHead(200, ((b"a", b"b"),), framing=Framing.CHUNKED))
    assert written == b"HTTP/1.1 200 OK\r\na: b\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert framing is Framing.CHUNKED
    written, _ = answer(ResponseHead(200, ((b"transfer-encoding", b"chunked"), (b"a", b"b")), framing=Framing.CHUNKED))
    assert written == b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\na: b\r\n\r\n"


def test_a_body_that_is_not_chunked_does_not_say_so():
    chunked = (b"Transfer-Encoding", b"chunked")
    for framing in (Framing.CLOSE, Framing.TUNNEL):
        assert b"chunked" not in answer(ResponseHead(200, (chunked,), framing=framing))[0]
    assert b"chunked" not in request_head(RequestHead(b"GET", b"/", (chunked,), authority=b"a", final=True))[0]
    assert b"chunked" not in answer(ResponseHead(204, (chunked,), framing=Framing.NONE, final=True))[0]


def test_an_answer_to_head_may_say_what_a_get_would_have_had():
    chunked = (b"Transfer-Encoding", b"chunked")
    head = ResponseHead(200, (chunked,), framing=Framing.NONE, final=True)
    assert answer(head, b"HEAD") == (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", Framing.NONE)
    assert b"chunked" not in answer(head, b"HEAD", b"1.0")[0]


STREAM = Framing.STREAM


@pytest.mark.parametrize(
    ("head", "method", "version", "framing", "field"),
    [
        (
            ResponseHead(200, ((b"content-length", b"5"),), framing=STREAM),
            b"GET",
            b"1.1",
            Framing.LENGTH,
            b"\r\ncontent-length: 5\r\n",
        ),
        (ResponseHead(200, framing=STREAM, final=True), b"GET", b"1.1", Framing.LENGTH, b"\r\ncontent-length: 0\r\n"),
        (ResponseHead(200, framing=STREAM, final=True), b"HEAD", b"1.1", Framing.NONE, b"OK\r\n\r\n"),
        (ResponseHead(204, framing=STREAM, final=True), b"GET", b"1.1", Framing.NONE, b"No Content\r\n\r\n"),
        (ResponseHead(304, framing=STREAM, final=True), b"GET", b"1.1", Framing.NONE, b"Not Modified\r\n\r\n"),
        (ResponseHead(200, framing=STREAM), b"GET", b"1.1", Framing.CHUNKED, b"\r\nTransfer-Encoding: chunked\r\n"),
        (ResponseHead(200, framing=STREAM), b"GET", b"1.0", Framing.CLOSE, b"OK\r\n\r\n"),
        (ResponseHead(200, framing=Framing.CHUNKED), b"GET", b"1.0", Framing.CLOSE, b"OK\r\n\r\n"),
        (ResponseHead(200, framing=Framing.CLOSE), b"GET", b"1.1", Framing.CLOSE, b"OK\r\n\r\n"),
        (ResponseHead(200), b"GET", b"1.1", Framing.CHUNKED, b"\r\nTransfer-Encoding: chunked\r\n"),
        (ResponseHead(200), b"CONNECT", b"1.1", Framing.TUNNEL, b"OK\r\n\r\n"),
        (ResponseHead(101), b"GET", b"1.1", Framing.TUNNEL, b"Switching Protocols\r\n\r\n"),
    ],
)
def test_answers_get_the_framing_that_their_client_understands(head, method, version, framing, field):
    written, chosen = response_head(head, method, version)
    assert chosen is framing
    assert field in written


@pytest.mark.parametrize(
    ("head", "framing", "fields"),
    [
        (RequestHead(b"GET", b"/", framing=STREAM, final=True), Framing.NONE, b""),
        (RequestHead(b"POST", b"/", framing=STREAM, final=True), Framing.NONE, b"content-length: 0\r\n"),
        (RequestHead(b"POST", b"/", framing=STREAM), Framing.CHUNKED, b"Transfer-Encoding: chunked\r\n"),
        (
            RequestHead(b"PUT", b"/", ((b"content-length", b"3"),), framing=STREAM),
            Framing.LENGTH,
            b"content-length: 3\r\n",
        ),
        (RequestHead(b"POST", b"/"), Framing.NONE, b""),
        (RequestHead(b"CONNECT", b"a:1", framing=STREAM), Framing.NONE, b""),
    ],
)
def test_requests_from_http_2_get_the_framing_of_http_1(head, framing, fields):
    head = RequestHead(
        head.method, head.target, head.headers, authority=b"a:1", framing=head.framing, final=head.final, version=b"2"
    )
    written, chosen = request_head(head)
    assert chosen is framing
    assert written == b"%b %b HTTP/1.1\r\nHost: a:1\r\n%b\r\n" % (head.method, head.target, fields)


def test_host_comes_from_the_authority_only_where_it_is_missing():
    assert b"Host: a" in request_head(RequestHead(b"GET", b"/", ((b"x", b"y"),), authority=b"a"))[0].split(b"\r\n")[1]
    written, _ = request_head(RequestHead(b"GET", b"/", ((b"x", b"y"), (b"host", b"b")), authority=b"a"))
    assert written == b"GET / HTTP/1.1\r\nx: y\r\nhost: b\r\n\r\n"


def test_cookies_split_by_http_2_are_joined_in_their_first_place():
    headers = ((b"cookie", b"a=1"), (b"x", b"y"), (b"cookie", b"b=2"))
    written, _ = request_head(RequestHead(b"GET", b"/", headers, authority=b"a", version=b"2"))
    assert written == b"GET / HTTP/1.1\r\nHost: a\r\ncookie: a=1; b=2\r\nx: y\r\n\r\n"
    written, _ = request_head(RequestHead(b"GET", b"/", ((b"Host", b"a"), *headers)))
    assert written.count(b"cookie") == 2


def test_te_is_named_in_connection():
    written, _ = request_head(RequestHead(b"GET", b"/", ((b"te", b"trailers"),), authority=b"a", version=b"2"))
    assert written == b"GET / HTTP/1.1\r\nHost: a\r\nte: trailers\r\nConnection: TE\r\n\r\n"
    fields = ((b"Host", b"a"), (b"Connection", b"Upgrade"), (b"Upgrade", b"x"), (b"TE", b"trailers"))
    written, _ = request_head(RequestHead(b"GET", b"/", fields, upgrade=b"x"))
    assert written == b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, TE\r\nUpgrade: x\r\nTE: trailers\r\n\r\n"


def test_a_request_of_1_0_without_a_host_stays_one_for_no_host_is_invented():
    assert request_head(RequestHead(b"GET", b"/", version=b"1.0"))[0] == b"GET / HTTP/1.0\r\n\r\n"
    assert (
        request_head(RequestHead(b"GET", b"/", ((b"Host", b"a"),), version=b"1.0"))[0]
        == b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    )


def test_h11_reads_our_heads():
    connection = h11.Connection(h11.SERVER)
    fields = ((b"Host", b"a"), (b"X-A", b"1"), (b"x-a", b"2"))
    connection.receive_data(request_head(RequestHead(b"POST", b"/x", fields, framing=Framing.CHUNKED))[0])
    event = connection.next_event()
    assert event.headers.raw_items() == [*fields, (b"Transfer-Encoding", b"chunked")]
    assert (event.method, event.target) == (b"POST", b"/x")


def test_what_somebody_else_has_begun_to_write_is_gone_on_with():
    session = Http1Session(Role.SERVER)
    session.receive(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    session.send(1, [ResponseHead(200, (), framing=Framing.CHUNKED)])
    session.outgoing()
    framed = session.framer(1)
    assert framed is not None
    assert framed(b"hello") == b"5\r\nhello\r\n"
    session.chunk_is_open(3)
    assert session.framer(1) is None
    session.send(1, [Data(b"abcde"), End()])
    assert session.outgoing() == [b"abc\r\n2\r\nde\r\n0\r\n\r\n"]
