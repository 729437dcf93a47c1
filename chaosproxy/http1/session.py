"""HTTP/1.1 as a `Session`: the entrance to this package.

Must not know: HTTP/2, sockets, the chain.
"""

from chaosproxy.http1.client import ClientConnection
from chaosproxy.http1.server import ServerConnection
from chaosproxy.model.vocabulary import Role
from chaosproxy.session import Session


def Http1Session(role: Role, *, scheme: bytes = b"http") -> Session:  # noqa: N802 - a constructor to its callers
    """A fresh connection in `role`. `scheme` (server role) is that of the requests: https behind TLS."""
    if role is Role.SERVER:
        return ServerConnection(scheme=scheme)
    return ClientConnection()
