"""Connections of the readers: opened with a request, read without blocking, over TLS too.

Rules: loopback; nothing is verified, the certificate is thrown away with the proxy.
"""

import socket

from benchmarks.frames import Frames, h2_opening
from benchmarks.wire import h1_request

STREAMS_PER_H2_CONNECTION = 25
READ = 256 * 1024


class Client:
    """One connection."""

    __slots__ = ("_again", "frames", "sock")

    def __init__(self, port: int, opening: bytes, *, h2: bool = False, tls: bool = False) -> None:
        sock = socket.create_connection(("127.0.0.1", port), timeout=30)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.frames = Frames() if h2 else None
        self._again: tuple[type[OSError], ...] = (BlockingIOError,)
        if tls:
            import ssl  # noqa: PLC0415 - it takes long, and only one scene needs it

            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            sock = context.wrap_socket(sock)
            self._again = (ssl.SSLWantReadError,)
        self.sock = sock
        sock.sendall(opening)
        sock.setblocking(False)

    def read(self) -> bytes:
        """What is there; empty if nothing is. EOFError at the end."""
        parts: list[bytes] = []
        while True:
            try:
                data = self.sock.recv(READ)
            except self._again:
                break
            if not data:
                raise EOFError
            parts.append(data)
            if self._again == (BlockingIOError,):
                break  # level-triggered: what is left is told again; only TLS keeps something back itself
        data = b"".join(parts)
        if self.frames is not None and (answer := self.frames.feed(data)):
            self.sock.sendall(answer)
        return data


def clients(port: int, path: str, streams: int, *, h2: bool = False, tls: bool = False) -> list[Client]:
    """Connections on which `streams` streams of `path` have been asked for."""
    if not h2:
        return [Client(port, h1_request(path), tls=tls) for _ in range(streams)]
    shares = [min(STREAMS_PER_H2_CONNECTION, streams - at) for at in range(0, streams, STREAMS_PER_H2_CONNECTION)]
    return [Client(port, h2_opening(path, share), h2=True, tls=tls) for share in shares]
