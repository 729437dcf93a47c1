"""`if:`: whether a fault applies to an exchange, as far as a head can tell.

Strings are globs by the same rules as `match`. Must not know: where the fault stands.
"""

from chaosproxy.chain.fault import Condition, Context
from chaosproxy.model.globs import glob
from chaosproxy.model.headers import Headers, values
from chaosproxy.model.messages import RequestHead, ResponseHead


def holds_for_client(condition: Condition | None, context: Context) -> bool:
    """What is known when the exchange starts: the protocol and the client's header."""
    if condition is None:
        return True
    if condition.protocol is not None and not glob(condition.protocol, context.protocol):
        return False
    return _all(condition.client_headers, context.request.headers)


def needs_head(condition: Condition | None) -> bool:
    """Whether the rest is known only when the head of the fault's own way comes."""
    return condition is not None and (
        condition.content_type is not None or condition.status is not None or bool(condition.headers)
    )


def holds_for_head(condition: Condition, head: ResponseHead | RequestHead) -> bool:
    """What the head of the fault's way tells. A request has no status: a condition on it does not hold."""
    if condition.status is not None and not (
        isinstance(head, ResponseHead) and glob(str(condition.status), str(head.status))
    ):
        return False
    if condition.content_type is not None:
        found = values(head.headers, b"content-type")
        media = found[0].decode("utf-8", "replace") if found else ""
        essence = media.partition(";")[0].strip()
        if not glob(condition.content_type, media) and not glob(condition.content_type, essence):
            return False
    return _all(condition.headers, head.headers)


def _all(wanted: tuple[tuple[str, str], ...], headers: Headers) -> bool:
    return all(
        any(glob(pattern, value.decode("utf-8", "replace")) for value in values(headers, name.lower().encode()))
        for name, pattern in wanted
    )
