"""What of a request head is changed on its way to an upstream, and that nothing else is."""

import pytest

from chaosproxy.model.messages import RequestHead
from chaosproxy.proxy.address import parse_upstream
from chaosproxy.proxy.rewrite import for_upstream

FIELDS = ((b"Host", b"mine"), (b"X", b"1"), (b"Accept-Encoding", b"gzip"), (b"x", b"2"))
HTTP, HTTPS = parse_upstream("http://up:81"), parse_upstream("https://up")


def sent(target=b"/a?b", fields=FIELDS, address=HTTP, **how) -> RequestHead:
    choices = {"host": None, "mount": b"", "identity": False, **how}
    return for_upstream(RequestHead(b"GET", target, fields, authority=b"mine"), address, **choices)


def test_by_default_http_keeps_everything():
    assert sent() == RequestHead(b"GET", b"/a?b", FIELDS, authority=b"mine")


@pytest.mark.parametrize(
    ("address", "host", "named"),
    [
        (HTTP, None, b"mine"),
        (HTTPS, None, b"up"),
        (HTTPS, "keep", b"mine"),
        (HTTP, "upstream", b"up:81"),
        (HTTP, "other.example", b"other.example"),
    ],
)
def test_the_host(address, host, named):
    head = sent(address=address, host=host)
    assert head.headers == ((b"Host", named), *FIELDS[1:])
    assert head.authority == named


@pytest.mark.parametrize(
    ("target", "mount", "prefix", "becomes"),
    [
        (b"/m/a?b", b"/m", "", b"/a?b"),
        (b"/m", b"/m", "", b"/"),
        (b"/m?b", b"/m", "", b"/?b"),
        (b"/a", b"", "/p", b"/p/a"),
        (b"/m/a", b"/m", "/p/", b"/p/a"),
        (b"*", b"/m", "/p", b"*"),
        (b"http://else/a", b"/m", "/p", b"http://else/a"),
    ],
)
def test_the_target(target, mount, prefix, becomes):
    assert sent(target, mount=mount, address=parse_upstream(f"http://up{prefix}")).target == becomes


def test_accept_encoding_goes_where_records_are_read():
    assert sent(identity=True).headers == (FIELDS[0], FIELDS[1], FIELDS[3])


def test_a_request_without_a_host_gets_the_upstreams():
    head = for_upstream(RequestHead(b"GET", b"/"), HTTP, host=None, mount=b"", identity=False)
    assert head.authority == b"up:81"


def test_connect_names_where_it_wants_to_go():
    head = RequestHead(b"CONNECT", b"far:443", ((b"Host", b"far:443"),), authority=b"far:443")
    assert for_upstream(head, HTTP, host="upstream", mount=b"", identity=False) == head
