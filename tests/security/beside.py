"""Twenty honest streams of twenty events a second through a proxy that is a process of its own, and what an attacker beside
them costs: how late their events are, and what the proxy holds meanwhile and afterwards.

The honest clients and their origin are this process, so that one clock says how late an event is. Must not know: what an
attacker does.
"""

import json
import math
import re
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import trio

from chaosproxy.testing.recorder import Recorder
from chaosproxy.wire import dial
from tests.soak.process import Running

HONEST, PERIOD = 20, 0.05
SETTLED = 15.0
"""Seconds that the proxy has to let go of what an attacker has left: an idle thread of Trio's waits ten for more to do."""
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
LAST = b"0\r\n\r\n"
EVENT = re.compile(rb"data: ([0-9]+)\n\n")
ASK = b"GET /%s HTTP/1.1\r\nHost: x\r\n\r\n"


class Origin:
    """An event each period, which says when it was sent; `/short` is none, and `/upload` has its answer behind its body."""

    def __init__(self) -> None:
        self.open = 0
        """Connections of the proxy, which keeps those that are idle."""

    async def serve(self, transport) -> None:
        peer, uploading, end = Recorder(transport), False, b""
        self.open += 1
        try:
            while asked := await peer.read():
                peer.pieces.clear()
                uploading, end = uploading or b"/upload" in asked, (end + asked)[-len(LAST) :]
                if b"/short" in asked or (uploading and end == LAST):
                    uploading = False
                    await peer.send(ANSWER)
                elif not uploading:
                    await _stream(peer)
        except ConnectionError:
            pass
        finally:
            self.open -= 1


async def _stream(peer: Recorder) -> None:
    await peer.send(HEAD)
    while True:
        event = b"data: %d\n\n" % time.monotonic_ns()
        await peer.send(b"%x\r\n%s\r\n" % (len(event), event))
        await trio.sleep(PERIOD)


class Honest:
    """Twenty clients: how late their events are."""

    def __init__(self) -> None:
        self.late: list[float] = []
        self.lost = 0

    async def one(self, port: int, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        client = Recorder(await dial.connect("127.0.0.1", port, None))
        try:
            await client.send(ASK % b"stream")
            begun, read = False, b""
            while data := await client.read():
                client.pieces.clear()
                now, read, end = time.monotonic_ns(), read + data, 0
                for found in EVENT.finditer(read):
                    self.late.append((now - int(found[1])) / 1e9)
                    end = found.end()
                read = read[end:]
                if end and not begun:
                    begun = True
                    task_status.started()
            self.lost += 1
        finally:
            client.transport.close()

    def p99(self) -> float:
        """Of what has come since it was last asked."""
        late, self.late = sorted(self.late), []
        return late[math.ceil(0.99 * len(late)) - 1] if late else math.inf


@asynccontextmanager
async def streaming(running: Running) -> AsyncIterator[Honest]:
    """Twenty honest streams."""
    honest = Honest()
    async with trio.open_nursery() as nursery:
        for _ in range(HONEST):
            await nursery.start(honest.one, running.port)
        await trio.sleep(1)
        honest.p99()
        yield honest
        nursery.cancel_scope.cancel()


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one attacker. MiB, as they are resident."""

    beside: float
    """Seconds within which 99 of 100 honest events came."""
    grown: float
    left: float
    """What is more when it is gone than before it came."""
    descriptors: int
    threads: int
    """More than before, once the proxy has had the time to let go of them."""
    said: dict
    """By the attacker."""


@dataclass(frozen=True, slots=True)
class Bench:
    """A proxy, the honest, and what else is asked while an attacker is there."""

    running: Running
    origin: Origin
    honest: Honest
    meanwhile: Callable[[int], Awaitable[None]] | None = None
    """Told the proxy's port."""

    def memory(self) -> float:
        return self.running.resident / 1024

    def held(self) -> tuple[int, int]:
        """Descriptors and threads. A connection that it keeps to an honest origin is no attacker's."""
        return self.running.descriptors - self.origin.open, self.running.threads

    async def cost(self, attacker: subprocess.Popen[bytes]) -> Cost:
        """Until the attacker has ended by itself, and a little longer."""
        before, held = self.memory(), self.held()
        most = before
        self.honest.p99()
        async with trio.open_nursery() as nursery:

            async def look() -> None:
                nonlocal most
                while True:
                    most = max(most, self.memory())
                    await trio.sleep(0.1)

            nursery.start_soon(look)
            if self.meanwhile is not None:
                nursery.start_soon(self.meanwhile, self.running.port)
            out, _ = await trio.to_thread.run_sync(attacker.communicate)
            nursery.cancel_scope.cancel()
        beside = self.honest.p99()
        with trio.move_on_after(SETTLED):
            while self.held() != held:
                await trio.sleep(0.1)
        descriptors, threads = (now - then for now, then in zip(self.held(), held, strict=True))
        said = json.loads(out.splitlines()[-1])
        return Cost(beside, most - before, self.memory() - before, descriptors, threads, said)


async def ask_on(port: int) -> None:
    """One short request after another, whatever the answers."""
    while True:
        client = Recorder(await dial.connect("127.0.0.1", port, None))
        try:
            with trio.move_on_after(60):
                await client.send(ASK % b"short")
                await client.read()
        except ConnectionError:
            pass
        finally:
            client.transport.close()
