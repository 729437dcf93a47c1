"""Writes heads: byte-exact what the model says, plus the little that HTTP/1.1 must have and the model may lack.

Added: Host from the authority, Transfer-Encoding or a length of 0 where the framing needs one, `Connection: TE` beside
TE, the usual reason of a status that has none. Taken out: Transfer-Encoding where the body is not chunked. Cookies that
HTTP/2 has split are joined. Nothing else is added, dropped, reordered or re-cased: no Date, no Via, no Connection.
Must not know: what has been received, the connection; bodies (`encoder.py`).
"""

from http import HTTPStatus

from chaosproxy.http1.heads import bodyless
from chaosproxy.model.headers import Headers, first, replaced, values, without
from chaosproxy.model.messages import Interim, RequestHead, ResponseHead
from chaosproxy.model.vocabulary import Framing

_REASONS = {status.value: status.phrase.encode() for status in HTTPStatus} | {
    413: b"Content Too Large",  # RFC 9110 section 15.5; older Pythons have the names of RFC 2616
    414: b"URI Too Long",
    416: b"Range Not Satisfiable",
    422: b"Unprocessable Content",
}
_EXPECTS_A_BODY = frozenset({b"POST", b"PUT", b"PATCH"})
_CHUNKED = (b"Transfer-Encoding", b"chunked")


def request_head(head: RequestHead) -> tuple[bytes, Framing]:
    """The bytes of a request head and how its body is written."""
    framing = _request_framing(head)
    headers = _cookies_joined(head.headers) if head.version == b"2" else head.headers
    if head.authority and first(headers, b"host") is None:
        headers = ((b"Host", head.authority), *headers)
    if first(headers, b"te") is not None:
        headers = _te_named(headers)
    if framing is Framing.NONE and _wants_zero(head):
        headers = (*headers, (b"content-length", b"0"))  # RFC 9110 section 8.6
    if head.old:
        headers = replaced(headers, b"Connection", b"close")
    version = b"1.0" if is_old(head) else b"1.1"
    return _head(b"%b %b HTTP/%b" % (head.method, head.target, version), _framed(headers, framing)), framing


def is_old(head: RequestHead) -> bool:
    """An HTTP/1.0 request that names no host cannot become an HTTP/1.1 request, and no host is invented: it stays 1.0. One
    that a fault wants to be old is."""
    return head.old or (head.version == b"1.0" and not head.authority and first(head.headers, b"host") is None)


def response_head(head: ResponseHead, method: bytes, version: bytes) -> tuple[bytes, Framing]:
    """The bytes of a final answer to a `method` request of a client that speaks `version`, and how its body is
    written. The status line says HTTP/1.1 to whoever asks (RFC 9110 section 2.5), unless the head wants another."""
    framing = _response_framing(head, method)
    if framing is Framing.CHUNKED and version == b"1.0" and not head.literal:
        framing = Framing.CLOSE  # RFC 9112 section 6.1: never chunked to an HTTP/1.0 client
    headers = head.headers
    if framing is Framing.NONE and version != b"1.0" and (method == b"HEAD" or head.status == 304):
        pass  # RFC 9112 section 6.1: these may say what a GET would have had
    elif framing is Framing.LENGTH and first(headers, b"content-length") is None:
        headers = _framed((*headers, (b"content-length", b"0")), framing)
    else:
        headers = _framed(headers, framing)
    return _head(_status_line(head.status, head.reason, head.version), headers), framing


def interim_head(head: Interim) -> bytes:
    return _head(_status_line(head.status, head.reason), head.headers)


def field_lines(headers: Headers) -> bytes:
    """The lines of fields, each with its CRLF."""
    return b"".join([b"%b: %b\r\n" % pair for pair in headers])


def _head(line: bytes, headers: Headers) -> bytes:
    return b"%b\r\n%b\r\n" % (line, field_lines(headers))


def _status_line(status: int, reason: bytes, version: bytes = b"1.1") -> bytes:
    return b"HTTP/%b %d %b" % (version, status, reason or _REASONS.get(status, b""))


def _request_framing(head: RequestHead) -> Framing:
    match head.framing:
        case Framing.NONE | Framing.CHUNKED | Framing.TUNNEL:
            return head.framing
        case Framing.LENGTH | Framing.STREAM | Framing.CLOSE:
            if first(head.headers, b"content-length") is not None:
                return Framing.LENGTH
            # RFC 9112 section 6.3: a request without either field has no body
            return Framing.NONE if head.final or head.method == b"CONNECT" else Framing.CHUNKED


def _wants_zero(head: RequestHead) -> bool:
    return head.framing is not Framing.NONE and head.final and head.method in _EXPECTS_A_BODY


def _response_framing(head: ResponseHead, method: bytes) -> Framing:
    tunnel = head.status == 101 or (method == b"CONNECT" and 200 <= head.status < 300)
    if tunnel or head.framing is Framing.TUNNEL:
        return Framing.TUNNEL
    if bodyless(method, head.status):
        return Framing.NONE
    match head.framing:
        case Framing.CHUNKED | Framing.CLOSE:
            return head.framing
        case Framing.NONE | Framing.LENGTH | Framing.STREAM:
            if head.final or first(head.headers, b"content-length") is not None:
                return Framing.LENGTH
            return Framing.CHUNKED


def _framed(headers: Headers, framing: Framing) -> Headers:
    """Transfer-Encoding present exactly where the body is chunked."""
    if framing is not Framing.CHUNKED:
        return without(headers, (b"transfer-encoding",))
    return headers if first(headers, b"transfer-encoding") is not None else (*headers, _CHUNKED)


def _te_named(headers: Headers) -> Headers:
    """RFC 9110 section 10.1.4: who sends TE names it in Connection."""
    connection = first(headers, b"connection")
    return replaced(headers, b"Connection", b"TE" if connection is None else connection + b", TE")


def _cookies_joined(headers: Headers) -> Headers:
    """RFC 9113 section 8.2.3."""
    cookies = values(headers, b"cookie")
    return replaced(headers, b"cookie", b"; ".join(cookies)) if len(cookies) > 1 else headers
