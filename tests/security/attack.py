"""`python -m tests.security.attack`: each attack over real sockets, beside twenty honest streams of twenty events a second.

The proxy and the attacker are processes of their own; the honest clients and their origin are this one, so that one clock
says how late an event is. Each row has how late the honest events are with and without the attacker, what the proxy's
memory grows by, and after how long the attacker is cut. `--keep` writes the rows of the page.
"""

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import trio

from chaosproxy.testing.listening import listening
from chaosproxy.testing.recorder import Recorder
from chaosproxy.wire import dial
from tests.security.flooding import BLOCKS, CHEAP, CLIENTS, STREAMS, UPSTREAMS
from tests.security.measured import AS_IT_MUST, Measured, row
from tests.security.one_connection import many_streams
from tests.security.rows import Row, keep

HONEST, PERIOD, TRIES = 20, 0.05, 4
BY_UPSTREAMS = (
    "interim heads on one stream",
    "pushes",
    "GOAWAY",
    "PING",
    "SETTINGS nobody knows",
    "empty DATA",
    "a block without end",
    "blocks behind a stream's end",
)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENT = re.compile(rb"data: ([0-9]+)\n\n")
ASK = b"GET /%s HTTP/1.1\r\nHost: x\r\n\r\n"


async def serve(transport) -> None:
    """An event each period, which says when it was sent; `/short` is none."""
    peer = Recorder(transport)
    try:
        while asked := await peer.read():
            if b"/short" in asked:
                await peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                continue
            await peer.send(HEAD)
            while True:
                event = b"data: %d\n\n" % time.monotonic_ns()
                await peer.send(b"%x\r\n%s\r\n" % (len(event), event))
                await trio.sleep(PERIOD)
    except ConnectionError:
        pass


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


