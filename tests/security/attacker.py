"""`python -m tests.security.attacker`: one attacker on real sockets, a process of its own, as fast as it is read.

As a client it connects to the proxy again as soon as it is cut; as an upstream it attacks on every connection on which it
is asked for something; over HTTP/1.1 it is a client. What it has done is one line of JSON at the end.
"""

import argparse
import contextlib
import json
import socket
import struct
import sys
import threading
import time
from collections.abc import Iterator
from itertools import islice

from chaosproxy.http2.frames import ACK, PREFACE, frame
from tests.security.attacker_h1 import H1Attacker
from tests.security.flooding import BEFORE_OUR_SETTINGS, CLIENTS, UPSTREAMS, Attack, opening
from tests.security.flooding_h1 import H1
from tests.security.h2_frames import GOAWAY, GREETING, HEADERS, SETTINGS

AT_ONCE = 64 * 1024
"""Bytes of a write, about."""


class Heard:
    """What comes from the other end, in a thread of its own: whether it has had enough."""

    def __init__(self, sock: socket.socket) -> None:
        self.goaway: int | None = None
        self.over = threading.Event()
        self.asked = threading.Event()
        self._sock = sock
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        read = b""
        with contextlib.suppress(OSError):
            while data := self._sock.recv(65536):
                read = self._frames((read + data).removeprefix(PREFACE))
        self.over.set()
        self.asked.set()

    def _frames(self, read: bytes) -> bytes:
        while len(read) >= 9 and len(read) >= (end := 9 + int.from_bytes(read[:3], "big")):
            if read[3] == GOAWAY:
                self.goaway = int.from_bytes(read[13:17], "big")
                self.over.set()
            elif read[3] == HEADERS:
                self.asked.set()
            read = read[end:]
        return read


class Attacker:
    """What one has done so far."""

    def __init__(self, name: str, attack: Attack) -> None:
        self.name, self.attack = name, attack
        self.parts, self.connections = 0, 0
        self.cut: list[float] = []
        """Seconds from the first part until it was over, of each connection that was cut."""
        self.codes: set[int] = set()

    def on(self, sock: socket.socket, heard: Heard, until: float) -> None:
        """Attack on one connection until it is over, or it is time to stop."""
        self.connections += 1
        began = time.monotonic()
        with contextlib.suppress(OSError):
            sock.sendall(self.attack.first)
            for some, size in self._writes():
                if heard.over.is_set() or time.monotonic() > until:
                    break
                sock.sendall(some)
                self.parts += size
        if not heard.over.wait(max(0.0, until - time.monotonic())):
            return
        self.cut.append(time.monotonic() - began)
        if heard.goaway is not None:
            self.codes.add(heard.goaway)

    def _writes(self) -> Iterator[tuple[bytes, int]]:
        parts = self.attack.parts()
        size = max(1, AT_ONCE // len(next(self.attack.parts())))
        while some := list(islice(parts, size)):
            yield b"".join(some), len(some)


def said(attacker: Attacker | H1Attacker) -> str:
    return json.dumps(
        {
            "parts": attacker.parts,
            "connections": attacker.connections,
            "cut": attacker.cut,
            "codes": sorted(attacker.codes),
        }
    )


def gone(sock: socket.socket) -> None:
    """At once, so that the kernel does not run out of ports for the next."""
    with contextlib.suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.shutdown(socket.SHUT_RD)


def client(attacker: Attacker, port: int, seconds: float) -> None:
    """Again and again, on one connection at a time."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with socket.create_connection(("127.0.0.1", port), timeout=30) as sock:
            heard = Heard(sock)
            sock.sendall(GREETING + frame(SETTINGS, ACK, 0) + opening(1))
            attacker.on(sock, heard, until)
            gone(sock)


def upstream(attacker: Attacker, port: int, seconds: float) -> None:
    """The port is the first line that is said; a connection that nobody asks on is left alone."""
    with socket.create_server(("127.0.0.1", port)) as listener:
        print(listener.getsockname()[1], flush=True)
        listener.settimeout(0.1)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                sock, _ = listener.accept()
            except TimeoutError:
                continue
            with sock:
                sock.settimeout(30)
                heard = Heard(sock)
                acknowledged = b"" if attacker.name in BEFORE_OUR_SETTINGS else frame(SETTINGS, ACK, 0)
                with contextlib.suppress(OSError):
                    sock.sendall(frame(SETTINGS, 0, 0) + acknowledged)
                if heard.asked.wait(max(0.0, until - time.monotonic())):
                    attacker.on(sock, heard, until)
                gone(sock)


def main() -> int:
    """One of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("side", choices=["client", "h1", "upstream"])
    parser.add_argument("name")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=5)
    asked = parser.parse_args()
    attacker: Attacker | H1Attacker
    match asked.side:
        case "client":
            attacker = Attacker(asked.name, CLIENTS[asked.name])
            client(attacker, asked.port, asked.seconds)
        case "h1":
            attacker = H1Attacker(H1[asked.name])
            attacker.run(asked.port, asked.seconds, gone)
        case _:
            attacker = Attacker(asked.name, UPSTREAMS[asked.name])
            upstream(attacker, asked.port, asked.seconds)
    print(said(attacker), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
