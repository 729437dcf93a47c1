"""Attacks by clients of HTTP/1.1 that are cheap to send: what is legal in the smallest pieces, what is too much, what is wrong.

Nobody is cut for what is legal: it is served, and it costs the others nothing. Must not know: how it is sent.
"""

from collections.abc import Sequence
from dataclasses import dataclass

CHUNKS, REQUESTS = 100_000, 1000
_CHUNK = b"1\r\na\r\n"
_HEAD = b"GET /short HTTP/1.1\r\nHost: x\r\n" + b"".join(b"X-%d: %b\r\n" % (n, b"v" * 30) for n in range(100)) + b"\r\n"


@dataclass(frozen=True, slots=True)
class Turn:
    """What is sent again and again, on one connection for as long as that lives, each time behind the answers."""

    writes: Sequence[bytes]
    parts: int
    """What it is counted as."""
    answers: int
    status: int
    """Of every answer."""
    pause: float = 0.0
    """Seconds behind each write, where each is to be a read of its own: the kernel would put them together."""


H1 = {
    "a body of 100,000 one-byte chunks": Turn(
        [
            b"POST /upload HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
            *[_CHUNK * 10_000] * (CHUNKS // 10_000),
            b"0\r\n\r\n",
        ],
        CHUNKS,
        1,
        200,
    ),
    "a head byte by byte": Turn([_HEAD[at : at + 1] for at in range(len(_HEAD))], len(_HEAD), 1, 200, 0.0001),
    "pipelined requests": Turn([b"GET /short HTTP/1.1\r\nHost: x\r\n\r\n" * REQUESTS], REQUESTS, REQUESTS, 200),
    "refused requests": Turn([b"G(T / HTTP/1.1\r\nHost: x\r\n\r\n"], 1, 1, 400),
}
