"""What heads of either protocol look like on an HTTP/2 wire."""

import pytest
from hpack import Encoder, NeverIndexedHeaderTuple

from chaosproxy.http2.blocks import Blocks
from chaosproxy.http2.fields import request_fields, response_fields, trailers_block
from chaosproxy.http2.frames import END_HEADERS, END_STREAM, HEADERS
from chaosproxy.http2.heads import request_head
from chaosproxy.model.messages import Interim, RequestHead, ResponseHead


def pairs(block):
    return [tuple(field) for field in block]


def pseudo(head):
    return {name: value for name, value in pairs(request_fields(head)) if name.startswith(b":")}


def regular(headers):
    return pairs(request_fields(RequestHead(b"GET", b"/", headers, authority=b"a")))[4:]


def test_a_request_from_http1():
    head = RequestHead(
        b"POST",
        b"/v1?a=b",
        (
            (b"Host", b"api:8000"),
            (b"Accept", b"*/*"),
            (b"Connection", b"keep-alive, X-Hop"),
            (b"X-Hop", b"1"),
            (b"Transfer-Encoding", b"chunked"),
            (b"Content-Length", b"5"),
        ),
    )
    assert pairs(request_fields(head)) == [
        (b":method", b"POST"),
        (b":scheme", b"http"),
        (b":authority", b"api:8000"),
        (b":path", b"/v1?a=b"),
        (b"accept", b"*/*"),
        (b"content-length", b"5"),
    ]


@pytest.mark.parametrize(
    ("headers", "authority", "expected"),
    [
        ((), b"a:1", b"a:1"),
        (((b"Host", b"b"),), b"", b"b"),
        (((b"host", b"b"),), b"a", b"b"),  # a scenario has set it
        (((b"Host", b""),), b"a", b"a"),
        ((), b"", None),
    ],
)
def test_the_authority(headers, authority, expected):
    assert pseudo(RequestHead(b"GET", b"/", headers, authority=authority)).get(b":authority") == expected


@pytest.mark.parametrize(
    ("method", "target", "scheme", "authority", "path"),
    [
        (b"GET", b"http://x.test/a?b", b"http", b"x.test", b"/a?b"),
        (b"GET", b"HTTPS://x.test:1?b=/", b"https", b"x.test:1", b"/?b=/"),
        (b"GET", b"http://x.test", b"http", b"x.test", b"/"),
        (b"OPTIONS", b"http://x.test", b"http", b"x.test", b"*"),
        (b"OPTIONS", b"*", b"https", b"a", b"*"),
        (b"GET", b"//evil/..%2f\\", b"https", b"a", b"//evil/..%2f\\"),
        (b"GET", b"", b"https", b"a", b"/"),
    ],
)
def test_targets(method, target, scheme, authority, path):
    found = pseudo(RequestHead(method, target, authority=b"a", scheme=b"https"))
    assert (found[b":scheme"], found[b":authority"], found[b":path"]) == (scheme, authority, path)


def test_connect_has_no_scheme_and_no_path():
    head = RequestHead(b"CONNECT", b"a:443", ((b"Host", b"b"), (b"x", b"y")), final=True)
    assert pairs(request_fields(head)) == [(b":method", b"CONNECT"), (b":authority", b"a:443"), (b"x", b"y")]


def test_extended_connect():
    head = RequestHead(b"CONNECT", b"/chat", authority=b"a", upgrade=b"websocket")
    assert pseudo(head) == {
        b":method": b"CONNECT",
        b":scheme": b"http",
        b":authority": b"a",
        b":path": b"/chat",
        b":protocol": b"websocket",
    }


@pytest.mark.parametrize(
    ("sent", "written"),
    [
        (((b"TE", b"trailers"),), [(b"te", b"trailers")]),
        (((b"TE", b"deflate, Trailers"), (b"te", b"trailers")), [(b"te", b"trailers")]),
        (((b"TE", b"deflate"),), []),
        (((b"Connection", b"te"), (b"TE", b"trailers")), [(b"te", b"trailers")]),
        (((b"Connection", b"content-length"), (b"Content-Length", b"1")), [(b"content-length", b"1")]),
        (((b"Keep-Alive", b"x"), (b"Proxy-Connection", b"x"), (b"Upgrade", b"h2c"), (b"HTTP2-Settings", b"x")), []),
        (((b"X", b"\t a b \t"),), [(b"x", b"a b")]),
        (((b"Cookie", b"a"), (b"X", b"y"), (b"Cookie", b"b")), [(b"cookie", b"a"), (b"x", b"y"), (b"cookie", b"b")]),
    ],
)
def test_fields_that_belong_to_a_connection_stay_on_it(sent, written):
    assert regular(sent) == written


def test_te_is_for_requests_alone():
    """RFC 9113 section 8.2.2."""
    fields = ((b"TE", b"trailers"), (b"X", b"y"))
    assert response_fields(ResponseHead(200, fields))[1:] == [(b"x", b"y")]
    assert response_fields(Interim(103, fields))[1:] == [(b"x", b"y")]
    assert trailers_block(fields) == [(b"x", b"y")]


def never_indexed(block):
    return [isinstance(field, NeverIndexedHeaderTuple) for field in block]


def test_secrets_stay_out_of_the_compression_table():
    secret = (
        (b"Authorization", b"x"),
        (b"cookie", b"x"),
        (b"set-cookie", b"x"),
        (b"X-Api-Key", b"x"),
        (b"api-key", b"x"),
    )
    assert never_indexed(trailers_block((*secret, (b"accept", b"x")))) == [True, True, True, True, True, False]


def test_what_came_as_never_indexed_enters_no_table_behind_us():
    """RFC 7541 section 6.2.3: an intermediary uses the same representation."""
    sent = [
        (b":method", b"GET"),
        (b":scheme", b"http"),
        (b":authority", b"a"),
        (b":path", b"/"),
        (b"a", b"x"),
        (b"pin", b"x"),
        (b"a", b"y"),
    ]
    encoder, blocks = Encoder(), Blocks()
    encoded = encoder.encode([(*field, field[0] == b"pin") for field in sent])
    block = blocks.add(HEADERS, END_HEADERS | END_STREAM, 1, encoded)
    head = request_head(block.fields, final=True)
    assert never_indexed(request_fields(head)) == [False] * 5 + [True, False]


@pytest.mark.parametrize(("head", "status"), [(Interim(103), b"103"), (ResponseHead(204, reason=b"Gone"), b"204")])
def test_a_reason_has_no_place(head, status):
    assert pairs(response_fields(head)) == [(b":status", status)]
