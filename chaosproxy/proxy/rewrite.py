"""What the proxy changes in a request head on its way to an upstream, and nothing else.

The mount prefix goes, the upstream's path prefix comes, Host follows `upstream.host`, and Accept-Encoding goes where
records have to be read. Must not know: when or whether it is sent.
"""

from dataclasses import replace

from chaosproxy.model import headers as fields
from chaosproxy.model.messages import RequestHead
from chaosproxy.proxy.address import UpstreamAddress


def for_upstream(
    head: RequestHead, address: UpstreamAddress, *, host: str | None, mount: bytes, identity: bool
) -> RequestHead:
    """The head as it is sent to `address`.

    `host` is `keep`, `upstream`, a name, or None for the default: keep for http, upstream for https. `mount` is the
    path prefix to strip. `identity` removes Accept-Encoding.
    """
    target = head.target
    if target.startswith(b"/"):
        if mount and target.startswith(mount):
            rest = target[len(mount) :]
            target = rest if rest.startswith(b"/") else b"/" + rest
        target = address.prefix + target
    headers = fields.without(head.headers, (b"accept-encoding",)) if identity else head.headers
    authority = head.authority
    choice = host or ("upstream" if address.tls else "keep")
    if choice != "keep" and head.method != b"CONNECT":
        authority = address.authority if choice == "upstream" else choice.encode("ascii")
        if fields.first(headers, b"host") is not None:
            headers = fields.replaced(headers, b"host", authority)
    elif not authority and not fields.first(headers, b"host"):
        # An HTTP/1.0 client need not send one, an HTTP/1.1 request must (RFC 9112 section 3.2); one that is empty stays so,
        # but HTTP/2 has none that is (RFC 9113 section 8.3.1).
        authority = address.authority
    scheme = b"https" if address.tls else b"http"
    changed = (target, headers, authority, scheme) != (head.target, head.headers, head.authority, head.scheme)
    return replace(head, target=target, headers=headers, authority=authority, scheme=scheme) if changed else head
