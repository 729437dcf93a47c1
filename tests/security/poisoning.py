"""An upstream that answers one client twice, a pool of one connection, and a client whom the second answer is meant for.

Whatever of a second answer has come when the next request goes out must be seen. What comes later is that request's
answer: HTTP/1 has no numbers, and nobody could tell. Must not know: pytest.
"""

import random
from dataclasses import dataclass, field

import trio
from trio.testing import wait_all_tasks_blocked

from chaosproxy.testing.peers import RawClient
from chaosproxy.testing.proxied import Linked, linked
from chaosproxy.testing.recorder import Recorder
from chaosproxy.wire.transport import Transport
from tests.security.strict import Asked, StrictReader

SCENARIO = {"version": 1, "upstream": {"max_connections": 1}}
MARK = b"EVIL"
LATE = 0.001


def answer(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


SECONDS = (
    answer(MARK),
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nEVIL\r\n0\r\n\r\n",
    b"HTTP/1.1 103 Early Hints\r\nX: EVIL\r\n\r\n",
    b"EVIL",
    b"\r\n",
)
HOW = ("one write", "two writes", "late", "with the next request", "split", "split, the rest late")
"""In which pieces, and when, the second answer comes."""


@dataclass
class TwoFaced:
    """Answers with the target; to what is asked under /twice a second time."""

    how: str = ""
    second: bytes = b""
    cut: int = 0
    spoken: list[Transport] = field(default_factory=list)

    async def serve(self, transport: Transport) -> None:
        recorder, reader = Recorder(transport), StrictReader()
        try:
            while data := await recorder.read():
                for asked in reader.feed(data):
                    await self._answer(recorder, asked)
        except ConnectionError:
            pass
        finally:
            transport.close()

    async def _answer(self, recorder: Recorder, asked: Asked) -> None:
        first = answer(asked.target)
        if not asked.target.startswith(b"/twice"):
            await recorder.send(first)
            return
        second, cut = self.second, self.cut
        match self.how:
            case "one write":
                await recorder.send(first + second)
            case "two writes":
                await recorder.send(first)
                await recorder.send(second)
            case "split":
                await recorder.send(first + second[:cut])
                await recorder.send(second[cut:])
            case "split, the rest late":
                await recorder.send(first + second[: cut + 1])
                await trio.sleep(LATE)
                await recorder.send(second[cut + 1 :])
            case "late":
                await recorder.send(first)
                await trio.sleep(LATE)
                await recorder.send(second)
            case _:
                await recorder.send(first)
                self.spoken = [recorder.transport]

    def speak(self) -> None:
        """The second answer, at this moment."""
        for transport in self.spoken:
            transport.send(self.second)
        self.spoken.clear()


async def poisoned(rounds: int, seed: int = 1) -> list[str]:
    """So many rounds: in which of them the second client was told what was not for it, or got no answer."""
    upstream, found, drawn = TwoFaced(), [], random.Random(seed)
    async with linked(SCENARIO, upstream.serve, seed=seed) as proxied:
        for number in range(rounds):
            upstream.how, upstream.second = HOW[number % len(HOW)], SECONDS[number % len(SECONDS)]
            upstream.cut = drawn.randrange(len(upstream.second))
            waits = upstream.how in ("one write", "two writes", "split") and drawn.random() < 0.5
            got = await _round(proxied, upstream, number, waits=waits)
            if got != answer(b"/mine/%d" % number):
                found.append(f"{upstream.how}, {upstream.second!r} at {upstream.cut}: {got!r}")
    return found


async def _round(proxied: Linked, upstream: TwoFaced, number: int, *, waits: bool) -> bytes:
    """What the second client receives; it asks while the first is being answered, if it `waits`, else when that is over."""
    one, other = RawClient(proxied.connect()), RawClient(proxied.connect())
    mine = b"GET /mine/%d HTTP/1.1\r\nHost: a\r\n\r\n" % number
    await one.send(b"GET /twice/%d HTTP/1.1\r\nHost: a\r\n\r\n" % number)
    if waits:
        await other.send(mine)
    await one.read_until(b"/twice/%d" % number)
    if not waits:
        if upstream.how == "late":
            await trio.sleep(2 * LATE)
        upstream.speak()
        await other.send(mine)
    await other.read_until(b"\r\n\r\n")
    await wait_all_tasks_blocked()
    while (data := other.transport.recv(1 << 16)) is not None and data:
        other.pieces.append((0.0, data))
    one.transport.close()
    other.transport.close()
    return other.received
