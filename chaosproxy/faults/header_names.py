"""Which fields the `headers` fault may touch, and why not the others.

Every function answers None, or one line for a person. Rules: what frames a body or belongs to one connection is the
sessions' own, one on each side; names and values are checked by the one validator, where they are read.
Must not know: what is done to the fields.
"""

from chaosproxy.model.validate import authority_problem, field_problem, show
from chaosproxy.model.vocabulary import Way

HOST, LENGTH = b"host", b"content-length"
_FRAMES = frozenset({LENGTH, b"transfer-encoding"})
_CONNECTION = frozenset({b"connection", b"keep-alive", b"proxy-connection", b"te", b"upgrade"})
_REMOVABLE = frozenset({LENGTH, b"te"})
"""Without its length a body is chunked, and without TE a request only gets no trailers: both are what real hops do."""


def kept(way: Way) -> frozenset[bytes]:
    """The fields that globs leave alone."""
    return _FRAMES | _CONNECTION | (frozenset({HOST}) if way is Way.REQUEST else frozenset())


def field(name: bytes, value: bytes | None, way: Way) -> str | None:
    """Why a field of this name cannot be set to `value`; None: be added or repeated."""
    lower = name.lower()
    if lower in _FRAMES:
        return f"{show(name)} frames the body and follows it; each side of the proxy writes its own"
    if lower in _CONNECTION:
        return f"{show(name)} belongs to one connection, and there are two here; each side writes its own"
    if lower == HOST and way is Way.REQUEST:
        if value is None:
            return "a request has exactly one Host (RFC 9112 section 3.2): `set` it"
        return authority_problem(value)
    return None


def pattern(name: str, way: Way) -> str | None:
    """Why fields of this name, or that this glob describes, cannot be repeated."""
    return field_problem(name.replace("?", "*").encode(), b"") or field(name.encode(), None, way)


def removal(name: str, way: Way) -> str | None:
    """Why fields of this name, or that this glob describes, cannot be taken out."""
    return None if name.lower().encode() in _REMOVABLE else pattern(name, way)
