"""A transport over a socket: immediate answers, waiting, what a closed or reset one says."""

import errno
import socket

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from chaosproxy.wire.plain import Plain
from tests.wire.conftest import connected

MEGABYTE = 1024 * 1024


async def test_recv_answers_at_once_and_readable_waits_for_the_peer(descriptors):
    client, server = connected()
    transport = Plain(server)
    with client:
        assert transport.recv(10) is None
        async with trio.open_nursery() as nursery:
            nursery.start_soon(transport.readable)
            client.sendall(b"hello")
        assert transport.recv(3) == b"hel"
        assert transport.recv(10) == b"lo"
        client.shutdown(socket.SHUT_WR)
        await transport.readable()
        assert transport.recv(10) == b""
        transport.close()


async def test_who_waits_for_the_peer_can_be_told_to_stop_and_the_transport_goes_on():
    client, server = connected()
    transport = Plain(server)
    transport.interrupt()  # nobody waits
    with client:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(told_to_stop, transport)
            await wait_all_tasks_blocked()
            transport.interrupt()
        client.sendall(b"x")
        await transport.readable()
        assert transport.recv(10) == b"x"
        transport.close()
        transport.interrupt()


async def told_to_stop(transport):
    with pytest.raises(trio.ClosedResourceError):
        await transport.readable()


async def test_send_takes_what_fits_then_nothing_until_the_peer_reads():
    client, server = connected()
    transport = Plain(server)
    with client:
        taken = 0
        while sent := transport.send(bytes(MEGABYTE)):
            taken += sent
        assert transport.send(b"more") == 0
        with trio.move_on_after(0.05) as waiting:
            await transport.writable()
        assert waiting.cancelled_caught
        while taken > 0:
            taken -= len(client.recv(MEGABYTE))
        await transport.writable()
        assert transport.send(b"more") == 4
        transport.close()


async def test_writes_leave_at_once_however_small():
    client, server = connected()
    with client:
        transport = Plain(server)
        assert server.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        transport.close()


async def test_what_the_peer_has_not_acknowledged_is_counted():
    client, server = connected()
    transport = Plain(server)
    with client:
        taken = 0
        while sent := transport.send(bytes(MEGABYTE)):
            taken += sent
        assert 0 < transport.unacknowledged() <= taken
        while taken > 0:
            taken -= len(client.recv(MEGABYTE))
        while transport.unacknowledged():
            await trio.lowlevel.checkpoint()
        transport.close()
        assert transport.unacknowledged() == 0


async def test_data_before_a_reset_is_read_then_the_reset_is_an_error():
    client, server = connected()
    transport = Plain(server)
    client.sendall(b"last words")
    Plain(client).rst()
    await transport.readable()
    assert transport.recv(100) == b"last words"
    with pytest.raises(ConnectionResetError) as caught:
        transport.recv(100)
    assert caught.value.errno == errno.ECONNRESET
    with pytest.raises((ConnectionResetError, BrokenPipeError)):
        transport.send(b"anybody?")
    transport.fin()  # nothing to shut down any more, and no reason to raise
    transport.close()


async def test_closing_wakes_whoever_waits():
    client, server = connected()
    transport = Plain(server)
    woken = []

    async def wait(how):
        with pytest.raises(trio.ClosedResourceError):
            await how()
        woken.append(how)

    with client:
        while transport.send(bytes(MEGABYTE)):
            pass
        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait, transport.readable)
            nursery.start_soon(wait, transport.writable)
            await trio.testing.wait_all_tasks_blocked()
            transport.close()
    assert len(woken) == 2


async def test_a_closed_transport_says_so_and_may_be_ended_again():
    client, server = connected()
    client.close()
    transport = Plain(server)
    transport.close()
    for call in (lambda: transport.recv(1), lambda: transport.send(b"x")):
        with pytest.raises(trio.ClosedResourceError):
            call()
    for wait in (transport.readable, transport.writable):
        with pytest.raises(trio.ClosedResourceError):
            await wait()
    transport.fin()
    transport.cut()
    transport.rst()
    transport.close()


async def test_any_other_failure_of_the_network_is_a_lost_connection(monkeypatch):
    class Unreachable:
        family = socket.AF_UNIX

        def setblocking(self, flag):
            pass

        def fileno(self):
            return 7

        def recv(self, nbytes):
            raise OSError(errno.EHOSTUNREACH, "No route to host")

        send = recv

    transport = Plain(Unreachable())
    with pytest.raises(ConnectionResetError, match="No route to host"):
        transport.recv(10)
    with pytest.raises(ConnectionResetError, match="No route to host"):
        transport.send(b"x")


async def test_a_peer_that_has_left_at_once_is_no_error_before_it_is_read(monkeypatch):
    """There macOS refuses every option; whoever accepts must not end for it."""

    class Left(socket.socket):
        def setsockopt(self, *_):
            raise OSError(errno.EINVAL, "Invalid argument")

    client, server = connected()
    client.close()
    transport = Plain(Left(fileno=server.detach()))
    await transport.readable()
    assert transport.recv(10) == b""
    transport.close()
