"""URLs and listen addresses: what they say, and what is said of those that say nothing."""

import pytest

from chaosproxy.errors import UsageError
from chaosproxy.proxy.address import UpstreamAddress, parse_listen, parse_upstream


@pytest.mark.parametrize(
    ("text", "address", "authority"),
    [
        ("http://a", UpstreamAddress("http", "a", 80), b"a"),
        ("http://a:8080/x/y/", UpstreamAddress("http", "a", 8080, b"/x/y"), b"a:8080"),
        ("https://a", UpstreamAddress("https", "a", 443), b"a"),
        ("https://a:80", UpstreamAddress("https", "a", 80), b"a:80"),
        ("h2c://[::1]:9", UpstreamAddress("h2c", "::1", 9), b"[::1]:9"),
        ("http://bücher.example", UpstreamAddress("http", "xn--bcher-kva.example", 80), b"xn--bcher-kva.example"),
    ],
)
def test_upstreams(text, address, authority):
    assert parse_upstream(text) == address
    assert parse_upstream(text).authority == authority
    assert parse_upstream(parse_upstream(text).url) == address


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a:80",
        "ftp://a",
        "http://",
        "http://a:x",
        "http://a:99999",
        "http://a?b",
        "http://a#b",
        "http://u:p@a",
        "http://[::1",
    ],
)
def test_what_is_no_upstream(text):
    with pytest.raises(UsageError, match="upstream"):
        parse_upstream(text)


@pytest.mark.parametrize(
    ("text", "address"),
    [("127.0.0.1:0", ("127.0.0.1", 0)), ("[::1]:80", ("::1", 80)), ("localhost:65535", ("localhost", 65535))],
)
def test_listen_addresses(text, address):
    assert parse_listen(text) == address


@pytest.mark.parametrize("text", ["", "80", ":80", "a", "a:", "a:x", "a:65536", "::1:80", "a:-1", "a:٣"])
def test_what_is_no_listen_address(text):
    with pytest.raises(UsageError, match="listen address"):
        parse_listen(text)
