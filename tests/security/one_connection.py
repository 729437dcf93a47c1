"""One HTTP/2 connection that carries a hundred thousand requests, over real sockets: what the proxy's memory does."""

from collections.abc import Callable

from chaosproxy.http2.frames import ACK, END_HEADERS, END_STREAM, frame
from chaosproxy.testing.recorder import Recorder
from chaosproxy.wire import dial
from tests.security.h2_frames import DATA, GREETING, HEADERS, SETTINGS, WINDOW, four
from tests.security.measured import AS_IT_MUST
from tests.security.rows import Row

AT_A_TIME = 50
GROWS = 8
"""MiB between a tenth of them and all, at most: an allocator is not exact."""
ASK = b"\x82\x86\x41\x01a\x04\x06/short"
"""GET /short of authority a, which is in no table."""


class Ended:
    """Counts what has ended, and gives back what was taken of the connection's window."""

    def __init__(self) -> None:
        self.count = self.taken = 0
        self._read = b""

    def take(self, data: bytes) -> None:
        read = self._read + data
        at = 0
        while len(read) - at >= 9 and len(read) - at >= (size := 9 + int.from_bytes(read[at : at + 3], "big")):
            kind, flags = read[at + 3], read[at + 4]
            if kind == DATA:
                self.taken += size - 9
            self.count += kind in (DATA, HEADERS) and flags & END_STREAM
            at += size
        self._read = read[at:]


async def many_streams(port: int, count: int, memory: Callable[[], float]) -> Row:
    """`count` requests, fifty at a time."""
    client, ended, asked, early = Recorder(await dial.connect("127.0.0.1", port, None)), Ended(), 0, 0.0
    try:
        await client.send(GREETING + frame(SETTINGS, ACK, 0))
        while asked < count:
            streams = range(2 * asked + 1, 2 * (asked + AT_A_TIME) + 1, 2)
            await client.send(b"".join([frame(HEADERS, END_HEADERS | END_STREAM, one, ASK) for one in streams]))
            asked += AT_A_TIME
            while ended.count < asked and (data := await client.read()):
                client.pieces.clear()
                ended.take(data)
            if ended.count < asked:
                break
            if ended.taken:
                await client.send(frame(WINDOW, 0, 0, four(ended.taken)))
                ended.taken = 0
            if not early and asked >= count // 10:
                early = memory()
        grown = memory() - early
    finally:
        client.transport.close()
    good = ended.count >= count and grown <= GROWS
    return Row(
        name=f"real sockets: one connection of {count:,} requests",
        tried=ended.count,
        must="each is answered; the proxy's memory is flat",
        happens=AS_IT_MUST if good else "memory grows" if ended.count >= count else "not all were answered",
        figure=f"{grown:+.1f} MiB between {count // 10:,} and {count:,}",
        by="python -m tests.security.attack",
    )
