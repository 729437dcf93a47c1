"""Which version of HTTP a client speaks: what ALPN has agreed, else what its first bytes say.

Must not know: what becomes of the connection.
"""

from dataclasses import dataclass

import trio

from chaosproxy.http2.frames import PREFACE
from chaosproxy.wire.transport import Transport

READ = 16_384
_NO_METHOD = b"PRI "
"""What HTTP/2 begins with is no request of HTTP/1 from here on (RFC 9113 section 3.4)."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """The version; what was read to learn it, and when the first of that came."""

    protocol: str
    early: bytes = b""
    began: float | None = None


async def spoken(transport: Transport, within: float) -> Spoken | None:
    """None if the client leaves before it says anything. One that has not said enough `within` seconds of its first byte
    speaks what that looks like, so that it is told in a way that it may know."""
    if transport.alpn is not None:
        return Spoken(transport.alpn)
    early = await _read(transport)
    if not early:
        return None
    began = trio.current_time()
    with trio.move_on_after(within) as patience:
        while _may_be_either(early) and (more := await _read(transport)):
            early += more
    is_h2 = early.startswith(_NO_METHOD if patience.cancelled_caught else PREFACE)
    return Spoken("h2" if is_h2 else "http/1.1", early, began)


def _may_be_either(early: bytes) -> bool:
    return len(early) < len(PREFACE) and PREFACE.startswith(early)


async def _read(transport: Transport) -> bytes:
    """What comes next; nothing at the end."""
    while (data := transport.recv(READ)) is None:
        await transport.readable()
    return data
