"""A raw HTTP/2 origin for tests: a function answers each request, frame by frame.

Must not know: the proxy.
"""

import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable

import trio

from chaosproxy.testing.h2_peers import WINDOW, H2Peer
from chaosproxy.testing.listening import listening
from chaosproxy.wire.transport import Transport

Answer = Callable[[H2Peer, int], Awaitable[None]]


async def serve_h2(transport: Transport, answer: Answer, window: int = WINDOW) -> None:
    """An origin on one connection: `answer(peer, stream)` runs for each request head."""
    peer = H2Peer(transport, client=False, window=window)
    started: set[int] = set()

    async def contained(stream: int) -> None:
        with contextlib.suppress(ConnectionError, trio.ClosedResourceError):  # the client has left
            await answer(peer, stream)

    try:
        async with trio.open_nursery() as nursery:

            def begin(stream: int) -> None:
                if stream not in started:
                    started.add(stream)
                    nursery.start_soon(contained, stream)

            peer.on_head = begin
            with contextlib.suppress(ConnectionError, trio.ClosedResourceError):  # the same, met by a write of ours
                await peer.start()
                await peer.read()
            nursery.cancel_scope.cancel()
    finally:
        transport.close()


@contextlib.asynccontextmanager
async def h2_origin(answer: Answer, tls: ssl.SSLContext | None = None, window: int = WINDOW) -> AsyncIterator[str]:
    """`serve_h2` on a free loopback port while the block runs; the URL for `--upstream`."""
    async with listening(lambda transport: serve_h2(transport, answer, window), tls) as port:
        yield f"{'https' if tls else 'h2c'}://127.0.0.1:{port}"
