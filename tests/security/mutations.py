"""Messages of HTTP/1.1 that nobody has thought of: others, with small changes.

Must not know: what they are tried on.
"""

import random
from collections.abc import Sequence

from tests.security.corpus import NEXT

MARKS = (
    *(
        b"\r\n",
        b"\n",
        b"\r",
        b"\0",
        b" ",
        b"\t",
        b":",
        b",",
        b"0",
        b"5",
        b";",
        b"\x0b",
        b"\xff",
        b"\r\n\r\n",
        b"0\r\n\r\n",
    ),
    *(b"chunked", b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n", b"Host: a.test\r\n", b"HTTP/1.1", NEXT),
)
"""What mutations put in."""


def mutated(messages: Sequence[bytes], drawn: random.Random) -> bytes:
    """One of `messages`, or two that are spliced, with some bytes that have come, gone, or changed."""
    data = drawn.choice(messages)
    if drawn.random() < 0.3:
        other = drawn.choice(messages)
        data = data[: drawn.randrange(len(data) + 1)] + other[drawn.randrange(len(other) + 1) :]
    for _ in range(drawn.choice((0, 1, 1, 1, 2, 3))):
        at, most = drawn.randrange(len(data) + 1), len(data)
        match drawn.randrange(4):
            case 0 | 1:
                data = data[:at] + drawn.choice(MARKS) + data[at:]
            case 2:
                data = data[:at] + data[at + 1 :]
            case _:
                data = (
                    data[:at]
                    + bytes(byte ^ 1 << drawn.randrange(8) for byte in data[at : at + 1])
                    + data[at + 1 : most]
                )
    return data
