"""Ports for programs that have to be told one.

Rules: below those that the kernel gives to whoever asks for any, or another test, of this process or of another worker,
may be given it before the program has opened it; each worker has some of its own, and none is given out twice.
"""

import itertools
import os
import socket

LOWEST = 10_000
EACH = 1_000
WORKERS = 16
"""More share; Linux gives ports from 32768 on, macOS from 49152 on."""
_numbers = itertools.count(os.getpid())


def free_port() -> int:
    """One that nobody uses on 127.0.0.1."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % WORKERS
    for number in itertools.islice(_numbers, EACH):
        port = LOWEST + worker * EACH + number % EACH
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return port
    raise AssertionError("no port is free")
