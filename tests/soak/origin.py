"""The origin of the soak: what a path ends with is how it answers, and every request is counted by that.

`python -m tests.soak.origin` listens, says on which port, and tells what it has counted whoever asks for `/stats`; behind that it
closes every connection, as servers do with those that nobody uses.
"""

import json
import sys
from collections import Counter

import trio

from chaosproxy.testing.listening import listening
from chaosproxy.testing.recorder import Recorder
from chaosproxy.wire.transport import Transport

PLAIN = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 20\r\n\r\n" + b"." * 20
SSE = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
CHUNK = b"12\r\ndata: 0123456789\n\n\r\n"
EVENTS = 4
STREAM = SSE + CHUNK * EVENTS + b"0\r\n\r\n"
BROKEN = SSE + CHUNK * 2
ANSWERS = {b"plain": PLAIN, b"sse": STREAM, b"fin": BROKEN, b"rst": BROKEN}


class Counting:
    """Serves connections, one request after the other on each."""

    def __init__(self) -> None:
        self.counted: Counter[str] = Counter()
        self._open: set[Transport] = set()

    async def serve(self, transport: Transport) -> None:
        peer = Recorder(transport)
        self._open.add(transport)
        waiting = b""
        try:
            while data := await peer.read():
                peer.pieces.clear()
                waiting += data
                while b"\r\n\r\n" in waiting:
                    head, _, waiting = waiting.partition(b"\r\n\r\n")
                    if not await self._answer(peer, head.split(b" ", 2)[1].rpartition(b"/")[2]):
                        return
        except (ConnectionError, trio.ClosedResourceError):
            pass  # whoever asked has gone, or we have closed it
        finally:
            self._open.discard(transport)
            transport.close()

    async def _answer(self, peer: Recorder, how: bytes) -> bool:
        """Whether the connection goes on."""
        if how == b"stats":
            body = json.dumps(self.counted).encode()
            await peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
            for transport in list(self._open):
                transport.close()
            return False
        self.counted[how.decode()] += 1
        await peer.send(ANSWERS[how])
        if how == b"rst":
            peer.transport.rst()
        return how not in (b"fin", b"rst")


async def main() -> None:
    """Until the process is ended."""
    async with listening(Counting().serve) as port:
        print(port, flush=True)
        await trio.sleep_forever()


if __name__ == "__main__":
    sys.exit(trio.run(main))
