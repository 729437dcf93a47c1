"""Requests over HTTP/2 that would be two, or another one, if they were written down as HTTP/1.1 without a look.

Must not know: who reads them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.security.corpus import NEXT

Fields = Sequence[tuple[bytes, bytes]]
GET: Fields = ((b":method", b"GET"), (b":scheme", b"http"), (b":path", b"/"), (b":authority", b"a.test"))
POST: Fields = ((b":method", b"POST"), *GET[1:])
SECOND = b" HTTP/1.1\r\nHost: a.test\r\n\r\n" + NEXT[: -len(b" HTTP/1.1\r\nHost: a.test\r\n\r\n")]
"""Within a request line: the end of this head, and the beginning of another request."""


@dataclass(frozen=True, slots=True)
class Sent:
    """One request, as it goes out; without data the head ends the stream."""

    fields: Fields
    data: Sequence[bytes] = ()
    trailers: Fields = ()


@dataclass(frozen=True, slots=True)
class Sort:
    """Requests of one sort. They are all refused, or all served."""

    name: str
    requests: dict[str, Sent] = field(default_factory=dict)
    refused: bool = True


def pseudo(name: bytes, value: bytes, fields: Fields = GET) -> Fields:
    """`fields` with another value of `name`."""
    return [(key, value if key == name else old) for key, old in fields]


def _hidden(*fields: tuple[bytes, bytes], data: Sequence[bytes] = (NEXT,)) -> Sent:
    return Sent((*POST, *fields), data)


_BREAKS = (b"\r\n", b"\n", b"\r", b"\0")
SORTS = (
    Sort(
        "Transfer-Encoding (H2.TE)",
        {
            "chunked": _hidden((b"transfer-encoding", b"chunked"), data=(b"0\r\n\r\n" + NEXT,)),
            "upper case": _hidden((b"Transfer-Encoding", b"chunked"), data=(b"0\r\n\r\n" + NEXT,)),
            "in a value": _hidden((b"x", b"y\r\ntransfer-encoding: chunked"), data=(b"0\r\n\r\n" + NEXT,)),
            "in a name": _hidden((b"x: y\r\ntransfer-encoding", b"chunked"), data=(b"0\r\n\r\n" + NEXT,)),
            "with a blank": _hidden((b"transfer-encoding ", b"chunked"), data=(b"0\r\n\r\n" + NEXT,)),
            "as te": _hidden((b"te", b"chunked"), data=(b"0\r\n\r\n" + NEXT,)),
            "identity": _hidden((b"transfer-encoding", b"identity")),
        },
    ),
    Sort(
        "a Content-Length that its DATA does not keep to (H2.CL)",
        {
            "0 and DATA": _hidden((b"content-length", b"0")),
            "0 and DATA, frame by frame": _hidden((b"content-length", b"0"), data=(NEXT[:10], NEXT[10:])),
            "less than DATA": _hidden((b"content-length", b"5"), data=(b"hello", NEXT)),
            "less than DATA, in one frame": _hidden((b"content-length", b"5"), data=(b"hello" + NEXT,)),
            "more than DATA": _hidden((b"content-length", b"500")),
            "and no DATA": Sent((*POST, (b"content-length", b"5"))),
            "trailers before its end": Sent((*POST, (b"content-length", b"500")), (NEXT,), ((b"x", b"y"),)),
            "twice": _hidden((b"content-length", b"5"), (b"content-length", b"5"), data=(b"hello",)),
            "two lengths": _hidden((b"content-length", b"%d" % len(NEXT)), (b"content-length", b"0")),
            "a list": _hidden((b"content-length", b"5, 5"), data=(b"hello",)),
            **{
                f"{value!r}": _hidden((b"content-length", value))
                for value in (b"+5", b"5 5", b"0x5", b"", b"5\0", b"-0")
            },
        },
    ),
    Sort(
        "CR, LF or NUL in a field",
        {
            **{
                f"value {mark!r}": Sent((*GET, (b"x", b"y" + mark + b"Host: b" + mark + mark + NEXT)))
                for mark in _BREAKS
            },
            **{f"name {mark!r}": Sent((*GET, (b"x: y" + mark + b"a", b"b"))) for mark in _BREAKS},
            **{f"cookie {mark!r}": Sent((*GET, (b"cookie", b"a=b" + mark + NEXT))) for mark in _BREAKS},
            **{f"trailer {mark!r}": Sent(POST, (b"x",), ((b"x", b"y" + mark + mark + NEXT),)) for mark in _BREAKS},
        },
    ),
    Sort(
        "pseudo fields that would end the line they are written into",
        {
            "method": Sent(pseudo(b":method", b"GET /" + SECOND)),
            "method with a target": Sent(pseudo(b":method", b"GET / HTTP/1.1")),
            "method with CRLF": Sent(pseudo(b":method", b"GET\r\n")),
            "empty method": Sent(pseudo(b":method", b"")),
            "path": Sent(pseudo(b":path", b"/" + SECOND)),
            "path with a version": Sent(pseudo(b":path", b"/ HTTP/1.1")),
            **{
                f"path {value!r}": Sent(pseudo(b":path", value))
                for value in (b"/a b", b"/\xe9", b"/a#b", b"a", b"", b"/\t")
            },
            "path with CRLF": Sent(pseudo(b":path", b"/\r\n\r\n" + NEXT)),
            **{
                f"authority {value!r}": Sent(pseudo(b":authority", value))
                for value in (b"a\r\nX: y", b"a b", b"u@a", b"a/b", b"a:b", b"", b"a\r\n\r\n" + NEXT)
            },
            **{
                f"scheme {value!r}": Sent(pseudo(b":scheme", value))
                for value in (b"http://x/?", b"http\r\n", b"h p", b"", b"http://a.test/next HTTP/1.1")
            },
            "another Host": Sent((*GET, (b"host", b"b.test"))),
            "two Hosts": Sent((*GET, (b"host", b"a.test"), (b"host", b"a.test"))),
            "a target for CONNECT": Sent((*pseudo(b":method", b"CONNECT"),)),
            "protocol": Sent((*GET, (b":protocol", b"websocket"))),
            "pseudo field behind a field": Sent((*GET[:3], (b"x", b"y"), GET[3])),
            "path twice": Sent((*GET, (b":path", b"/next"))),
        },
    ),
    Sort(
        "names that are none, and fields of a connection",
        {
            **{
                f"name {name!r}": Sent((*GET, (name, b"y")))
                for name in (b"", b" ", b"a b", b"a:", b"a:b", b"\xe9", b"a\x7f", b"X", b"get / http/1.1", b"a\t")
            },
            **{
                f"{name.decode()}": Sent((*GET, (name, b"x")))
                for name in (b"connection", b"keep-alive", b"proxy-connection", b"upgrade")
            },
        },
    ),
    Sort(
        "bodies that look like requests, lengths in trailers, names like framing",
        {
            "a request as DATA": Sent(POST, (NEXT,)),
            "last chunk and a request": Sent(POST, (b"0\r\n\r\n" + NEXT,)),
            "with its length": Sent((*POST, (b"content-length", b"%d" % len(NEXT))), (NEXT[:7], NEXT[7:])),
            "GET with DATA": Sent(GET, (NEXT,)),
            "HEAD with DATA": Sent(pseudo(b":method", b"HEAD"), (NEXT,)),
            "length 0, no DATA": Sent((*POST, (b"content-length", b"0"))),
            "length as a trailer": Sent(POST, (NEXT,), ((b"content-length", b"5"), (b"x", b"y"))),
            "Host as a trailer": Sent(POST, (NEXT,), ((b"host", b"b.test"),)),
            "underscores": Sent((*POST, (b"transfer_encoding", b"chunked"), (b"content_length", b"0")), (NEXT,)),
            "Expect": Sent((*POST, (b"expect", b"100-continue")), (NEXT,)),
            "controls in a value": Sent((*GET, (b"x", b"\x01\x1b[2J\xe9"))),
            "Host as well": Sent((*GET, (b"host", b"A.test"))),
        },
        refused=False,
    ),
)
