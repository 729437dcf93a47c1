"""The validator of heads: each rule of the grammar from both of its sides."""

import pytest

from chaosproxy.model.messages import Interim, RequestHead, ResponseHead
from chaosproxy.model.validate import (
    authority_problem,
    check_request,
    check_response,
    field_problem,
    fields_problem,
    method_problem,
    permitted_trailers,
    reason_problem,
    scheme_problem,
    show,
    status_problem,
    target_problem,
)

HOST = ((b"Host", b"a.test"),)


@pytest.mark.parametrize("name", [b"x", b"X-Y", b"Transfer_Encoding", b"!#$%&'*+.^_`|~09"])
def test_a_token_is_a_field_name_and_a_method(name):
    assert field_problem(name, b"v") is None
    assert method_problem(name) is None


@pytest.mark.parametrize(
    "name", [b"", b"a b", b"a:", b"a\0", b"\xe9", b"(a)", b"a\r\nb", b"a\n", b" a", b"a\t", b'"a"']
)
def test_anything_else_is_neither(name):
    assert field_problem(name, b"v") is not None
    assert method_problem(name) is not None


@pytest.mark.parametrize("value", [b"", b"a b\tc", b"\x01\x1b\x7f", b"\x80\xff", "\u00e9".encode()])
def test_values_that_pass_byte_exact(value):
    assert field_problem(b"x", value) is None


@pytest.mark.parametrize("value", [b"a\r\nb", b"a\rb", b"a\nb", b"a\0", b" a", b"a ", b"\ta", b"a\t", b"\n"])
def test_values_that_could_break_a_line_or_lose_a_byte(value):
    assert field_problem(b"x", value) is not None


@pytest.mark.parametrize(
    "authority",
    [b"a", b"a:80", b"a:", b"A-b.c_d", b"127.0.0.1:1", b"[::1]", b"[::1]:443", b"[v1.a:b]", b"a%20b", b"a:65535"],
)
def test_authorities(authority):
    assert authority_problem(authority) is None


@pytest.mark.parametrize(
    "authority",
    [
        b"",
        b"u@a",
        b"a b",
        b"a, b",
        b"a/b",
        b"a?c",
        b"a#",
        b"a:b",
        b"a:65536",
        b"a:000080",
        b":80",
        b"[::1",
        b"a%2",
        b"\xe9",
        b"a\n",
        b"a\\b",
    ],
)
def test_no_authorities(authority):
    assert authority_problem(authority) is not None


@pytest.mark.parametrize(
    "target", [b"/", b"//evil", b"/..", b"/%2f..%00", b"/a\\b", b"/?a=b|c", b"http://x/y", b"http://x?y", b"ftp://x/"]
)
def test_targets_pass_within_their_form(target):
    assert target_problem(b"GET", target) is None


@pytest.mark.parametrize(
    "target", [b"", b"a", b"*", b"/a b", b"/\t", b"/\0", b"/\xe9", b"/a#b", b"/\r\n", b"/\x7f", b"?a", b":80", b"urn:a"]
)
def test_targets_that_are_none(target):
    assert target_problem(b"GET", target) is not None


@pytest.mark.parametrize(
    "target", [b"http://", b"http:///x", b"HTTPS://u@x/", b"ftp://u@x/", b"http://x%2/", b"http://x:y/"]
)
def test_an_absolute_target_has_an_authority(target):
    assert target_problem(b"GET", target) is not None


def test_asterisk_is_for_options_and_an_authority_for_connect():
    assert target_problem(b"OPTIONS", b"*") is None
    assert target_problem(b"CONNECT", b"a.test:443") is None
    assert target_problem(b"CONNECT", b"[::1]:443") is None
    for target in (b"a.test", b"a.test:", b"/", b"http://a.test:80/", b"u@a:1"):
        assert target_problem(b"CONNECT", target) is not None


def test_schemes_statuses_reasons():
    assert scheme_problem(b"https") is None
    for scheme in (b"", b"http://x/?", b"1a", b"a b"):
        assert scheme_problem(scheme) is not None
    assert [status for status in (99, 100, 599, 600) if status_problem(status)] == [99, 600]
    assert reason_problem(b"Not \xe9\t") is None
    for reason in (b"a\r\nb", b"\x1b[2J", b"\x7f", b"\0"):
        assert reason_problem(reason) is not None


