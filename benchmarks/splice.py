"""The yardstick: the least a Trio proxy can do, written the way anybody would. Bytes are copied, nothing is looked at."""

import sys
from functools import partial

import trio


async def copy(source: trio.SocketStream, target: trio.SocketStream, scope: trio.CancelScope) -> None:
    """Copy until either side is gone; then everything of the connection is."""
    try:
        async for data in source:
            await target.send_all(data)
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        pass
    scope.cancel()


async def serve(client: trio.SocketStream, *, port: int) -> None:
    """One client, one connection to the origin."""
    async with await trio.open_tcp_stream("127.0.0.1", port) as upstream, trio.open_nursery() as nursery:
        nursery.start_soon(copy, client, upstream, nursery.cancel_scope)
        nursery.start_soon(copy, upstream, client, nursery.cancel_scope)


async def main(port: int) -> None:
    """Print the port, then serve."""
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    print(listener.socket.getsockname()[1], flush=True)
    await trio.serve_listeners(partial(serve, port=port), [listener])


if __name__ == "__main__":
    trio.run(main, int(sys.argv[1]))
