"""What is taken apart without a parser is what the parser would have found; and in doubt the parser is asked."""

import h11
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chaosproxy.http1.fields import content_length
from chaosproxy.http1.heads import parse_request, parse_response
from chaosproxy.http1.lines import Malformed
from chaosproxy.http1.plain import plain_fields, plain_request_line
from chaosproxy.model.messages import RequestHead

GET = RequestHead(b"GET", b"/")
name = st.one_of(
    st.sampled_from([b"Host", b"X-A", b"content-length", b"Content-Length", b"Transfer-Encoding", b"Connection", b""]),
    st.binary(max_size=3),
)
value = st.one_of(
    st.sampled_from([b"chunked", b"Chunked", b"5", b"5, 5", b"05", b"9" * 20, b"a  b", b"a:b", b" a\t", b"", b"close"]),
    st.binary(max_size=4),
)
field = st.one_of(
    st.builds(
        lambda name, blank, value: name + b":" + blank + value, name, st.sampled_from([b"", b" ", b"\t "]), value
    ),
    st.binary(max_size=6),
)
lines = st.lists(field.filter(lambda line: line and not set(line) & set(b"\r\n")), max_size=4)


def by_h11(first: bytes, fields: list[bytes]) -> list[tuple[bytes, bytes]]:
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(b"\r\n".join([first, *fields]) + b"\r\n\r\n")
    event = connection.next_event()
    assert isinstance(event, h11.Request)
    assert [event.method, event.target] == first.split(b" ")[:2]
    return event.headers.raw_items()


@given(lines)
@example([b"A: \x80\x85\xa0\xff"])
@example([b"A: \x0b"])
def test_plain_fields_are_those_that_h11_finds(fields):
    plain = plain_fields(fields)
    if plain is None:
        return
    host = [] if b"host" in plain.names else [b"host: x"]
    found = by_h11(b"GET / HTTP/1.1", [*fields, *host])
    assert list(plain.headers) == (found[:-1] if host else found)
    assert plain.names == {key.lower() for key, _ in plain.headers}


def test_two_lengths_are_refused_by_ourselves_too():
    """h11 does so first, as long as it does."""
    with pytest.raises(Malformed, match="two different Content-Length"):
        content_length([b"Content-Length: 5, 6"], lenient=True)


@given(st.binary(min_size=1, max_size=4), st.binary(min_size=1, max_size=4))
@example(b"G(T", b"/")
@example(b"GET", b"/\x7f")
def test_a_plain_request_line_is_one_for_h11_too(method, target):
    if not set(method + target) & set(b" \r\n") and plain_request_line(b"%b %b HTTP/1.1" % (method, target)):
        assert by_h11(b"%b %b HTTP/1.1" % (method, target), [b"host: x"]) == [(b"host", b"x")]


@pytest.mark.parametrize(
    "fields",
    [
        [b"Host: a", b"X-One:1", b"x-one: \t two  words\t", b"X-Empty:", b"Cookie: a=b"],
        [b"host: a:1", b"content-length: 05"],
        [b"Host: a", b"Transfer-Encoding: chunked", b"TE: trailers"],
        [b"Host: a", b"Connection: close, X-One", b"X-One: 1"],
    ],
)
def test_common_heads_need_no_parser_and_mean_the_same(fields, monkeypatch):
    heads = [lambda: parse_request([b"PUT /a?b HTTP/1.1", *fields], b"http")]
    heads.append(lambda: parse_response([b"HTTP/1.1 200 Fine", *fields], GET))
    with monkeypatch.context() as without:
        without.setattr("chaosproxy.http1.heads.h11.Connection", None)
        quick = [head() for head in heads]
    monkeypatch.setattr("chaosproxy.http1.heads.plain_fields", lambda _: None)
    assert quick == [head() for head in heads]
