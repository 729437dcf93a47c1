"""Which version of HTTP a client speaks: what ALPN has agreed, else what its first bytes say.

Must not know: what becomes of the connection.
"""

from chaosproxy.http2.frames import PREFACE
from chaosproxy.wire.transport import Transport

READ = 65536


async def spoken(transport: Transport) -> tuple[str, bytes]:
    """The version, and what was read to learn it. Nothing of both if the client leaves before it says anything."""
    if transport.alpn is not None:
        return transport.alpn, b""
    early = b""
    while len(early) < len(PREFACE) and PREFACE.startswith(early):
        await transport.readable()
        data = transport.recv(READ)
        if data == b"":
            break
        early += data or b""
    if not early:
        return "", early
    return ("h2" if early.startswith(PREFACE) else "http/1.1"), early
