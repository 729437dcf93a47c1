"""`if:`: whether a fault applies to an exchange, as far as a head can tell.

Strings are globs by the same rules as `match`. Must not know: where the fault stands.
"""

from chaosproxy.chain.condition import Condition
from chaosproxy.chain.fault import Context
from chaosproxy.model.globs import glob
from chaosproxy.model.headers import Headers, first, values
from chaosproxy.model.messages import RequestHead, ResponseHead
from chaosproxy.model.vocabulary import BodyFraming, Framing


def holds_for_client(condition: Condition | None, context: Context) -> bool:
    """What is known when the exchange starts: the protocol, the method and the client's header."""
    if condition is None:
        return True
    if condition.protocol is not None and not glob(condition.protocol, context.protocol):
        return False
    method = context.request.method.decode("latin-1")
    if condition.method is not None and not any(glob(one, method) for one in _several(condition.method)):
        return False
    headers = context.request.headers
    unwanted = any(_has(name, pattern, headers) for name, pattern in condition.without_client_headers)
    return not unwanted and _all(condition.client_headers, headers)


def needs_head(condition: Condition | None) -> bool:
    """Whether the rest is known only when the head of the fault's own way comes."""
    return condition is not None and (
        condition.content_type is not None
        or condition.status is not None
        or condition.framing is not None
        or bool(condition.headers or condition.without_headers)
    )


def holds_for_head(condition: Condition, head: ResponseHead | RequestHead) -> bool:
    """What the head of the fault's way tells. A request has no status: a condition on it does not hold."""
    if condition.status is not None and not (
        isinstance(head, ResponseHead) and glob(str(condition.status), str(head.status))
    ):
        return False
    if condition.content_type is not None and not _is_type(condition.content_type, head.headers):
        return False
    if condition.framing is not None and framed(head) not in _several(condition.framing):
        return False
    unwanted = any(_has(name, pattern, head.headers) for name, pattern in condition.without_headers)
    return not unwanted and _all(condition.headers, head.headers)


def framed(head: ResponseHead | RequestHead) -> BodyFraming | None:
    """How the body behind this head ends; None where there is none, or it is a tunnel."""
    if head.final or head.framing in (Framing.NONE, Framing.TUNNEL):
        return None
    if head.framing is Framing.CLOSE:
        return "close_delimited"
    if head.framing is Framing.STREAM:
        return "chunked" if first(head.headers, b"content-length") is None else "content_length"
    return "chunked" if head.framing is Framing.CHUNKED else "content_length"


def _is_type(wanted: str | tuple[str, ...], headers: Headers) -> bool:
    """Any of them, with its parameters or without."""
    media = (first(headers, b"content-type") or b"").decode("utf-8", "replace")
    essence = media.partition(";")[0].strip()
    return any(glob(pattern, media) or glob(pattern, essence) for pattern in _several(wanted))


def _several(wanted: str | tuple[str, ...]) -> tuple[str, ...]:
    return (wanted,) if isinstance(wanted, str) else wanted


def _all(wanted: tuple[tuple[str, str], ...], headers: Headers) -> bool:
    return all(_has(name, pattern, headers) for name, pattern in wanted)


def _has(name: str, pattern: str, headers: Headers) -> bool:
    return any(glob(pattern, value.decode("utf-8", "replace")) for value in values(headers, name.lower().encode()))
