"""Is what went over a connection one message, and nothing else? A reader of its own, strict and by bytes alone.

Must not know: the proxy, scenarios.
"""

import re

NAME = b"x-smuggled"
_START = {
    "answer": re.compile(rb"HTTP/1\.[01] ([1-5][0-9]{2})(?: [\t \x21-\x7e\x80-\xff]*)?"),
    "request": re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+ [\x21-\x7e]+ HTTP/1\.[01]"),
}
_FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\0\r\n]*)")


class WrongError(Exception):
    """What is wrong with it."""


def one_message(raw: bytes, what: str, *, bodiless: bool = False) -> None:
    """`raw` is one message, interim heads before it; a body may break off at its end. WrongError says what else it is."""
    status, fields, rest = _head(raw, what)
    while status and status < 200:
        status, fields, rest = _head(rest, what)
    if fields.get(b"transfer-encoding") == b"chunked":
        _chunks(rest)
    elif b"content-length" in fields:
        length = 0 if bodiless else int(fields[b"content-length"])
        if len(rest) > length:
            raise WrongError(f"behind its {length} bytes stands {rest[length:][:60]!r}")
    elif what == "request" and rest:
        raise WrongError(f"behind the request stands {rest[:60]!r}")


def _head(raw: bytes, what: str) -> tuple[int, dict[bytes, bytes], bytes]:
    head, end, rest = raw.partition(b"\r\n\r\n")
    if not end:
        raise WrongError(f"no head: {raw[:60]!r}")
    start, *lines = head.split(b"\r\n")
    begun = _START[what].fullmatch(start)
    if begun is None:
        raise WrongError(f"no line to start with: {start[:60]!r}")
    return int(begun[1]) if what == "answer" else 0, _fields(lines), rest


def _fields(lines: list[bytes]) -> dict[bytes, bytes]:
    fields = {}
    for line in lines:
        read = _FIELD.fullmatch(line)
        if read is None:
            raise WrongError(f"no field: {line[:60]!r}")
        fields[read[1].lower()] = read[2]
    if NAME in fields:
        raise WrongError("a field that nobody has set")
    return fields


def _chunks(raw: bytes) -> None:
    while raw:
        line, end, raw = raw.partition(b"\r\n")
        if not end:
            return  # broken off
        if re.fullmatch(rb"[0-9a-fA-F]{1,8}", line) is None:
            raise WrongError(f"no size of a chunk: {line[:60]!r}")
        size = int(line, 16)
        if not size:
            trailers, end, behind = (b"\r\n" + raw).partition(b"\r\n\r\n")
            _fields([one for one in trailers.split(b"\r\n") if one])
            if behind:
                raise WrongError(f"behind the last chunk stands {behind[:60]!r}")
            return
        if len(raw) > size and not (b"\r\n").startswith(raw[size : size + 2]):
            raise WrongError(f"a chunk of {size} bytes goes on: {raw[size:][:60]!r}")
        raw = raw[size + 2 :]


def sound_fields(fields: list[tuple[bytes, bytes]]) -> None:
    """No field of HTTP/2 holds what would be two on HTTP/1. WrongError otherwise."""
    for name, value in fields:
        if re.search(rb"[\0\r\n]", name + value) or name == NAME or re.search(rb"[\s:]", name[1:]):
            raise WrongError(f"a field is two: {name[:60]!r}: {value[:60]!r}")
