"""Whether a message may be coded, and what its head says when it is.

Rules: RFC 9110 sections 8.4 (Content-Encoding), 12.5.3 (Accept-Encoding), 12.5.5 (Vary), 8.8.3 (ETag), 7.7 (no-transform).
Must not know: encoders, faults.
"""

from dataclasses import replace

from chaosproxy.chain.content import is_coded
from chaosproxy.model.headers import Headers, first, tokens, without
from chaosproxy.model.messages import RequestHead, ResponseHead
from chaosproxy.model.vocabulary import Framing

_UNFIT = frozenset({204, 206, 304})
"""Without a body, or (206) with a part of one whose range would no longer fit."""


def accepts(headers: Headers, coding: bytes) -> bool:
    """Whether who sent this Accept-Encoding takes `coding`, by its name or by `*` (RFC 9110 section 12.5.3). Without the
    field everything would be acceptable; like every server we then code nothing."""
    weights = dict(_weighed(member) for member in tokens(headers, b"accept-encoding"))
    if b"x-gzip" in weights:  # RFC 9110 section 8.4.1.3
        weights.setdefault(b"gzip", weights[b"x-gzip"])
    return weights.get(coding, weights.get(b"*", 0.0)) > 0


def _weighed(member: bytes) -> tuple[bytes, float]:
    name, _, parameters = member.partition(b";")
    key, _, value = parameters.partition(b"=")
    if not parameters.strip():
        return name.strip(), 1.0
    try:
        return name.strip(), float(value) if key.strip() == b"q" else 1.0
    except ValueError:
        return name.strip(), 0.0  # a weight that is none is no yes


def why_not(head: RequestHead | ResponseHead, method: bytes) -> str:
    """What keeps this message, or the answer to a `method` request, from being coded; empty if nothing does."""
    if is_coded(head.headers):
        return "coded body"
    if b"no-transform" in tokens(head.headers, b"cache-control"):
        return "no-transform"
    if head.framing is Framing.TUNNEL or method == b"CONNECT" or (isinstance(head, RequestHead) and head.upgrade):
        return "tunnel"
    if isinstance(head, ResponseHead) and (head.status < 200 or head.status in _UNFIT):
        return f"status {head.status}"
    for_get = isinstance(head, ResponseHead) and method == b"HEAD"  # its length speaks of what a GET would have had
    return "no body" if (head.final and not for_get) or first(head.headers, b"content-length") == b"0" else ""


def coded(head: RequestHead | ResponseHead, coding: bytes, *, vary: bool = True) -> RequestHead | ResponseHead:
    """The head of the message once its body is coded; with `vary` it says that this depends on who asks."""
    gone = {b"content-encoding", b"content-length"}
    headers = head.headers
    if isinstance(head, ResponseHead):
        gone.add(b"accept-ranges")
        headers = tuple((name, _weak(value) if name.lower() == b"etag" else value) for name, value in headers)
    headers = (*without(headers, gone), (b"Content-Encoding", coding))
    if vary and isinstance(head, ResponseHead) and not {b"*", b"accept-encoding"} & set(tokens(headers, b"vary")):
        headers = (*headers, (b"Vary", b"Accept-Encoding"))
    framing = Framing.CHUNKED if head.framing is Framing.LENGTH else head.framing
    return replace(head, headers=headers, framing=framing)


def _weak(etag: bytes) -> bytes:
    """RFC 9110 section 8.8.3.3: what is coded is another representation, of the same meaning."""
    return etag if etag.startswith(b"W/") else b"W/" + etag
