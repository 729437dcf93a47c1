"""A server in a test: a function serves each connection to a free loopback port, in a task of its own.

Must not know: what is said on a connection.
"""

import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable

import trio

from chaosproxy.wire import listen
from chaosproxy.wire.memory import Memory
from chaosproxy.wire.plain import Plain
from chaosproxy.wire.transport import Transport

Serve = Callable[[Transport], Awaitable[None]]


@contextlib.asynccontextmanager
async def listening(serve: Serve, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """The port, while the block runs; what is served then is cancelled. With `tls` the handshake is done before `serve`
    is called. A connection is closed when `serve` returns."""
    (listener,) = await listen.open_listeners("127.0.0.1", 0)

    async def connection(below: Plain) -> None:
        transport: Transport = below
        try:
            if tls is not None:
                transport = Memory(below, tls, server_side=True)
                try:
                    await transport.handshake()
                except ConnectionError:
                    return  # a client that does not like us is a client that never came
            await serve(transport)
        finally:
            transport.close()

    with listener:
        async with trio.open_nursery() as nursery:

            async def accept_all() -> None:
                while True:
                    nursery.start_soon(connection, Plain(await listen.accept(listener)))

            nursery.start_soon(accept_all)
            yield listener.getsockname()[1]
            nursery.cancel_scope.cancel()
