"""Real loopback connections, throw-away certificates, and a count of open descriptors."""

import contextlib
import gc
import os
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from chaosproxy.wire import tls
from chaosproxy.wire.memory import Memory
from chaosproxy.wire.plain import Plain


def connected() -> tuple[socket.socket, socket.socket]:
    """The two ends of one TCP connection on loopback, both blocking."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        client = socket.create_connection(listening.getsockname())
        server, _ = listening.accept()
    return client, server


@dataclass(frozen=True)
class Contexts:
    server: ssl.SSLContext
    ca: Path

    def client(self, *offers: str) -> ssl.SSLContext:
        return tls.client_context(self.ca, offers or ("http/1.1",), insecure=False)

    def server_end(self, sock: socket.socket) -> Memory:
        return Memory(Plain(sock), self.server, server_side=True)

    def client_end(self, sock: socket.socket, *offers: str) -> Memory:
        return Memory(Plain(sock), self.client(*offers), server_side=False, server_hostname="localhost")


@pytest.fixture(scope="session")
def contexts(tmp_path_factory: pytest.TempPathFactory) -> Contexts:
    server, ca = tls.server_context("auto", ["127.0.0.1"], tmp_path_factory.mktemp("ca") / "ca.pem")
    assert ca is not None
    return Contexts(server, ca)


def opened() -> set[tuple[int, int, int]]:
    """Which descriptors this process has open: number, device and inode (the directory that lists them is none)."""
    found = set()
    for entry in Path("/dev/fd").iterdir():
        with contextlib.suppress(OSError):
            status = os.fstat(int(entry.name))
            found.add((int(entry.name), status.st_dev, status.st_ino))
    return found


@pytest.fixture
def descriptors() -> Iterator[None]:
    """No descriptor is open after the test that was not before it. One that an earlier test left to the
    collector, or to a thread, may close meanwhile: a bare count would lay that to this test."""
    gc.collect()
    before = opened()
    yield
    gc.collect()
    assert opened() - before == set()
