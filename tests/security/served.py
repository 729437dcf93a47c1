"""Requests over HTTP/1.1 that are odd, or look as if they were, and are served: what they are must be the same for all.

Must not know: who reads them.
"""

from tests.security.corpus import NEXT, Odd, chunked, get, host, length, line, post

BODIES = Odd(
    "a body with one framing, as usual or spelt otherwise",
    {
        "plain": get(),
        "chunked upper case": post(b"TRANSFER-ENCODING: CHUNKED\r\n", b"5\r\nhello\r\n0\r\n\r\n"),
        "length": length(b"5"),
        "length with leading zero": length(b"05"),
        "length 0": post(b"Content-Length: 0\r\n"),
        "GET with a body": get(b"Content-Length: 5\r\n") + b"hello",
        "DELETE chunked": get(b"Transfer-Encoding: chunked\r\n", b"DELETE / HTTP/1.1") + b"1\r\na\r\n0\r\n\r\n",
        "a request as a body": post(b"Content-Length: %d\r\n" % len(NEXT), NEXT),
        "a request as a chunk": chunked(b"%x\r\n%b\r\n0\r\n\r\n" % (len(NEXT), NEXT)),
        "16 digits": chunked(b"0000000000000005\r\nhello\r\n0000\r\n\r\n"),
    },
    None,
)
LOOKALIKES = Odd(
    "names that look like framing",
    {
        "underscored coding is a field": get(b"Transfer_Encoding: chunked\r\n"),
        "underscored length is a field": get(b"Content_Length: 5\r\n"),
        "X-Transfer-Encoding": get(b"X-Transfer-Encoding: chunked\r\nContent-Length-X: 5\r\n"),
    },
    None,
)
CONNECTION = Odd(
    "framing and Host named in Connection",
    {
        "protected names listed": post(b"Connection: Content-Length, Host, TE\r\nContent-Length: 5\r\n", b"hello"),
        "coding listed": post(
            b"Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked\r\n", b"5\r\nhello\r\n0\r\n\r\n"
        ),
        "hop-by-hop": get(
            b"Connection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\nProxy-Connection: x\r\nX: 1\r\n"
        ),
    },
    None,
)
CONTROLS = Odd(
    "control characters and bytes above ASCII in a value",
    {"controls in a value": get(b"X: \x1b[2J\x01\x7f\r\n"), "bytes above ASCII": get(b"X: \xe9\xa0\x9b\r\n")},
    None,
)
OLDER_AND_NEWER = Odd(
    "HTTP/1.0, HTTP/1.2, the last on its connection, empty lines in front",
    {
        "minor version 2": line(b"GET / HTTP/1.2"),
        "HTTP/1.0": b"GET / HTTP/1.0\r\n\r\n",
        "close": get(b"Connection: close\r\n"),
        "one empty line before": b"\r\n" + get(),
        "two empty lines before": b"\r\n\r\n" + get(),
    },
    None,
)
EXTENSIONS = Odd(
    "chunk extensions",
    {
        "extension": chunked(b"5;a=b\r\nhello\r\n0;last\r\n\r\n"),
        "blank before an extension": chunked(b"5 \t; ext\r\nhello\r\n0\r\n\r\n"),
        "quoted extension": chunked(b'5;a="b;c"\r\nhello\r\n0\r\n\r\n'),
    },
    None,
)
TRAILERS = Odd(
    "trailers, framing and Host among them",
    {
        "trailers": chunked(b"5\r\nhello\r\n0\r\nX-Sum:  1 \r\nY:\r\n\r\n"),
        "length as a trailer": chunked(b"5\r\nhello\r\n0\r\nContent-Length: 5\r\n\r\n"),
        "coding as a trailer": chunked(b"5\r\nhello\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n"),
        "Host as a trailer": chunked(b"5\r\nhello\r\n0\r\nHost: evil.test\r\n\r\n"),
    },
    None,
)
EXPECT = Odd(
    "Expect, spelt rightly or not",
    {
        "expect": post(b"Expect: 100-continue\r\nContent-Length: 5\r\n", b"hello"),
        "expect something else": post(b"Expect: y 100-continue\r\nContent-Length: 5\r\n", b"hello"),
    },
    None,
)
TARGETS = Odd(
    "targets of every form",
    {
        "empty Host": host(b""),
        "odd target": line(b"GET //evil/..%2f%00\\ HTTP/1.1"),
        "absolute": line(b"GET http://b.test/x HTTP/1.1"),
        "asterisk": line(b"OPTIONS * HTTP/1.1"),
        "dots": line(b"GET /a/../../etc HTTP/1.1"),
    },
    None,
)
SERVED = (BODIES, LOOKALIKES, CONNECTION, CONTROLS, OLDER_AND_NEWER, EXTENSIONS, TRAILERS, EXPECT, TARGETS)

TUNNELS = Odd(
    "a tunnel that is asked for and refused",
    {
        "CONNECT": b"CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n",
        "Upgrade": get(b"Connection: Upgrade\r\nUpgrade: websocket\r\n"),
        "Upgrade with a body": post(b"Connection: Upgrade\r\nUpgrade: x\r\nContent-Length: %d\r\n" % len(NEXT), NEXT),
        "h2c": get(b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"),
    },
    None,
)
"""What follows it is a request. Towards an origin of another version they are answered 501."""
