"""Handshakes in which something is wrong, in the place of a listener's own: mostly a certificate that is not to be trusted.

It is signed by the listener's authority where that is ours (`--tls auto`), so that nothing is wrong with one but what is
meant; else by one that nobody knows. Must not know: connections, why it is shown.
"""

import datetime as dt
import ssl
from collections.abc import Set as AbstractSet

from chaosproxy.chain.connection_spec import NO_ALPN
from chaosproxy.wire.tls import NAMES, ServerContext, fresh_authority

ELSEWHERE = "elsewhere.invalid"
"""A name that no host has (RFC 6761 section 6.4)."""


def flawed(own: ssl.SSLContext, flaws: AbstractSet[str]) -> ssl.SSLContext:
    """What to shake hands with in place of `own`; `flaws` are of `expired`, `wrong_host`, `unknown_authority`, `NO_ALPN`."""
    context = ServerContext.make(alpn=NO_ALPN not in flaws)
    if flaws == {NO_ALPN} and isinstance(own, ServerContext) and own.certify is not None:
        own.certify(context)
        return context
    authority = own.authority if isinstance(own, ServerContext) else None
    names = own.names if isinstance(own, ServerContext) and own.names else NAMES
    if authority is None or "unknown_authority" in flaws:
        authority = fresh_authority()
    now = dt.datetime.now(dt.UTC)
    yesterday = now - dt.timedelta(days=1)
    begins, ends = (yesterday - dt.timedelta(days=30), yesterday) if "expired" in flaws else (None, None)
    shown = (ELSEWHERE,) if "wrong_host" in flaws else names
    authority.issue_cert(*shown, not_before=begins, not_after=ends).configure_cert(context)
    return context
