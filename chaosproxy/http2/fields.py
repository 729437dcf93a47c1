"""From a head to the header block that HTTP/2 wants for it (RFC 9113 sections 8.2 and 8.3).

Rules: names in lower case, values without blanks at their ends, nothing that belongs to one connection; the content is
otherwise as it came, cookies in their places. What may not enter a compression table is marked (RFC 7541 section 7.1.3):
what carries a secret, and what came so marked (section 6.2.3).
Must not know: frames, stream states, HPACK.
"""

from hpack import HeaderTuple, NeverIndexedHeaderTuple

from chaosproxy.http2.heads import CONNECTION_FIELDS
from chaosproxy.model.headers import Headers, first, tokens
from chaosproxy.model.mask import is_secret_field
from chaosproxy.model.messages import Interim, RequestHead, ResponseHead

Block = list[HeaderTuple]

_DROPPED = CONNECTION_FIELDS | {b"http2-settings", b"host"}
_PROTECTED = frozenset({b"content-length", b"host", b"te"})
"""Named in Connection they are not dropped: a message must not lose its length that way (RFC 9110 section 7.6.1)."""


def request_fields(head: RequestHead) -> Block:
    """Pseudo fields first. A Host field stands above `authority`: whoever set it meant it."""
    authority = first(head.headers, b"host") or head.authority
    scheme, target = head.scheme, head.target
    if head.method == b"CONNECT" and not head.upgrade:  # section 8.5
        return [
            HeaderTuple(b":method", b"CONNECT"),
            HeaderTuple(b":authority", target or authority),
            *_regular(head.headers, te=True),
        ]
    if target[:1] not in (b"/", b"*"):
        scheme, authority, target = _absolute(head, authority)
    block = [HeaderTuple(b":method", head.method), HeaderTuple(b":scheme", scheme)]
    if authority:
        block.append(HeaderTuple(b":authority", authority))
    block.append(HeaderTuple(b":path", target))
    if head.upgrade and head.method == b"CONNECT":  # RFC 8441 section 4
        block.append(HeaderTuple(b":protocol", head.upgrade))
    block.extend(_regular(head.headers, te=True))
    return block


def response_fields(head: ResponseHead | Interim) -> Block:
    """The reason has no place in HTTP/2 (section 8.3.2)."""
    return [HeaderTuple(b":status", b"%d" % head.status), *_regular(head.headers)]


def trailers_block(headers: Headers) -> Block:
    return _regular(headers)


def _absolute(head: RequestHead, authority: bytes) -> tuple[bytes, bytes, bytes]:
    """Scheme, authority and path of an absolute-form target (RFC 9112 section 3.2.2)."""
    scheme, separator, rest = head.target.partition(b"://")
    if not separator:
        return head.scheme, authority, head.target or b"/"
    at = min((found for found in (rest.find(b"/"), rest.find(b"?")) if found >= 0), default=len(rest))
    path = rest[at:]
    if not path.startswith(b"/"):  # section 8.3.1: an empty path is written as a slash, but `*` for OPTIONS
        path = b"*" if head.method == b"OPTIONS" and not path else b"/" + path
    return scheme.lower(), rest[:at] or authority, path


def _regular(headers: Headers, *, te: bool = False) -> Block:
    """`te`: it is a request, which may say that its trailers are welcome (section 8.2.2)."""
    named = set(tokens(headers, b"connection")) - _PROTECTED
    te = te and b"trailers" in tokens(headers, b"te")
    block: Block = []
    for field in headers:
        key, value = field
        name = key.lower()
        if name in _DROPPED or name in named:
            continue
        if name == b"te":  # section 8.2.2: `trailers` and nothing else; gRPC needs it
            if te:
                block.append(HeaderTuple(b"te", b"trailers"))
                te = False
            continue
        never = type(field) is not tuple or is_secret_field(key)
        block.append((NeverIndexedHeaderTuple if never else HeaderTuple)(name, value.strip(b" \t")))
    return block
