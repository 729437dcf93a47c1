"""Header lists: ordered, case-preserving, duplicate-keeping.

A header list is a plain tuple of `(name, value)` byte pairs; these are the few questions asked of one.
Must not know: which headers mean what (`http1`, `http2` and the faults do).
"""

from collections.abc import Collection

Headers = tuple[tuple[bytes, bytes], ...]


def values(headers: Headers, name: bytes) -> list[bytes]:
    """Every value of `name` (given in lower case), in order."""
    return [value for key, value in headers if key.lower() == name]


def first(headers: Headers, name: bytes) -> bytes | None:
    """The first value of `name` (given in lower case), or None."""
    for key, value in headers:
        if key.lower() == name:
            return value
    return None


def without(headers: Headers, names: Collection[bytes]) -> Headers:
    """The list with every field whose lower-case name is in `names` taken out."""
    return tuple(pair for pair in headers if pair[0].lower() not in names)


def replaced(headers: Headers, name: bytes, value: bytes) -> Headers:
    """The list with `name` set to one `value`: in its first place if it was there, else at the end."""
    lower = name.lower()
    result: list[tuple[bytes, bytes]] = []
    done = False
    for key, old in headers:
        if key.lower() != lower:
            result.append((key, old))
        elif not done:
            result.append((key, value))
            done = True
    if not done:
        result.append((name, value))
    return tuple(result)


def tokens(headers: Headers, name: bytes) -> list[bytes]:
    """The comma-separated members of every field called `name`, lower-cased and stripped (RFC 9110 section 5.6.1)."""
    found: list[bytes] = []
    for value in values(headers, name):
        found.extend(part.strip(b" \t").lower() for part in value.split(b","))
    return [token for token in found if token]