def test_a_request_wants_one_host_in_http_1_1():
    assert check_request(RequestHead(b"GET", b"/", HOST)) is None
    assert check_request(RequestHead(b"GET", b"/", ((b"Host", b""),))) is None
    assert check_request(RequestHead(b"GET", b"/")) == "no Host"
    assert check_request(RequestHead(b"GET", b"/", version=b"1.0")) is None
    assert check_request(RequestHead(b"GET", b"/", authority=b"a.test")) is None
    assert check_request(RequestHead(b"GET", b"/", HOST * 2)) == "more than one Host"
    assert "authority" in str(check_request(RequestHead(b"GET", b"/", ((b"host", b"a@b"),))))


@pytest.mark.parametrize(
    "head",
    [
        RequestHead(b"GET / HTTP/1.1", b"/", authority=b"a", version=b"2"),
        RequestHead(b"", b"/", authority=b"a", version=b"2"),
        RequestHead(b"GET", b"/ HTTP/1.1\r\nx:", authority=b"a", version=b"2"),
        RequestHead(b"GET", b"http://a/", authority=b"a", version=b"2"),
        RequestHead(b"GET", b"/", authority=b"u@a", version=b"2"),
        RequestHead(b"GET", b"/", scheme=b"http://x/?", authority=b"a", version=b"2"),
        RequestHead(b"GET", b"/", ((b"a\r\nb", b"c"),), authority=b"a", version=b"2"),
    ],
)
def test_a_request_of_http_2_cannot_be_split_in_http_1(head):
    assert check_request(head) is not None


def test_connect_plain_and_extended():
    assert check_request(RequestHead(b"CONNECT", b"a:1", authority=b"a:1", version=b"2")) is None
    assert check_request(RequestHead(b"CONNECT", b"/chat", authority=b"a", version=b"2", upgrade=b"websocket")) is None
    assert check_request(RequestHead(b"CONNECT", b"/chat", authority=b"a", version=b"2")) is not None


def test_responses():
    assert check_response(ResponseHead(200, ((b"a", b"b"),), b"OK")) is None
    assert check_response(Interim(103)) is None
    assert check_response(ResponseHead(600)) is not None
    assert check_response(ResponseHead(200, reason=b"a\nb")) is not None
    assert check_response(ResponseHead(200, ((b"a", b"b\nc"),))) is not None


def test_trailers_lose_what_frames_and_routes():
    fields = ((b"Grpc-Status", b"0"), (b"Content-Length", b"5"), (b"HOST", b"x"), (b"Transfer-Encoding", b"chunked"))
    assert permitted_trailers(fields) == fields[:1]


def test_what_is_shown_of_a_peer_is_short_and_printable():
    text = show(b"\x1b[2J\n\xe9" + b"a" * 1000)
    assert text.isascii()
    assert text.isprintable()
    assert len(text) < 80


@pytest.mark.parametrize(
    ("target", "shown"),
    [
        (b"http://h?x=a@b&key=SECRET#f", "http://h?..."),
        (b"h?x=a@b&key=SECRET", "h?..."),
        (b"h#a@SECRET", "h#..."),
        (b"http://u:SECRET@h?x=a@b", "***@h"),
        (b"u:SECRET@h/p", "***@h/p"),
    ],
)
def test_of_a_target_neither_user_information_nor_a_query_is_shown(target, shown):
    problem = target_problem(b"GET", target)
    assert problem is not None
    assert f"'{shown}'" in problem


def test_of_many_fields_the_first_that_is_wrong_is_named():
    sound = ((b"a", b"b"), (b"c", b""))
    assert fields_problem(sound) is None
    assert fields_problem((*sound, (b"d e", b"f"), (b"g", b"\0"))) == "field name 'd ...' is no token"


def test_a_text_is_cut_only_where_it_would_be_longer_than_sixty_bytes():
    assert show(b"x" * 60) == f"'{'x' * 60}'"
    assert show(b"x" * 61) == f"'{'x' * 57}...'"
