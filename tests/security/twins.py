"""Answers over HTTP/1.1 that somebody could read otherwise than they were meant.

Rules: what is told twice, or too much, says EVIL, which no client may ever see. Must not know: who reads them.
"""

from collections.abc import Mapping

EVIL = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def head(fields: bytes, status: bytes = b"200 OK") -> bytes:
    return b"HTTP/1.1 " + status + b"\r\n" + fields + b"\r\n"


def sized(value: bytes) -> bytes:
    return head(b"Content-Length: " + value + b"\r\n") + b"EVIL"


def coded(value: bytes) -> bytes:
    return head(b"Transfer-Encoding: " + value + b"\r\n") + b"4\r\nEVIL\r\n0\r\n\r\n"


def field(line: bytes) -> bytes:
    return head(line + b"\r\nContent-Length: 0\r\n") + EVIL


def start(line: bytes) -> bytes:
    return line + b"\r\nContent-Length: 0\r\n\r\n" + EVIL


MORE: Mapping[str, bytes] = {
    "204 with a body": head(b"Content-Length: 4\r\n", b"204 No Content") + b"EVIL",
    "204 with chunks": head(b"Transfer-Encoding: chunked\r\n", b"204 No Content") + b"4\r\nEVIL\r\n0\r\n\r\n",
    "304 with a body": head(b"Content-Length: 4\r\n", b"304 Not Modified") + b"EVIL",
    "304 with an answer behind it": head(b"", b"304 Not Modified") + EVIL,
    "HEAD with a body": head(b"Content-Length: 4\r\n") + b"EVIL",
    "HEAD with chunks": CHUNKED + b"4\r\nEVIL\r\n0\r\n\r\n",
    "bytes behind the length": head(b"Content-Length: 2\r\n") + b"okEVIL",
    "two answers": head(b"Content-Length: 2\r\n") + b"ok" + EVIL,
    "three answers": head(b"Content-Length: 2\r\n") + b"ok" + EVIL + EVIL,
    "length 0 and a body": head(b"Content-Length: 0\r\n") + b"EVIL",
    "an empty line behind": head(b"Content-Length: 2\r\n") + b"ok\r\n",
    "an interim answer behind": head(b"Content-Length: 2\r\n") + b"okHTTP/1.1 100 EVIL\r\n\r\n",
    "bytes behind the last chunk": CHUNKED + b"2\r\nok\r\n0\r\n\r\nEVIL",
    "an answer behind trailers": CHUNKED + b"2\r\nok\r\n0\r\nX: y\r\n\r\n" + EVIL,
    "chunked and a length": head(b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n") + b"2\r\nok\r\n0\r\n\r\n",
    "a length and chunked, and more": head(b"Transfer-Encoding: chunked\r\nContent-Length: 40\r\n")
    + b"2\r\nok\r\n0\r\n\r\nEVIL",
    "close, and an answer": head(b"Connection: close\r\nContent-Length: 2\r\n") + b"ok" + EVIL,
    "HTTP/1.0, keep-alive, and an answer": b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok"
    + EVIL,
    "an interim answer, then two": head(b"", b"103 Early Hints") + head(b"Content-Length: 2\r\n") + b"ok" + EVIL,
}
"""Whole answers, with something behind them, or that nobody could be sure of: they are given, and that is the last."""

NONE: Mapping[str, bytes] = {
    **{
        f"line {line!r}": start(line)
        for line in (
            *(b"HTTP/1.1 099 X", b"HTTP/1.1 1000 X", b"HTTP/1.1 600 X", b"HTTP/1.1 20x X", b"HTTP/1.1 -20 X"),
            *(b"HTTP/1.1 2 X", b"HTTP/2.0 200 OK", b"HTTP/1.1  200 OK", b"HTTP/1.1\t200 OK", b"http/1.1 200 OK"),
            *(b"HTTP/1.10 200 OK", b" HTTP/1.1 200 OK", b"HTTP/1.1 200 O\x1bK", b"HTTP/1.1 200 O\0K", b"ICY 200 OK"),
            *(b"", b"EVIL", b"\x15\x03\x01\0\x02", b"HTTP/1.1 101 Switching Protocols", b"HTTP/1.1 200 OK\rX: y"),
        )
    },
    **{
        f"field {line!r}": field(line)
        for line in (
            *(b"X: a\rb", b"X: a\nb", b"X: a\0b", b"X: a\r\n b", b"X : a", b": a", b"no colon", b"a b: c", b"\xe9: a"),
            *(b"Content-Length: 5", b"Content-Length: 0, 5"),
        )
    },
    **{
        f"length {value!r}": sized(value)
        for value in (b"+4", b"-4", b"", b"4x", b"0x4", b"4 4", b"18446744073709551620", b"9223372036854775808", b"4,")
    },
    **{
        f"coding {value!r}": coded(value)
        for value in (
            b"gzip, chunked",
            b"identity",
            b"chunked, chunked",
            b"\x0bchunked",
            b"chunked\0",
            b"",
            b"xchunked",
        )
    },
    "coding twice": head(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n") + b"0\r\n\r\n" + EVIL,
    "100 with a body": head(b"Content-Length: 4\r\n", b"100 Continue") + b"EVIL" + EVIL,
    "102 with chunks": head(b"Transfer-Encoding: chunked\r\n", b"102 Processing") + b"4\r\nEVIL\r\n0\r\n\r\n" + EVIL,
    "33 interim answers": head(b"", b"102 Processing") * 33 + EVIL,
    "201 fields": head(b"X: y\r\n" * 201) + b"EVIL",
    "a head above 64 KiB": head(b"".join(b"X: %b\r\n" % (b"a" * 1000) for _ in range(66))) + b"EVIL",
}
"""No answers at all."""

BROKEN: Mapping[str, bytes] = {
    f"chunks {body!r}": CHUNKED + b"2\r\nok\r\n" + body + EVIL
    for body in (
        *(b"4\nEVIL\r\n0\r\n\r\n", b"4\rEVIL\r\n0\r\n\r\n", b"4;\nEVIL\r\n0\r\n\r\n", b"4;a\0\r\nEVIL\r\n0\r\n\r\n"),
        *(
            b"0x4\r\nEVIL\r\n0\r\n\r\n",
            b"+4\r\nEVIL\r\n0\r\n\r\n",
            b"4 \r\nEVIL\r\n0\r\n\r\n",
            b" 4\r\nEVIL\r\n0\r\n\r\n",
        ),
        *(
            b"\r\nEVIL\r\n0\r\n\r\n",
            b"fffffffffffffffff\r\n",
            b"8000000000000000\r\n",
            b"10000000000000004\r\n",
            b"x\r\n",
        ),
        *(b"0\n\r\n", b"0\r\nXX", b"0\r\nno colon\r\n\r\n", b"0\r\nX: a\n\r\n", b"0\r\nX: a\r\n b\r\n\r\n"),
    )
}
"""Answers whose body breaks HTTP behind good bytes."""
ALL = (
    *(data for kind in (MORE, NONE, BROKEN) for data in kind.values() if len(data) < 2000),
    head(b"Content-Length: 2\r\n") + b"ok",
    CHUNKED + b"2\r\nok\r\n0\r\n\r\n",
)
"""To be changed; two that are in order are among them."""
