"""The one validator of heads: what a method, a target, an authority, a status, a field may consist of.

Stands at every entry (HTTP/1, HTTP/2, scenarios after expansion), so that nothing a peer or a scenario wrote can become
a second line on the wire of the other protocol. Every function answers None, or one line for a person.
Rules: pure, never raises; the grammar of RFC 9110, 9112 and 9113 alone, no taste; what is said of a head has nothing in
it that may be a secret: no value of a field, no query, no user information.
Must not know: framing, what came before or after the head, who asks.
"""

import re

from chaosproxy.model.headers import Headers, values
from chaosproxy.model.messages import Interim, RequestHead, ResponseHead
from chaosproxy.model.units import counted

FORBIDDEN_TRAILERS = frozenset(
    {
        b"connection",
        b"content-length",
        b"host",
        b"keep-alive",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
"""Framing, routing and the connection's own fields mean nothing behind a body (RFC 9110 section 6.5.1)."""

_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110 section 5.6.2
_NOT_IN_VALUE = re.compile(rb"[\0\r\n]")  # RFC 9110 section 5.5: the three that must be refused
_REASON = re.compile(rb"[\t \x21-\x7e\x80-\xff]*")  # RFC 9112 section 4
_SCHEME = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*")  # RFC 3986 section 3.1
_VISIBLE = re.compile(rb"[\x21\x22\x24-\x7e]+")  # VCHAR without the fragment's `#` (RFC 9112 section 3.2)
_ABSOLUTE = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*://([^/?]*)(?:[/?].*)?")
_AUTHORITY = re.compile(  # RFC 3986 section 3.2 without userinfo (RFC 9110 section 4.2.4)
    rb"(?:\[[0-9A-Fa-f:.]+(?:%25[A-Za-z0-9._~-]+)?\]|\[v[0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+\]"
    rb"|(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+)(?::(\d*))?"
)


_SPEAKS = re.compile(rb"[A-Z]{1,20}(?= )|HTTP/[0-9.]{1,5}(?: [0-9]{1,3}(?![^ ]))?|SSH-[0-9.]{1,4}")
_NO_NAME = re.compile(rb"(?<=.)[\0\t\r\n :=]", re.DOTALL)
_QUERY = re.compile(rb"[?#]")
_USERINFO = re.compile(rb"^((?:[A-Za-z][A-Za-z0-9+.-]*:)?//|(?!/))[^/]*@")


def field_problem(name: bytes, value: bytes) -> str | None:
    """What is wrong with one field line. Controls other than NUL, CR, LF are legal in a value and pass as they are."""
    if not _TOKEN.fullmatch(name):
        return f"field name {show_name(name)} is no token"
    if _NOT_IN_VALUE.search(value):
        return f"field {show_name(name)} has NUL, CR or LF in its value"
    if value and (value[0] in b" \t" or value[-1] in b" \t"):  # RFC 9113 section 8.2.1
        return f"field {show_name(name)} has a blank at an end of its value"
    return None


def fields_problem(headers: Headers) -> str | None:
    """The first problem among all fields of a head or of trailers."""
    for name, value in headers:
        problem = field_problem(name, value)
        if problem is not None:
            return problem
    return None


def method_problem(method: bytes) -> str | None:
    """RFC 9110 section 9.1: a method is a token."""
    return None if _TOKEN.fullmatch(method) else f"method {show_name(method)} is no token"


def scheme_problem(scheme: bytes) -> str | None:
    return None if _SCHEME.fullmatch(scheme) else f"scheme {_public(scheme)} is none"


def authority_problem(authority: bytes) -> str | None:
    """Host and optional port, no userinfo (RFC 9110 sections 4.2.4 and 7.2, RFC 9113 section 8.3.1); not empty."""
    match = _AUTHORITY.fullmatch(authority)
    if match is None or (match[1] and (len(match[1]) > 5 or int(match[1]) > 65535)):
        return f"authority {_public(authority)} is no host with an optional port"
    return None


def target_problem(method: bytes, target: bytes) -> str | None:
    """The four forms of a request target (RFC 9112 section 3.2): `/path`, absolute, `host:port` of CONNECT, `*`.

    Within its form a target passes as it is: dots, escapes, backslashes and double slashes mean nothing to a proxy.
    """
    if not _VISIBLE.fullmatch(target):
        return f"request target {_public(target)} has a character that may not stand in one"
    if method == b"CONNECT":
        if b":" not in target or target.endswith(b":") or authority_problem(target) is not None:
            return f"CONNECT wants host:port, not {_public(target)}"
        return None
    if target[0] == 0x2F or (target == b"*" and method == b"OPTIONS"):
        return None
    absolute = _ABSOLUTE.fullmatch(target)
    if absolute is None:
        return f"request target {_public(target)} is neither a path nor absolute"
    return authority_problem(absolute[1])  # RFC 9110 section 4.2; towards HTTP/2 it becomes `:authority`


def status_problem(status: int) -> str | None:
    """RFC 9110 section 15: three digits, five classes."""
    return None if 100 <= status <= 599 else f"status {status} is not within 100 to 599"


def reason_problem(reason: bytes) -> str | None:
    return None if _REASON.fullmatch(reason) else "the reason has a control character"


def host_problem(head: RequestHead) -> str | None:
    """RFC 9112 section 3.2: at most one Host, well formed or empty; one at least in HTTP/1.1."""
    hosts = values(head.headers, b"host")
    if len(hosts) > 1:
        return "more than one Host"
    if hosts:
        return authority_problem(hosts[0]) if hosts[0] else None
    if head.version == b"1.1" and not head.authority:
        return "no Host"
    return None


def check_request(head: RequestHead, *, sound_fields: bool = False) -> str | None:
    """The first thing wrong with a request head, or None. An extended CONNECT (RFC 8441) has a path as its target.
    `sound_fields`: each field line has been looked at already."""
    extended = head.method == b"CONNECT" and bool(head.upgrade)
    problem = (
        method_problem(head.method)
        or target_problem(b"GET" if extended else head.method, head.target)
        or scheme_problem(head.scheme)
        or (authority_problem(head.authority) if head.authority else None)
        or (None if sound_fields else fields_problem(head.headers))
        or host_problem(head)
    )
    if problem is None and head.version == b"2" and head.method != b"CONNECT" and head.target[0] not in b"/*":
        return f":path {_public(head.target)} does not begin with a slash"  # RFC 9113 section 8.3.1
    return problem


def check_response(head: ResponseHead | Interim, *, sound_fields: bool = False) -> str | None:
    """The first thing wrong with a final or interim response head, or None; `sound_fields` as in `check_request`."""
    problem = status_problem(head.status) or reason_problem(head.reason)
    return problem if problem or sound_fields else fields_problem(head.headers)


def permitted_trailers(headers: Headers) -> Headers:
    """The trailers that may be passed on."""
    return tuple(pair for pair in headers if pair[0].lower() not in FORBIDDEN_TRAILERS)


def beginning(line: bytes) -> str:
    """Of a line that is no start line what tells who speaks: its method, or its protocol with a status. It may be
    anything, a body's first bytes too, so that of others there is the length alone."""
    found = _SPEAKS.match(line)
    if found is None:
        return f"a line of {counted(len(line), 'byte')}"
    return show(found[0] + (b" ..." if found.end() < len(line) else b""))


def show_name(name: bytes) -> str:
    """A name as far as it can be one: what stands behind a blank or a colon in it may be a value."""
    found = _NO_NAME.search(name)
    return show(name if found is None else name[: found.start()] + b" ...")


def _public(target: bytes) -> str:
    """Without its query, and without user information."""
    found = _QUERY.search(target)  # first: an @ in it makes no user information of what stands before
    before, mark = (target, b"") if found is None else (target[: found.start()], found[0] + b"...")
    return show(_USERINFO.sub(rb"\1***@", before) + mark)


def show(text: bytes) -> str:
    """Bytes of a peer for a message: printable ASCII, the rest escaped, at most 60 bytes of them."""
    cut = text if len(text) <= 60 else text[:57] + b"..."
    return repr(cut)[1:]
