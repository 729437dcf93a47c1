"""Listening sockets as the proxy has them: closing one while clients knock."""

import socket

import trio

from chaosproxy.proxy.gate import Gate
from chaosproxy.proxy.listener import open_all


async def test_closing_while_a_client_knocks_is_no_error():
    """The client and the closing are there at one moment; which of the two tasks runs first is Trio's dice, so often."""
    admitted = []

    def admit(transport, tls):
        admitted.append(transport)
        return len(admitted), transport, None

    for _ in range(40):
        (listener,) = await open_all([("127.0.0.1", 0)], None)
        port = int(listener.url.rpartition(":")[2])
        async with trio.open_nursery() as nursery:
            nursery.start_soon(listener.run, admit, lambda number, transport, wire: transport.close(), Gate())
            await trio.testing.wait_all_tasks_blocked()
            with socket.create_connection(("127.0.0.1", port)):
                await trio.lowlevel.checkpoint()
                listener.close()
    assert len(admitted) < 40  # else the closing never came first, and this has shown nothing
