"""Connections to and from a proxy without a socket: no byte is ever under way, so a virtual clock can jump at once.

Rules: a link blocks, ends and resets as a connection of the kernel's does. Must not know: what is said on it.
"""

import contextlib
from collections.abc import Awaitable, Callable

import trio

from chaosproxy.proxy.address import UpstreamAddress
from chaosproxy.wire.links import link
from chaosproxy.wire.transport import Transport

READ = 65536
ADDRESS = "http://upstream"
"""What an upstream that is a function is called."""


class LinkStream(trio.abc.HalfCloseableStream):
    """One end of a link, as Trio's streams are: BrokenResourceError where the other end is gone. One task at a time sends,
    one receives."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """All of it, waiting for room."""
        await trio.lowlevel.checkpoint()
        rest = bytes(data)
        try:
            while rest:
                rest = rest[self._transport.send(rest) :]
                if rest:
                    await self._transport.writable()
        except OSError as error:
            raise trio.BrokenResourceError(str(error)) from error

    async def wait_send_all_might_not_block(self) -> None:
        """Until there is room."""
        await self._transport.writable()

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """What one `send_all` of the other end has sent, `max_bytes` at most; b"" behind its end."""
        await trio.lowlevel.checkpoint()
        try:
            while (data := self._transport.recv(max_bytes or READ)) is None:
                await self._transport.readable()
        except OSError as error:
            raise trio.BrokenResourceError(str(error)) from error
        return data

    async def send_eof(self) -> None:
        """FIN: nothing more will be sent; what comes can still be read."""
        await trio.lowlevel.checkpoint()
        self._transport.fin()

    async def aclose(self) -> None:
        """FIN; a reset where something is left unread."""
        self._transport.close()
        await trio.lowlevel.checkpoint()

    def reset(self) -> None:
        """RST, at once."""
        self._transport.rst()


Serve = Callable[[LinkStream], Awaitable[None]]
"""An upstream: called for each connection to it, which is closed when it returns."""


class LinkedUpstream:
    """Reached by links; a task of `nursery`, which has to be set before there is a request, serves each."""

    nursery: trio.Nursery

    def __init__(self, serve: Serve) -> None:
        self._serve = serve

    async def dial(
        self, _address: UpstreamAddress, _offers: tuple[str, ...], wrap: Callable[[Transport], Transport]
    ) -> Transport:
        """The proxy's end of a new link."""
        await trio.lowlevel.checkpoint()
        near, far = link()
        self.nursery.start_soon(self._connection, LinkStream(far))
        return wrap(near)

    async def _connection(self, stream: LinkStream) -> None:
        async with stream:
            # That the proxy has left is what is tested, and no mistake of the upstream's.
            with contextlib.suppress(trio.BrokenResourceError):
                await self._serve(stream)
