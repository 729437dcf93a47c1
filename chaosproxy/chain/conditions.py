"""`if:`: whether a fault applies to an exchange, as far as a head can tell.

Strings are globs by the same rules as `match`. Must not know: where the fault stands.
"""

from chaosproxy.chain.fault import Condition, Context
from chaosproxy.model.globs import glob
from chaosproxy.model.headers import Headers, values
from chaosproxy.model.messages import ResponseHead


def holds_for_client(condition: Condition | None, context: Context) -> bool:
    """What is known when the exchange starts: the protocol and the client's header."""
    if condition is None:
        return True
    if condition.protocol is not None and not glob(condition.protocol, context.protocol):
        return False
    return _all(condition.client_headers, context.request.headers)


def holds_for_head(condition: Condition | None, head: ResponseHead) -> bool:
    """What the response's head tells."""
    if condition is None:
        return True
    if condition.status is not None and not glob(str(condition.status), str(head.status)):
        return False
    if condition.content_type is not None:
        found = values(head.headers, b"content-type")
        media = found[0].decode("latin-1") if found else ""
        if not glob(condition.content_type, media) and not glob(
            condition.content_type, media.partition(";")[0].strip()
        ):
            return False
    return _all(condition.headers, head.headers)


def _all(wanted: tuple[tuple[str, str], ...], headers: Headers) -> bool:
    return all(
        any(glob(pattern, value.decode("latin-1")) for value in values(headers, name.lower().encode("latin-1")))
        for name, pattern in wanted
    )
