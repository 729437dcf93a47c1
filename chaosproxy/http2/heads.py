"""From a decoded header block to the head it stands for, and what makes one malformed (RFC 9113 sections 8.1 to 8.3).

Rules: pure; a malformed block is a StreamFault with the rule it broke, so it costs its stream and nothing else. Names
and values are judged by the one validator; here stands only what HTTP/2 asks beyond it. Cookies stay in their places.
Must not know: frames, stream states, HPACK.
"""

import re
from collections.abc import Iterable

from hpack import NeverIndexedHeaderTuple

from chaosproxy.http2.mistakes import StreamFault
from chaosproxy.model.headers import Headers, first, values, without
from chaosproxy.model.messages import Interim, RequestHead, ResponseHead
from chaosproxy.model.validate import check_request, check_response, fields_problem, permitted_trailers, show, show_name
from chaosproxy.model.vocabulary import Framing

LARGEST_LIST = 65_536
"""Names, values and 32 bytes a field, as SETTINGS_MAX_HEADER_LIST_SIZE counts (section 6.5.2)."""
MOST_FIELDS = 200

CONNECTION_FIELDS = frozenset({b"connection", b"keep-alive", b"proxy-connection", b"transfer-encoding", b"upgrade"})
LARGEST_LENGTH = 2**63 - 1
_DIGITS = re.compile(rb"[0-9]{1,19}")
_REQUEST_PSEUDO = frozenset({b":method", b":scheme", b":authority", b":path", b":protocol"})
_RESPONSE_PSEUDO = frozenset({b":status"})
_NO_PSEUDO: frozenset[bytes] = frozenset()
_NO_BODY = frozenset({204, 304})
_LENGTH = (b"content-length",)
"""No interim answer has one, and no 204 (RFC 9110 section 8.6)."""


def request_head(fields: Iterable[tuple[bytes, bytes]], *, final: bool) -> RequestHead:
    """The request that `fields` open; `final`: END_STREAM stood with them. StreamFault if malformed."""
    pseudo, headers = _split(fields, _REQUEST_PSEUDO)
    method, scheme, path = pseudo.get(b":method"), pseudo.get(b":scheme"), pseudo.get(b":path")
    protocol = pseudo.get(b":protocol")
    authority, headers = _authority(pseudo.get(b":authority"), headers)
    if method is None:
        raise StreamFault("no :method")
    if method == b"CONNECT" and protocol is None:
        if scheme is not None or path is not None:  # section 8.5
            raise StreamFault("CONNECT with :scheme or :path")
        scheme, path = b"http", authority
    elif scheme is None or path is None:  # section 8.3.1, RFC 8441 section 4
        raise StreamFault("no :scheme" if scheme is None else "no :path")
    if protocol is not None and method != b"CONNECT":  # RFC 8441 section 4
        raise StreamFault(":protocol without CONNECT")
    head = RequestHead(
        method=method,
        target=path,
        headers=headers,
        scheme=scheme,
        authority=authority,
        framing=Framing.NONE if final else Framing.TUNNEL if method == b"CONNECT" else Framing.STREAM,
        final=final,
        upgrade=(protocol or b"").lower(),
        version=b"2",
    )
    problem = check_request(head)
    if problem is not None:
        raise StreamFault(problem)
    if method == b"CONNECT" and first(headers, b"content-length") is not None:  # RFC 9110 section 9.3.6
        raise StreamFault("content-length with CONNECT")
    return head


def response_head(fields: Iterable[tuple[bytes, bytes]], *, method: bytes, final: bool) -> ResponseHead | Interim:
    """The answer to a request of `method` that `fields` open. StreamFault if malformed."""
    pseudo, headers = _split(fields, _RESPONSE_PSEUDO)
    text = pseudo.get(b":status", b"")
    if len(text) != 3 or not text.isdigit():  # section 8.3.2
        raise StreamFault(f":status {show(text[:3])} is no status" if text else "no :status")
    status = int(text)
    head: ResponseHead | Interim
    if status < 200:
        if status == 101:  # section 8.6
            raise StreamFault("status 101 does not exist in HTTP/2")
        if final:  # section 8.1
            raise StreamFault("an interim answer ends the stream")
        head = Interim(status, without(headers, _LENGTH))
    else:
        kept = without(headers, _LENGTH) if status == 204 else headers
        head = ResponseHead(status, kept, framing=_response_framing(method, status, final=final), final=final)
    problem = check_response(head)
    if problem is not None:
        raise StreamFault(problem)
    return head


