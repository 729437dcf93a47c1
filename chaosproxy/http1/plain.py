"""Heads as nearly everybody sends them, taken apart without a parser; whatever is not as plain is left to one.

Rules: what is found here is what h11 finds in the same lines, and what every validator of ours lets pass; in doubt None.
Must not know: what a field means, but for the two that h11 rewrites or refuses.
"""

from collections.abc import Callable
from dataclasses import dataclass

from chaosproxy.model.headers import Headers

_TOKEN = bytes(sorted(b"!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"))
_VISIBLE = bytes(range(0x21, 0x7F))
_TEXT = b"\t " + _VISIBLE + bytes(range(0x80, 0x100))
_DIGITS = 19
"""Of a Content-Length below 2**63 at most."""


@dataclass(frozen=True, slots=True)
class PlainFields:
    headers: Headers
    names: frozenset[bytes]
    """In lower case."""


def plain_request_line(line: bytes) -> tuple[bytes, bytes] | None:
    """Method and target of a request line whose form has been checked."""
    method, target, _ = line.split(b" ")
    if method.translate(None, _TOKEN) or target.translate(None, _VISIBLE):
        return None
    return method, target


def is_plain_text(text: bytes) -> bool:
    """Printable, with blanks."""
    return not text.translate(None, _TEXT)


def plain_fields(lines: list[bytes]) -> PlainFields | None:
    """The fields in `lines`, blanks at the ends of their values taken off."""
    headers: list[tuple[bytes, bytes]] = []
    for line in lines:
        name, colon, value = line.partition(b":")
        if not colon or not name:
            return None
        headers.append((name, value.strip(b" \t")))
    names = [name for name, _ in headers]
    if b"".join(names).translate(None, _TOKEN) or b"".join(lines).translate(None, _TEXT):
        return None
    lower = b":".join(names).lower().split(b":") if names else []
    for name, fit in _ONCE:
        if name in lower and (lower.count(name) > 1 or not fit(headers[lower.index(name)][1])):
            return None
    return PlainFields(tuple(headers), frozenset(lower))


_ONCE: tuple[tuple[bytes, Callable[[bytes], bool]], ...] = (
    (b"host", lambda _: True),
    (b"content-length", lambda value: value.isdigit() and len(value) <= _DIGITS),
    (b"transfer-encoding", lambda value: value == b"chunked"),
)
