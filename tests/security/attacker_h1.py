"""A client of HTTP/1.1 that attacks on one connection at a time, and counts its answers.

Must not know: what it sends.
"""

import contextlib
import re
import socket
import threading
import time
from collections.abc import Callable

from tests.security.flooding_h1 import Turn

STATUS = re.compile(rb"HTTP/1\.1 ([0-9]{3}) ")
SHORTER = 12
"""Bytes in which there may be the beginning of one."""
BROKEN = 0
"""In the place of a status: the connection ended in the middle of something."""


class Answers:
    """What comes on a connection, in a thread of its own."""

    def __init__(self, sock: socket.socket) -> None:
        self.count, self.over = 0, False
        self.statuses: set[int] = set()
        self._sock, self._news = sock, threading.Condition()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        read = b""
        with contextlib.suppress(OSError):
            while data := self._sock.recv(65536):
                read += data
                found = list(STATUS.finditer(read))
                read = read[found[-1].end() if found else 0 :][-SHORTER:]
                with self._news:
                    self.count += len(found)
                    self.statuses.update(int(one[1]) for one in found)
                    self._news.notify()
        with self._news:
            self.over = True
            self._news.notify()

    def wait(self, count: int, until: float) -> bool:
        """Whether so many have come by then, or before the end."""
        with self._news:
            self._news.wait_for(lambda: self.over or self.count >= count, max(0.0, until - time.monotonic()))
            return self.count >= count


class H1Attacker:
    """What one has done so far, in the same words as one of HTTP/2."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        self.parts, self.connections = 0, 0
        self.cut: list[float] = []
        """Seconds until it had its answers, of each turn."""
        self.codes: set[int] = set()
        """The statuses."""

    def run(self, port: int, seconds: float, gone: Callable[[socket.socket], None]) -> None:
        """Again and again, and a new connection where the last one has ended."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            with socket.create_connection(("127.0.0.1", port), timeout=30) as sock:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.connections += 1
                self._on(sock, until)
                gone(sock)

    def _on(self, sock: socket.socket, until: float) -> None:
        answers, turns = Answers(sock), 0
        while time.monotonic() < until and not answers.over:
            began, wanted = time.monotonic(), (turns + 1) * self.turn.answers
            with contextlib.suppress(OSError):
                for some in self.turn.writes:
                    if answers.over or time.monotonic() > until:
                        break
                    sock.sendall(some)
                    if self.turn.pause:
                        time.sleep(self.turn.pause)
            if answers.wait(wanted, until):
                turns += 1
                self.parts += self.turn.parts
                self.cut.append(time.monotonic() - began)
            elif answers.over and not self._may_end(answers.count):
                self.codes.add(BROKEN)
        self.codes |= answers.statuses

    def _may_end(self, count: int) -> bool:
        """A request that is refused ends its connection, perhaps before we have seen that and sent the next."""
        return count > 0 and count % self.turn.answers == 0 and self.turn.status >= 400
