"""Which version of HTTP a client speaks: what ALPN has agreed, else what its first bytes say.

Must not know: what becomes of the connection.
"""

import trio

from chaosproxy.http2.frames import PREFACE
from chaosproxy.wire.transport import Transport

READ = 16_384


async def spoken(transport: Transport, within: float) -> tuple[str, bytes]:
    """The version, and what was read to learn it. Nothing of both if the client leaves before it says anything, or has
    not said enough `within` seconds of its first byte."""
    if transport.alpn is not None:
        return transport.alpn, b""
    early = await _read(transport)
    if _may_be_either(early):
        with trio.move_on_after(within) as patience:
            while _may_be_either(early) and (more := await _read(transport)):
                early += more
        if patience.cancelled_caught:
            return "", b""
    if not early:
        return "", b""
    return ("h2" if early.startswith(PREFACE) else "http/1.1"), early


def _may_be_either(early: bytes) -> bool:
    return 0 < len(early) < len(PREFACE) and PREFACE.startswith(early)


async def _read(transport: Transport) -> bytes:
    """What comes next; nothing at the end."""
    while (data := transport.recv(READ)) is None:
        await transport.readable()
    return data
