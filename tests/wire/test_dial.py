"""Dialling: names with several addresses, failures in one line, no proxy of the environment."""

import errno
import os
import socket

import pytest
import trio

from chaosproxy.errors import UpstreamFault
from chaosproxy.wire import dial
from tests.wire.conftest import Contexts


def unused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        return sock.getsockname()[1]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_a_connection_speaks_with_whoever_listens(host, descriptors):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        transport = await dial.dial(host, listening.getsockname()[1])
        accepted, _ = listening.accept()
        with accepted:
            assert transport.send(b"hello") == 5
            assert accepted.recv(5) == b"hello"
            accepted.sendall(b"and back")
            await transport.readable()
            assert transport.recv(100) == b"and back"
        transport.close()


async def test_localhost_is_tried_in_both_families():
    try:
        listening = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("no IPv6 here")
    with listening:
        transport = await dial.dial("localhost", listening.getsockname()[1])
        assert transport.socket.family == socket.AF_INET6
        transport.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_nobody_there_is_one_line_with_the_kernel_s_words(host, descriptors):
    port = unused_port()
    with pytest.raises(UpstreamFault) as caught:
        await dial.dial(host, port)
    assert str(caught.value) == f"{host}:{port}: Connection refused"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_no_descriptor_left_is_one_line(host, monkeypatch):
    def scarce(*_):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(trio.socket, "socket", scarce)
    with pytest.raises(UpstreamFault, match=f"^{host}:80: Too many open files$"):
        await dial.dial(host, 80)


@pytest.mark.parametrize("host", ["name.invalid", "a..b", "x" * 70 + ".test"])
async def test_a_name_that_does_not_exist_is_one_line(host):
    with pytest.raises(UpstreamFault) as caught:
        await dial.dial(host, 80)
    assert str(caught.value).startswith(f"{host}:80: ")
    assert len(str(caught.value)) > len(f"{host}:80: ")
    assert "\n" not in str(caught.value)


async def test_proxies_of_the_environment_are_ignored(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "https_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{unused_port()}")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        (await dial.dial("127.0.0.1", listening.getsockname()[1])).close()


async def test_a_cancelled_attempt_leaves_no_socket(descriptors):
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listening:
        full = []
        try:
            for _ in range(3):  # the kernel drops what does not fit into the backlog: the attempt hangs
                sock = socket.socket()
                sock.setblocking(False)
                sock.connect_ex(listening.getsockname())
                full.append(sock)
            with trio.move_on_after(0.05) as waiting:
                (await dial.dial("127.0.0.1", listening.getsockname()[1])).close()
            assert waiting.cancelled_caught
        finally:
            for sock in full:
                sock.close()


async def test_under_tls_the_protocol_is_agreed(contexts: Contexts, descriptors):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        async with trio.open_nursery() as nursery:

            async def serve() -> None:
                accepted, _ = await trio.to_thread.run_sync(listening.accept)
                server = contexts.server_end(accepted)
                await server.handshake()
                server.close()

            nursery.start_soon(serve)
            transport = await dial.connect("localhost", listening.getsockname()[1], contexts.client("h2"))
            assert (transport.tls, transport.alpn) == (True, "h2")
            transport.close()


async def test_an_upstream_that_speaks_no_tls_is_one_line(contexts: Contexts, descriptors):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        async with trio.open_nursery() as nursery:

            async def serve() -> None:
                accepted, _ = await trio.to_thread.run_sync(listening.accept)
                with accepted:
                    accepted.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                    await trio.to_thread.run_sync(accepted.recv, 4096)

            nursery.start_soon(serve)
            with pytest.raises(UpstreamFault, match=f"localhost:{port}: TLS failed: what the peer sent is not TLS"):
                await dial.connect("localhost", port, contexts.client("h2"))
