"""Listening: every family of a name, taken ports, scarce descriptors, forks."""

import contextlib
import errno
import os
import select
import socket
import sys

import pytest
import trio
import trio.testing

from chaosproxy.errors import UnavailableError
from chaosproxy.wire import listen


async def test_a_connection_is_accepted_and_belongs_to_the_caller(descriptors):
    (listener,) = await listen.open_listeners("127.0.0.1", 0)
    with listener, socket.create_connection(listener.getsockname()) as client:
        accepted = await listen.accept(listener)
        with accepted:
            client.sendall(b"hello")
            assert accepted.recv(5) == b"hello"


async def test_who_waits_in_the_kernel_is_taken_without_a_turn_of_the_loop(descriptors):
    (listener,) = await listen.open_listeners("127.0.0.1", 0)
    with listener, contextlib.ExitStack() as ends:
        for _ in range(5):
            ends.enter_context(socket.create_connection(listener.getsockname()))
        with trio.testing.assert_no_checkpoints():
            for _ in range(5):
                ends.enter_context(await listen.accept(listener))


async def test_accept_waits_for_somebody(descriptors):
    (listener,) = await listen.open_listeners("127.0.0.1", 0)
    with listener:
        with trio.move_on_after(0.02) as waiting:
            await listen.accept(listener)
        assert waiting.cancelled_caught


async def test_a_name_is_listened_on_in_every_family_it_has():
    try:
        families = {entry[0] for entry in socket.getaddrinfo("localhost", 1, type=socket.SOCK_STREAM)}
        probe = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("no IPv6 here")
    port = probe.getsockname()[1]
    probe.close()
    listeners = await listen.open_listeners("localhost", port)
    try:
        assert {listener.family for listener in listeners} == families
        assert {listener.getsockname()[1] for listener in listeners} == {port}
    finally:
        for listener in listeners:
            listener.close()


async def test_a_family_that_the_machine_lacks_is_left_out(monkeypatch, descriptors):
    real = listen._listening

    def without_ipv6(family, *rest):
        if family == socket.AF_INET6:
            raise OSError(errno.EADDRNOTAVAIL, "Cannot assign requested address")
        return real(family, *rest)

    async def both(*args, **kwargs):
        return [
            (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("::1", 0, 0, 0)),
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0)),
        ]

    monkeypatch.setattr(listen, "_listening", without_ipv6)
    monkeypatch.setattr(trio.socket, "getaddrinfo", both)
    (listener,) = await listen.open_listeners("localhost", 0)
    with listener:
        assert listener.family == socket.AF_INET


async def test_a_taken_port_is_said_and_nothing_stays_open(descriptors):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UnavailableError, match=f"cannot listen on 127.0.0.1:{port}: the port is taken"):
            await listen.open_listeners("127.0.0.1", port)


@pytest.mark.skipif(sys.platform != "linux", reason="127.0.0.2 is there by itself on Linux only")
async def test_one_taken_address_of_several_leaves_none_open(monkeypatch, descriptors):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        async def two(*args, **kwargs):
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, port)) for host in ("127.0.0.2", "127.0.0.1")]

        monkeypatch.setattr(trio.socket, "getaddrinfo", two)
        with pytest.raises(UnavailableError, match="the port is taken"):
            await listen.open_listeners("localhost", port)
        monkeypatch.undo()
        for again in await listen.open_listeners("127.0.0.2", port):
            again.close()


@pytest.mark.parametrize(("host", "shown"), [("192.0.2.1", "192.0.2.1:0"), ("2001:db8::1", "[2001:db8::1]:0")])
async def test_an_address_of_another_machine_is_said(host, shown):
    with pytest.raises(UnavailableError) as caught:
        await listen.open_listeners(host, 0)
    assert str(caught.value).startswith(f"cannot listen on {shown}: ")


@pytest.mark.parametrize("host", ["name.invalid", "a..b"])
async def test_an_unknown_name_is_said(host):
    with pytest.raises(UnavailableError, match=f"cannot listen on {host}:0: "):
        await listen.open_listeners(host, 0)


async def test_a_port_that_just_served_can_be_had_again():
    (listener,) = await listen.open_listeners("127.0.0.1", 0)
    port = listener.getsockname()[1]
    client = socket.create_connection(("127.0.0.1", port))
    accepted = await listen.accept(listener)
    accepted.close()  # the server ends first, so TIME_WAIT lies on our port
    client.recv(1)
    client.close()
    listener.close()
    (again,) = await listen.open_listeners("127.0.0.1", port)
    again.close()


class Scarce:
    """A listening socket whose accept fails in the given ways first."""

    def __init__(self, real: socket.socket, *failures: int) -> None:
        self._real, self._failures = real, list(failures)
        self.asked: list[float] = []

    def fileno(self) -> int:
        return self._real.fileno()

    def accept(self):
        self.asked.append(trio.current_time())
        if self._failures:
            number = self._failures.pop(0)
            raise OSError(number, os.strerror(number))
        return self._real.accept()


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM])
async def test_where_descriptors_are_scarce_accept_pauses_and_goes_on(number):
    (listener,) = await listen.open_listeners("127.0.0.1", 0)
    with listener, socket.create_connection(listener.getsockname()):
        scarce = Scarce(listener, number)
        (await listen.accept(scarce)).close()
        first, second = scarce.asked
        assert second - first >= 0.1


async def test_a_client_that_left_before_it_was_accepted_is_passed_over():
    (listener,) = await listen.open_listeners("127.0.0.1", 0)
    with listener, socket.create_connection(listener.getsockname()):
        scarce = Scarce(listener, errno.ECONNABORTED, errno.EPROTO)
        (await listen.accept(scarce)).close()
        assert len(scarce.asked) == 3


async def test_a_listener_that_cannot_accept_at_all_is_an_error():
    (listener,) = await listen.open_listeners("127.0.0.1", 0)
    unusable = Scarce(listener, errno.EINVAL)
    with listener, socket.create_connection(listener.getsockname()), pytest.raises(OSError, match="Invalid argument"):
        await listen.accept(unusable)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
async def test_a_forked_child_does_not_keep_the_listener():
    """Else clients connect to a socket that nobody accepts from, and hang, after the parent has closed."""
    (listener,) = await listen.open_listeners("127.0.0.1", 0)
    address = listener.getsockname()
    reading, writing = os.pipe()
    forked, tell = os.pipe()
    child = os.fork()
    if not child:
        os.close(writing)
        os.write(tell, b"!")
        os.read(reading, 1)  # until the parent is done
        os._exit(0)
    try:
        assert os.read(forked, 1) == b"!"
        listener.close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address, timeout=5).close()
    finally:
        for descriptor in (writing, reading, forked, tell):
            os.close(descriptor)
        os.waitpid(child, 0)


async def test_the_parent_goes_on_listening_after_a_fork():
    (listener,) = await listen.open_listeners("127.0.0.1", 0)
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    with listener, socket.create_connection(listener.getsockname()):
        with trio.fail_after(20):
            (await listen.accept(listener)).close()
        assert select.select([listener], [], [], 0)[0] == []