@dataclass
class Proxy:
    """`chaosproxy run`, by itself."""

    process: subprocess.Popen[bytes]
    port: int

    def memory(self) -> float:
        """MiB that are resident."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@contextmanager
def proxy(*upstreams: str) -> Iterator[Proxy]:
    with tempfile.TemporaryDirectory() as folder:
        ready = Path(folder, "ready")
        command = [
            sys.executable,
            "-m",
            "chaosproxy",
            "run",
            "-q",
            "--listen",
            "127.0.0.1:0",
            "--ready-file",
            str(ready),
        ]
        for upstream in upstreams:
            command += ["--upstream", upstream]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            until = time.monotonic() + 30
            while not (ready.exists() and ready.read_text()):
                if process.poll() is not None or time.monotonic() > until:
                    raise RuntimeError("the proxy does not start")
                time.sleep(0.05)
            yield Proxy(process, int(json.loads(ready.read_text())["url"].rpartition(":")[2]))
        finally:
            process.terminate()
            process.wait()


def attacker(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "tests.security.attacker", *arguments], stdout=subprocess.PIPE)


Report = Callable[[Measured], None]


async def observed(running: Proxy, honest: Honest, process: subprocess.Popen[bytes]) -> tuple[float, float, dict]:
    """While an attacker runs: how late, how much more memory, and what it has to say."""
    before = most = running.memory()
    honest.p99()
    async with trio.open_nursery() as nursery:

        async def look() -> None:
            nonlocal most
            while True:
                most = max(most, running.memory())
                await trio.sleep(0.1)

        nursery.start_soon(look)
        said, _ = await trio.to_thread.run_sync(process.communicate)
        nursery.cancel_scope.cancel()
    return honest.p99(), most - before, json.loads(said.splitlines()[-1])


@asynccontextmanager
async def streaming(running: Proxy) -> AsyncIterator[Honest]:
    """Twenty honest streams."""
    honest = Honest()
    async with trio.open_nursery() as nursery:
        for _ in range(HONEST):
            await nursery.start(honest.one, running.port)
        await trio.sleep(1)
        honest.p99()
        yield honest
        nursery.cancel_scope.cancel()


async def asked(port: int, path: bytes, within: float = 60.0) -> None:
    """One request, whatever its answer."""
    client = Recorder(await dial.connect("127.0.0.1", port, None))
    try:
        with trio.move_on_after(within):
            await client.send(ASK % path)
            await client.read()
    except ConnectionError:
        pass
    finally:
        client.transport.close()


async def by_clients(names: Sequence[str], seconds: float, report: Report) -> None:
    """One after another, on one proxy."""
    async with listening(serve) as origin:
        with proxy(f"http://127.0.0.1:{origin}") as running:

            async def once(name: str) -> Measured:
                async with streaming(running) as honest:
                    await trio.sleep(seconds)
                    without = honest.p99()
                    process = attacker("client", name, "--port", str(running.port), "--seconds", str(seconds))
                    beside, grown, said = await observed(running, honest, process)
                return Measured(name, without, beside, grown, honest.lost, **said)

            for name in names:
                report(await best(once, name))


async def by_upstreams(names: Sequence[str], seconds: float, report: Report) -> None:
    """Twenty upstreams that are honest, one for each stream, and one that attacks whenever its turn comes."""

    async def once(name: str) -> Measured:
        process = attacker("upstream", name, "--seconds", str(2 * seconds + 5))
        assert process.stdout is not None
        attacking = f"h2c://127.0.0.1:{int(process.stdout.readline())}"
        async with listening(serve) as origin:
            with proxy(*[f"http://127.0.0.1:{origin}"] * HONEST, attacking) as running:
                async with streaming(running) as honest:
                    await trio.sleep(seconds)
                    without = honest.p99()
                    async with trio.open_nursery() as nursery:
                        nursery.start_soon(ask_on, running.port)
                        beside, grown, said = await observed(running, honest, process)
                        nursery.cancel_scope.cancel()
        return Measured(name, without, beside, grown, honest.lost, **said)

    for name in names:
        report(await best(once, name))


async def best(once: Callable[[str], Awaitable[Measured]], name: str) -> Measured:
    """A neighbour on the machine delays everybody: what was not as it must is tried again."""
    for _ in range(TRIES):
        one = await once(name)
        if not one.wrong:
            break
    return one


async def ask_on(port: int) -> None:
    """One short request after another."""
    while True:
        await asked(port, b"short")


KINDS = (
    ("a client opens streams to throw them away", [*STREAMS], by_clients),
    ("a client's header blocks that unfold, or never end", [*BLOCKS], by_clients),
    ("a client's frames that ask for nothing", [*CHEAP], by_clients),
    ("an upstream that attacks", [*BY_UPSTREAMS], by_upstreams),
)


async def run(names: Sequence[str], seconds: float, streams: int, *, kept: bool) -> bool:
    """Whether everything was as it must be."""
    good = True

    def keeps(one: Row) -> None:
        nonlocal good
        good = good and one.happens == AS_IT_MUST
        print(f"{one.name}: {one.happens}; {one.figure}", flush=True)
        if kept:
            keep("attacks", one)

    for title, attacks, made in KINDS:
        found: list[Measured] = []

        def report(one: Measured, found: list[Measured] = found) -> None:
            found.append(one)
            print(f"  {one}", flush=True)

        chosen = [name for name in attacks if not names or name in names]
        await made(chosen, seconds, report)
        if len(found) == len(attacks):
            keeps(row(title, found))
        good = good and not any(one.wrong for one in found)
    if streams:
        async with listening(serve) as origin:
            with proxy(f"http://127.0.0.1:{origin}") as running:
                figure = await many_streams(running.port, streams, running.memory)
        keeps(figure)
    return good


def main() -> int:
    """All of them, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *CLIENTS, *UPSTREAMS], metavar="NAME")
    parser.add_argument("--seconds", type=float, default=5, help="of each attack")
    parser.add_argument("--streams", type=int, default=100_000, help="on one connection; 0: none")
    parser.add_argument("--keep", action="store_true", help="write the rows of docs/security/attacks.json")
    chosen = parser.parse_args()
    return 0 if trio.run(lambda: run(chosen.names, chosen.seconds, chosen.streams, kept=chosen.keep)) else 1


if __name__ == "__main__":
    sys.exit(main())
