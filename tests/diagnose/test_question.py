"""What is asked of whom: URLs, names, fields and bodies as they are typed."""

import pytest

from chaosproxy.diagnose.question import Question, header, hops, turns_knobs
from chaosproxy.errors import UsageError
from chaosproxy.model.headers import first


def test_the_same_path_is_asked_of_all_that_name_none():
    read = hops(["http://app:8000/v1/chat?a=b", "nginx=http://127.0.0.1", "h2c://[::1]:9/", "https://cdn.test/x"])
    assert [one.url for one in read] == [
        "http://app:8000/v1/chat?a=b",
        "http://127.0.0.1:80/v1/chat?a=b",
        "h2c://[::1]:9/",
        "https://cdn.test:443/x",
    ]
    assert [one.name for one in read] == ["", "nginx", "", ""]
    assert [one.target for one in hops(["http://a", "http://b/c"])] == ["/", "/c"]
    assert hops(["http://a?tokens=3"])[0].target == "/?tokens=3"


def test_a_name_is_none_where_an_address_has_an_equals_sign():
    (read,) = hops(["http://a/b?c=http://d"])
    assert (read.name, read.target) == ("", "/b?c=http://d")


def test_what_cannot_be_sent_as_it_is_is_escaped():
    (read,) = hops(["http://a/ä b?q=é#part"])
    assert read.target == "/%C3%A4%20b?q=%C3%A9"


def test_bytes_of_the_command_line_that_are_no_text_are_sent_as_they_are():
    (read,) = hops(["http://a/\udcff?q=\udcfe"])
    assert read.target == "/%FF?q=%FE"
    assert header("a: \udcff") == (b"a", b"\xff")
    with pytest.raises(UsageError, match="no token"):
        Question("G\udcff").head(read, b"")


@pytest.mark.parametrize("url", ["a", "ftp://a", "http://", "http://a:0", "http://a:x", "http://u:p@a/"])
def test_what_is_no_url_is_said(url):
    with pytest.raises(UsageError, match="URL"):
        hops([url])


def test_whose_query_turns_the_knobs_itself():
    assert [turns_knobs(one) for one in hops(["http://a/sse?gap=1s", "http://a/sse?x=tokens", "http://a/sse"])] == [
        True,
        False,
        False,
    ]


def test_fields_and_bodies_are_those_that_a_client_would_send():
    (hop,) = hops(["https://a/b"])
    head = Question("POST", (header("Authorization: Bearer x"), header("host:other"))).head(hop, b'{"stream": true}')
    assert (head.method, head.target, head.scheme, head.authority) == (b"POST", b"/b", b"https", b"other")
    assert first(head.headers, b"authorization") == b"Bearer x"
    assert first(head.headers, b"content-type") == b"application/json"
    assert first(head.headers, b"content-length") == b"16"
    assert first(head.headers, b"host") is None
    own = Question("POST", (header("Content-Type: text/plain"), header("Accept: x"))).head(hop, b"a=b")
    assert [value for name, value in own.headers if name.lower() in {b"content-type", b"accept"}] == [
        b"text/plain",
        b"x",
    ]
    assert Question("GET").head(hop, b"").final


@pytest.mark.parametrize("wrong", ["no colon", ": empty"])
def test_a_field_that_is_none_is_said(wrong):
    with pytest.raises(UsageError, match="Name: value"):
        header(wrong)


def test_what_http_cannot_say_is_said_before_anything_is_asked():
    (hop,) = hops(["http://a/b"])
    with pytest.raises(UsageError, match="cannot be asked"):
        Question("GET", (header("a: b\nc"),)).head(hop, b"")
    with pytest.raises(UsageError, match="cannot be asked"):
        Question("G T").head(hop, b"")
