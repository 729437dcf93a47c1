"""What the fields of a received head mean for its connection and its body, and which of them may travel on.

Rules: pure functions on header lists; Malformed where the two could be read in two ways. Protected names never leave
because a Connection field lists them.
Must not know: start lines, bytes on the wire, the state of a connection.
"""

import re

from chaosproxy.http1.lines import Malformed
from chaosproxy.model.headers import Headers, tokens

PROTECTED = frozenset({b"content-length", b"host", b"te", b"transfer-encoding"})
"""Framing and routing: removing these because a peer lists them would change what the message is."""
HOP_BY_HOP = frozenset({b"connection", b"keep-alive", b"proxy-connection", b"upgrade"})  # RFC 9110 section 7.6.1
LARGEST = 2**63 - 1

_DIGITS = re.compile(rb"[0-9]{1,19}")
_CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")


def raw_values(lines: list[bytes], name: bytes) -> list[bytes]:
    """The values of `name` (lower case) among raw field lines, unmerged, blanks at their ends taken off."""
    end = len(name)
    return [
        line[end + 1 :].strip(b" \t") for line in lines if line[end : end + 1] == b":" and line[:end].lower() == name
    ]


def content_length(lines: list[bytes], *, lenient: bool) -> int | None:
    """The length that the fields announce. A request may say it once only; with `lenient` (a response) the same
    length may be said again, and counts once (RFC 9112 section 6.3, RFC 9110 section 8.6)."""
    found = raw_values(lines, b"content-length")
    if not found:
        return None
    if lenient:
        found = [part.strip(b" \t") for value in found for part in value.split(b",")]
        if len(set(found)) > 1:
            raise Malformed("two different Content-Length")
    elif len(found) > 1:
        raise Malformed("more than one Content-Length")
    if not _DIGITS.fullmatch(found[0]) or int(found[0]) > LARGEST:
        raise Malformed("Content-Length is no length")
    return int(found[0])


def is_chunked(lines: list[bytes], version: bytes, *, request: bool) -> bool:
    """Whether the body is chunked; the one coding there is (RFC 9112 section 6.1)."""
    found = raw_values(lines, b"transfer-encoding")
    if not found:
        return False
    if any(_CONTROL.search(value) for value in found):
        raise Malformed("control character in Transfer-Encoding")
    if len(found) > 1:
        raise Malformed("more than one Transfer-Encoding")
    if request and version == b"1.0":
        raise Malformed("Transfer-Encoding in HTTP/1.0")  # RFC 9112 section 6.1: faulty framing
    if found[0].lower() != b"chunked":
        raise Malformed("a transfer coding other than chunked", 501)
    return True


def upgrade_of(headers: Headers, version: bytes) -> bytes:
    """The protocol a request wants to change to, lower case; empty if none, or h2c, which is ignored on purpose
    (RFC 9110 section 7.8: an HTTP/1.0 request cannot ask)."""
    wanted = tokens(headers, b"upgrade")
    if not wanted or version == b"1.0" or b"h2c" in wanted or b"upgrade" not in tokens(headers, b"connection"):
        return b""
    return wanted[0]


def may_persist(headers: Headers, version: bytes) -> bool:
    """RFC 9112 section 9.3; HTTP/1.0 is never kept, whatever it asks."""
    return version != b"1.0" and b"close" not in tokens(headers, b"connection")


def travelling(headers: Headers, *, switching: bool) -> Headers:
    """The fields that may travel on. `switching`: the message asks for or grants an upgrade, so Upgrade stays and
    Connection says just that. TE stays as `trailers` alone, the one value that means something end to end."""
    gone = (HOP_BY_HOP | {b"te"} | set(tokens(headers, b"connection"))) - PROTECTED
    kept: list[tuple[bytes, bytes]] = []
    seen: set[bytes] = set()
    for name, value in headers:
        lower = name.lower()
        if lower == b"te":
            if lower not in seen and b"trailers" in tokens(headers, b"te"):
                kept.append((name, b"trailers"))
                seen.add(lower)
        elif lower not in gone or (switching and lower == b"upgrade"):
            kept.append((name, value))
        elif switching and lower == b"connection" and lower not in seen:
            kept.append((name, b"Upgrade"))
            seen.add(lower)
    return tuple(kept)
