"""Requests over HTTP/1.1 that somebody could read otherwise than they were meant, by what is odd about them.

Rules: these are refused, each class with one status; what is odd and served stands in `served.py`. `NEXT` is the request
that a smuggler would hide. Must not know: who reads them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

HOST = b"Host: a.test\r\n"
NEXT = b"GET /next HTTP/1.1\r\nHost: a.test\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Odd:
    """One class of requests by what they are called. `status` is what they are refused with; None: they are served."""

    name: str
    requests: Mapping[str, bytes]
    status: int | None = 400


def get(fields: bytes = b"", line: bytes = b"GET / HTTP/1.1") -> bytes:
    return line + b"\r\n" + HOST + fields + b"\r\n"


def post(fields: bytes, body: bytes = b"") -> bytes:
    return get(fields, b"POST / HTTP/1.1") + body


def chunked(body: bytes) -> bytes:
    return post(b"Transfer-Encoding: chunked\r\n", body)


def length(value: bytes) -> bytes:
    return post(b"Content-Length: " + value + b"\r\n", b"hello")


def coding(value: bytes) -> bytes:
    return post(b"Transfer-Encoding: " + value + b"\r\n", b"0\r\n\r\n")


def host(value: bytes) -> bytes:
    return b"GET / HTTP/1.1\r\nHost: " + value + b"\r\n\r\n"


def size(value: bytes) -> bytes:
    return chunked(value + b"\r\nAAAAA\r\n0\r\n\r\n")


def line(value: bytes) -> bytes:
    return get(b"", value)


def _each(what: str, made: Mapping[bytes, bytes]) -> dict[str, bytes]:
    return {f"{what} {value!r}": request for value, request in made.items()}


def _lines(values: Iterable[bytes]) -> dict[str, bytes]:
    return _each("line", {value: line(value) for value in values})


TWO_FRAMINGS = Odd(
    "Content-Length beside Transfer-Encoding",
    {
        "length and chunked": post(b"Content-Length: 6\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\nX"),
        "chunked and length": post(b"Transfer-Encoding: chunked\r\nContent-Length: 6\r\n", b"0\r\n\r\nX"),
        "chunked that hides a request": post(
            b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", b"%x\r\n%b\r\n0\r\n\r\n" % (len(NEXT), NEXT)
        ),
        "length 0 and chunked": post(b"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n"),
    },
)
TWO_LENGTHS = Odd(
    "more than one Content-Length",
    {
        "two lengths": post(b"Content-Length: 5\r\nContent-Length: 6\r\n", b"hello!"),
        "length list": length(b"5, 6"),
        "equal lengths": post(b"Content-Length: 5\r\ncontent-length: 5\r\n", b"hello"),
        "equal length list": length(b"5, 5"),
        "length and an empty one": post(b"Content-Length: 5\r\nContent-Length:\r\n", b"hello"),
    },
)
_LENGTHS = (
    b"+5",
    b"-5",
    b"1_0",
    b"0x5",
    b"5.0",
    b"5;x",
    b"",
    b"\x0b5",
    b"\xa05",
    b"5\xa0",
    b"5 5",
    b"5\0",
    b"\xb2",
    b"5,",
)
NO_LENGTH = Odd("a Content-Length that is no number", _each("length", {value: length(value) for value in _LENGTHS}))
HUGE_LENGTH = Odd(
    "a Content-Length of 2^63 and more, or of 20 digits",
    {
        "length 2^64+5": length(b"18446744073709551621"),
        "length 2^63": length(b"9223372036854775808"),
        "length of 20 digits": length(b"00000000000000000005"),
    },
)
_CODINGS = (
    *(b"gzip, chunked", b"chunked, gzip", b"identity", b"xchunked", b"chunked, chunked", b",chunked", b"chunked,"),
    *(b'"chunked"', b"chunked;x=1", b"", b"cow", b"\x85chunked", b"chunked chunked", b"chunked, identity"),
)
OTHER_CODING = Odd(
    "a transfer coding other than chunked", _each("coding", {value: coding(value) for value in _CODINGS}), 501
)
ODD_CODING = Odd(
    "Transfer-Encoding with a control character",
    _each(
        "coding",
        {value: coding(value) for value in (b"\x0bchunked", b"\x0cchunked", b"chunked\0", b"chunked\x0b")},
    ),
)
MORE_CODINGS = Odd(
    "Transfer-Encoding twice, or in HTTP/1.0",
    {
        "coding twice": post(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n"),
        "coding and identity": post(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", b"0\r\n\r\n"),
        "chunked in 1.0": get(b"Transfer-Encoding: chunked\r\n", b"POST / HTTP/1.0") + b"0\r\n\r\n",
    },
)
_NAMES = (b"a\0", b"\xe9", b"a(", b"", b"a b", b"a\t", b"a\x0b", b'"a"', b"a\xa0")
NAMES = Odd(
    "a field name that is none, or with a blank behind it",
    {
        "space before colon": post(b"Transfer-Encoding : chunked\r\n", b"0\r\n\r\n"),
        "tab before colon": post(b"Transfer-Encoding\t: chunked\r\n", b"0\r\n\r\n"),
        "space before colon of length": post(b"Content-Length : 5\r\n", b"hello"),
        **_each("name", {name: get(name + b": x\r\n") for name in _NAMES}),
        "no colon": get(b"Content-Length\r\n"),
    },
)
FOLDS = Odd(
    "folded lines",
    {
        "fold": get(b"X: a\r\n b\r\n"),
        "fold with tab": get(b"X: a\r\n\tb\r\n"),
        "fold of a blank": get(b"X: a\r\n \r\n"),
        "fold makes the coding": post(b"Transfer-Encoding:\r\n chunked\r\n", b"0\r\n\r\n"),
        "fold behind Host": b"POST / HTTP/1.1\r\nHost: a\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "fold as first field": b"GET / HTTP/1.1\r\n X: y\r\nHost: a\r\n\r\n",
    },
)
LINE_ENDS = Odd(
    "lines of a head that end in LF or CR alone",
    {
        "CR in a line": post(b"X: y\rTransfer-Encoding: chunked\r\n", b"0\r\n\r\n"),
        "LF ends a line": post(b"X: y\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n"),
        "LF everywhere": b"GET / HTTP/1.1\nHost: a.test\n\n",
        "LF ends the head": b"GET / HTTP/1.1\r\nHost: a.test\r\n\n",
        "CR CR LF": b"GET / HTTP/1.1\r\nHost: a.test\r\r\n\r\n",
        "CR ends the request line": b"GET / HTTP/1.1\rHost: a.test\r\n\r\n",
    },
)
CHUNK_ENDS = Odd(
    "chunk headers and chunks that do not end in CRLF",
    {
        "LF in an extension": chunked(b"5;\nAAAAA\r\n0\r\n\r\n"),
        "LF in an extension hides a request": chunked(
            b"2;\nxx\r\n%x\r\n0\r\n\r\n%b\r\n0\r\n\r\n" % (len(NEXT) + 5, NEXT)
        ),
        "CR in an extension": chunked(b"5;a\rb\r\nAAAAA\r\n0\r\n\r\n"),
        "NUL in an extension": chunked(b"5;a\0b\r\nAAAAA\r\n0\r\n\r\n"),
        "size ended by LF": chunked(b"5\nAAAAA\r\n0\r\n\r\n"),
        "size ended by CR": chunked(b"5\rAAAAA\r\n0\r\n\r\n"),
        "data ended by LF": chunked(b"5\r\nAAAAA\n0\r\n\r\n"),
        "data ended by CR": chunked(b"5\r\nAAAAA\r0\r\n\r\n"),
        "bytes for the CRLF of a chunk": chunked(b"5\r\nAAAAAXX0\r\n\r\n"),
        "spill": chunked(b"5\r\nAAAAAAA\r\n0\r\n\r\n"),
        "last chunk ended by LF": chunked(b"5\r\nAAAAA\r\n0\n\r\n"),
        "no CRLF behind the last chunk": chunked(b"0\r\nXX" + NEXT),
    },
)
_SIZES = (
    *(b"0x5", b"+5", b"-5", b"0_5", b"5X", b"5.0", b";", b"", b" 5", b"5 ", b"5\t", b"00000000000000000005"),
    *(b"f" * 16, b"8000000000000000", b"10000000000000005", b"ffffffffffffffff;x"),
)
SIZES = Odd("a chunk size that is none, or of 2^63 and more", _each("size", {value: size(value) for value in _SIZES}))
BAD_TRAILERS = Odd(
    "trailers that are no fields",
    {
        "trailer without colon": chunked(b"0\r\nabc\r\n\r\n"),
        "trailer with a bare LF": chunked(b"0\r\nA: b\n\r\n"),
        "folded trailer": chunked(b"0\r\nA: b\r\n c\r\n\r\n"),
        "trailer name": chunked(b"0\r\nA b: c\r\n\r\n"),
        "NUL in a trailer": chunked(b"0\r\nA: b\0\r\n\r\n"),
    },
)
_HOSTS = (b"a@b", b"a b", b"a, b", b"a/b?c", b"a#", b"a:b", b"a:99999")
HOSTS = Odd(
    "no Host, two, or one that is none",
    {
        "no Host": b"GET / HTTP/1.1\r\nX: y\r\n\r\n",
        "two Hosts": b"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        **_each("host", {value: host(value) for value in _HOSTS}),
    },
)
VALUES = Odd("NUL or CR in a value", {"NUL in a value": get(b"X: a\0b\r\n"), "CR in a value": get(b"X: a\rb\r\n")})
REQUEST_LINES = Odd(
    "a request line that is none",
    _lines(
        (
            *(b"GET  / HTTP/1.1", b"GET\t/ HTTP/1.1", b"GET / HTTP/1.1 ", b"GET /a b HTTP/1.1", b"GET /  HTTP/1.1"),
            *(b"GET / HTTP/1.10", b"GET / HTTP/01.1", b"GET / http/1.1", b"GET / HTTP/0.9", b"GET /", b"GET / HTTP/1"),
            *(b"G(T / HTTP/1.1", b"GET /\0 HTTP/1.1", b"GET /\xe9 HTTP/1.1", b"GET /a#b HTTP/1.1", b" GET / HTTP/1.1"),
            *(b"GET a HTTP/1.1", b"GET * HTTP/1.1", b"CONNECT / HTTP/1.1", b"CONNECT a HTTP/1.1"),
            *(b"\xa0GET / HTTP/1.1", b"GET /\x7f HTTP/1.1", b"GET / HTTP/1.1\x0b", b"GET / HTTP/1,1"),
            *(b"GET / XTTP/1.1", b"/ GET HTTP/1.1", b"GET / HTTP/1.1 HTTP/1.1"),
            *(b"GET http:///x HTTP/1.1", b"GET http://u@b.test/x HTTP/1.1", b"GET http://b.t%st/x HTTP/1.1"),
            *(b"GET a:b HTTP/1.1", b"GET http:/x HTTP/1.1", b"GET http://a,b:c/ HTTP/1.1"),
        )
    ),
)
NO_REQUEST = Odd(
    "what is no request at all",
    {
        "three empty lines": b"\r\n\r\n\r\n" + get(),
        "empty line of LF": b"\n" + get(),
        "CONNECT with a body": b"CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\nContent-Length: 5\r\n\r\nhello",
        "a TLS hello": b"\x16\x03\x01\x02\x00\x01",
    },
)
VERSIONS = Odd(
    "HTTP/2 and later in a line of text", _lines((b"GET / HTTP/2.0", b"GET / HTTP/3.1", b"PRI * HTTP/2.0")), 505
)
REFUSED = (
    *(TWO_FRAMINGS, TWO_LENGTHS, NO_LENGTH, HUGE_LENGTH, OTHER_CODING, ODD_CODING, MORE_CODINGS, NAMES, FOLDS),
    *(LINE_ENDS, CHUNK_ENDS, SIZES, BAD_TRAILERS, HOSTS, VALUES, REQUEST_LINES, NO_REQUEST, VERSIONS),
)