def trailer_fields(fields: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The trailers that may be passed on. StreamFault if malformed."""
    _, headers = _split(fields, _NO_PSEUDO)
    problem = fields_problem(headers)
    if problem is not None:
        raise StreamFault(problem)
    return permitted_trailers(headers)


def body_length(head: RequestHead | ResponseHead, method: bytes) -> int | None:
    """How many bytes of DATA must follow; None = any (section 8.1.1). StreamFault for a length that is none."""
    length = _content_length(head)
    if isinstance(head, ResponseHead):
        if method == b"HEAD" or head.status in _NO_BODY:  # RFC 9110 section 6.4.1
            return 0
        if head.framing is Framing.TUNNEL:
            return None
    if head.final and length:
        raise StreamFault(f"content-length {length}, and no body")
    return length


def _content_length(head: RequestHead | ResponseHead) -> int | None:
    """A request may say it once; an answer may repeat the same length (RFC 9110 section 8.6)."""
    found = values(head.headers, b"content-length")
    if isinstance(head, ResponseHead):
        found = list(dict.fromkeys(part.strip(b" \t") for value in found for part in value.split(b",")))
    if not found:
        return None
    if len(found) > 1:
        raise StreamFault("more than one content-length")
    if not _DIGITS.fullmatch(found[0]) or int(found[0]) > LARGEST_LENGTH:
        raise StreamFault("content-length is no length")
    return int(found[0])


def _response_framing(method: bytes, status: int, *, final: bool) -> Framing:
    if final or method == b"HEAD" or status in _NO_BODY:
        return Framing.NONE
    if method == b"CONNECT" and status < 300:
        return Framing.TUNNEL
    return Framing.STREAM


def _split(fields: Iterable[tuple[bytes, bytes]], allowed: frozenset[bytes]) -> tuple[dict[bytes, bytes], Headers]:
    """Pseudo fields and the others, the rules of sections 8.2 and 8.3 kept."""
    pseudo: dict[bytes, bytes] = {}
    headers: list[tuple[bytes, bytes]] = []
    size = 0
    for field in fields:
        name, received = field
        value = received.strip(b" \t")  # section 8.2.1 forbids the blanks; every other hop drops them in silence
        size += len(name) + len(value) + 32
        if name.startswith(b":"):
            if headers:  # section 8.3
                raise StreamFault(f"{show_name(name)} behind a regular field")
            if name not in allowed or name in pseudo:
                raise StreamFault(f"{show_name(name)} {'twice' if name in pseudo else 'has no place here'}")
            pseudo[name] = bytes(received)  # whose grammar knows no blanks
            continue
        if name != name.lower():  # section 8.2.1
            raise StreamFault(f"upper case in field name {show_name(name)}")
        if name in CONNECTION_FIELDS or (name == b"te" and value.lower() != b"trailers"):  # section 8.2.2
            raise StreamFault(f"connection-specific field {show_name(name)}")
        plain = bytes(name), value
        # RFC 7541 section 6.2.3: it may enter no table behind us either. To whoever has no tables it is a pair as any.
        headers.append(NeverIndexedHeaderTuple(*plain) if isinstance(field, NeverIndexedHeaderTuple) else plain)
    if size > LARGEST_LIST or len(headers) > MOST_FIELDS:
        raise StreamFault(f"{len(headers)} fields, {size} bytes: more than a head may have", status=431)
    return pseudo, tuple(headers)


def _authority(pseudo: bytes | None, headers: Headers) -> tuple[bytes, Headers]:
    """The one authority that `:authority` and Host agree on (section 8.3.1); Host is taken out of the list."""
    hosts = values(headers, b"host")
    if len(hosts) > 1:
        raise StreamFault("more than one Host")
    if pseudo is not None and hosts and pseudo.lower() != hosts[0].lower():
        raise StreamFault("Host is not :authority")
    authority = pseudo if pseudo is not None else hosts[0] if hosts else b""
    if not authority:
        raise StreamFault("no :authority")
    return authority, without(headers, (b"host",)) if hosts else headers
