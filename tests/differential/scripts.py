"""What the origin of the comparison says: its scripts, by the path of the request.

An ordinary stream is `COUNT` events of `SIZE` bytes, `GAP` apart, in each of three framings; the others differ from it in
one thing. Must not know: sockets, who asks.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chaosproxy.testing.recorder import Ending

GAP = 0.05
"""Seconds between two events of an ordinary stream."""
SIZE = 400
"""Bytes of one."""
LARGE = 600
"""More than the 512 from which on many think that coding is worth it."""
COUNT = 24
DENSE = 500
"""Events that are sent as fast as they are taken."""
CUT = 8
"""Events before a stream breaks or falls silent."""
HOLD = 1.0
"""Seconds between the head and the first event, in the script that asks for the head."""
SILENCE = 2.0
"""Seconds for which an origin is silent before it goes on, in those that ask who notices that the client has left."""
BLOCK = 64 * 1024
FLOOD = 1024 * BLOCK
"""Bytes that a client is offered who does not read: more than the sockets of two connections take by themselves."""


@dataclass(frozen=True, slots=True)
class Head:
    """The answer's head, in one of three framings."""

    framing: str
    length: int = 0
    fields: bytes = b""


@dataclass(frozen=True, slots=True)
class Events:
    """So many events, each followed by a gap."""

    count: int
    gap: float = GAP
    size: int = SIZE


@dataclass(frozen=True, slots=True)
class Pause:
    """Nothing is sent for so long."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Flood:
    """Bytes as fast as they are taken."""

    nbytes: int = FLOOD


@dataclass(frozen=True, slots=True)
class Last:
    """The end that the framing has: the last chunk; the FIN of a close-delimited body; nothing more where all has come."""


Step = Head | Events | Pause | Flood | Last | Ending


def _whole(framing: str, *steps: Step, count: int, size: int = SIZE, fields: bytes = b"") -> list[Step]:
    return [Head(framing, count * size, fields), *steps, Last()]


def _scripts() -> dict[str, list[Step]]:
    scripts: dict[str, list[Step]] = {"silent": [Ending.OPEN]}
    hint = b"X-Accel-Buffering: no\r\n"
    for framing in ("chunked", "close", "length"):
        scripts |= {
            f"{framing}": _whole(framing, Events(COUNT), count=COUNT),
            f"{framing}-sparse": _whole(framing, Events(5, gap=0.5), count=5),
            f"{framing}-dense": _whole(framing, Events(DENSE, gap=0.0, size=2000), count=DENSE, size=2000),
            f"{framing}-large": _whole(framing, Events(COUNT, size=LARGE), count=COUNT, size=LARGE),
            f"{framing}-late": _whole(framing, Pause(HOLD), Events(8), count=8),
            f"{framing}-hint": _whole(framing, Events(COUNT), count=COUNT, fields=hint),
            f"{framing}-fin": [Head(framing, 2 * CUT * SIZE), Events(CUT), Pause(GAP), Ending.FIN],
            f"{framing}-rst": [Head(framing, 2 * CUT * SIZE), Events(CUT), Pause(GAP), Ending.RST],
            f"{framing}-idle": [Head(framing, 2 * CUT * SIZE), Events(CUT), Ending.OPEN],
            f"{framing}-going-on": _whole(framing, Events(100), count=100),
            f"{framing}-pausing": _whole(framing, Events(CUT), Pause(SILENCE), Events(40), count=CUT + 40),
            f"{framing}-flood": [Head(framing, FLOOD + SIZE), Events(1), Flood(), Last()],
        }
    plain = {name: steps for name, steps in scripts.items() if name in ("length", "length-sparse")}
    for name, (head, *steps) in plain.items():
        assert isinstance(head, Head)
        scripts[f"{name}-text"] = [Head(head.framing, head.length, b"Content-Type: text/plain\r\n"), *steps]
    return scripts


SCRIPTS: Mapping[str, Sequence[Step]] = _scripts()
"""What can be asked for."""


def head_of(head: Head) -> bytes:
    framing = {
        "chunked": b"Transfer-Encoding: chunked\r\n",
        "length": b"Content-Length: %d\r\n" % head.length,
        "close": b"Connection: close\r\n",
    }[head.framing]
    kind = b"" if b"Content-Type" in head.fields else b"Content-Type: text/event-stream\r\n"
    return b"HTTP/1.1 200 OK\r\nDate: Mon, 30 Nov 2026 12:00:00 GMT\r\n" + kind + head.fields + framing + b"\r\n"


@functools.lru_cache(maxsize=4096)
def event(number: int, size: int) -> bytes:
    """An event of so many bytes, that an encoder can make little of: what holds blocks of coded bytes fills them."""
    start = b"data: %d " % number
    return start + _noise(number, size - len(start) - 2) + b"\n\n"


def _noise(seed: int, size: int) -> bytes:
    """Letters that follow from the seed, with six bits a byte of surprise."""
    state, letters = seed * 2654435761 % 2**32 or 1, bytearray()
    while len(letters) < size:
        state ^= state << 13 & 0xFFFFFFFF
        state ^= state >> 17
        state ^= state << 5 & 0xFFFFFFFF
        letters.append(0x30 + (state >> 8) % 64)
    return bytes(letters)
