"""`python -m tests.soak`: exchanges of all kinds over real sockets, the proxy, the origin and the clients in processes of their
own, and what the proxy holds meanwhile. A million takes some twelve minutes of two processors.

`--exchanges 100000`, or as many as `--seconds` allow. It writes its row of `docs/security/held.json` (`--dry`: only shows it),
and its exit status is 1 where something has grown or two counts differ.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import trio

from chaosproxy.testing.peers import RawClient
from chaosproxy.wire import dial
from tests.security.rows import Row, keep
from tests.soak import process
from tests.soak.mix import SCENARIO, Mix

WORKERS = 16
TENTHS = 10
TICK = 0.1
IDLE = 5.0
GROWN = 8 * 1024
"""KiB from the first tenth to the end."""
PLAIN = b"GET /none/plain HTTP/1.1\r\nhost: x\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Sample:
    """What the proxy holds."""

    done: int
    seconds: float
    resident: int
    descriptors: int
    threads: int
    half_closed: int


@dataclass(slots=True)
class Soak:
    """One run."""

    running: process.Running
    mix: Mix
    began: float = field(default_factory=time.monotonic)
    samples: list[Sample] = field(default_factory=list)
    ticks: list[tuple[float, float]] = field(default_factory=list)
    """When, and how long a short request took on a connection that is kept."""

    def look(self) -> Sample:
        one = self.running
        found = Sample(
            self.mix.total,
            time.monotonic() - self.began,
            one.resident,
            one.descriptors,
            one.threads,
            one.half_closed,
        )
        self.samples.append(found)
        row = (found.done, round(found.seconds), found.resident, found.descriptors, found.threads, found.half_closed)
        print(("{:>12,}" + "{:>12}" * 5).format(*row), flush=True)
        return found

    async def settled(self, wanted: int) -> Sample:
        """Behind some seconds of nothing."""
        await trio.sleep(IDLE)
        with trio.move_on_after(30):
            while self.running.descriptors > wanted:
                await trio.sleep(0.1)
        return self.look()

    async def tick(self) -> None:
        """What the others' work costs one who asks for little."""
        async with await RawClient.connect("127.0.0.1", self.running.port) as client:
            while True:
                began = time.monotonic()
                client.pieces.clear()
                self.mix.asked["ticks"] += 1
                await client.send(PLAIN)
                await client.read_until(b"." * 20)
                self.ticks.append((began - self.began, time.monotonic() - began))
                await trio.sleep(TICK)

    async def run(self, exchanges: int, seconds: float) -> None:
        print(
            "{:>12}{:>12}{:>12}{:>12}{:>12}{:>12}".format("exchanges", "seconds", "KiB", "fds", "threads", "CLOSE_WAIT")
        )
        self.look()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.tick)
            began = trio.current_time()
            for tenth in range(1, TENTHS + 1):
                more = exchanges * tenth // TENTHS - self.mix.total
                await self.mix.run(more, WORKERS, began + seconds * tenth / TENTHS)
                self.look()
            nursery.cancel_scope.cancel()

    def lag(self, first: float, last: float) -> float:
        """The 99th of a hundred ticks in that part of the time."""
        end = self.samples[-2].seconds  # behind the last there was nothing to do
        took = sorted(took for when, took in self.ticks if first * end <= when <= last * end)
        return took[int(0.99 * len(took))] if took else 0.0

    def slope(self) -> float:
        """KiB that a thousand exchanges add, by least squares over the second half."""
        half = [one for one in self.samples if one.done >= self.samples[-1].done / 2]
        number = len(half)
        middle = sum(one.done for one in half) / number
        level = sum(one.resident for one in half) / number
        spread = sum((one.done - middle) ** 2 for one in half)
        return 1000 * sum((one.done - middle) * (one.resident - level) for one in half) / spread if spread else 0.0


def journalled(file: Path) -> tuple[int, int]:
    """Lines, and how often they say that an upstream was asked."""
    lines = asked = 0
    with file.open("rb") as journal:
        for line in journal:
            upstream = json.loads(line)["upstream"]
            lines += 1
            asked += upstream["connection"] is not None and 1 + upstream.get("retries", 0)
    return lines, asked


async def stats(port: int) -> Counter[str]:
    """What the origin has counted."""
    async with await RawClient.connect("127.0.0.1", port) as client:
        await client.send(b"GET /stats HTTP/1.1\r\nhost: x\r\n\r\n")
        await client.read_until(b"}")
        return Counter(json.loads(client.body))


def problems(soak: Soak, lines: int, asked: int, counted: int) -> list[str]:
    """What is not as it should be."""
    start, warm, end = soak.samples[0], soak.samples[1], soak.samples[-1]
    wrong = {
        f"descriptors {start.descriptors} became {end.descriptors}": end.descriptors != start.descriptors,
        f"threads {start.threads} became {end.threads}": end.threads != start.threads,
        f"{end.half_closed} connections in CLOSE_WAIT": end.half_closed,
        f"{end.resident - warm.resident} KiB more than behind the first tenth": end.resident - warm.resident > GROWN,
        f"{lines} lines for {soak.mix.total} requests": lines != soak.mix.total,
        f"{counted} requests at the origin, {asked} in the journal": counted != asked,
    }
    return [what for what, is_wrong in wrong.items() if is_wrong]


def row(soak: Soak, wrong: list[str]) -> Row:
    """For the page."""
    warm, end = soak.samples[1], soak.samples[-1]
    took = soak.samples[-2].seconds
    return Row(
        name="soak over sockets: clients of all kinds, twelve scenarios, the journal on",
        tried=end.done,
        must="descriptors and threads as at the start; at most 8 MiB more than behind the first tenth; journal = clients = origin",
        happens="; ".join(wrong) or "as it must",
        figure=f"{(end.resident - warm.resident) / 1024:+.1f} MiB, {soak.slope():+.2f} KiB per 1,000 in the second half; "
        f"{end.done / took:,.0f} exchanges a second; a short request beside it, p99: {1000 * soak.lag(0, 0.1):.0f} ms in "
        f"the first tenth, {1000 * soak.lag(0.9, 1):.0f} ms in the last",
        by="make soak",
    )


async def soaked(arguments: argparse.Namespace) -> int:
    """The exit status."""
    with tempfile.TemporaryDirectory() as folder, process.origin("tests.soak.origin") as origin:
        journal = Path(folder) / "journal.jsonl"
        options = ("--journal", str(journal), "--journal-limit", "100")
        with process.proxy(f"http://127.0.0.1:{origin}", SCENARIO, *options) as running:

            async def connect():
                return await dial.connect("127.0.0.1", running.port, None)

            soak = Soak(running, Mix(connect, arguments.seed))
            start = running.descriptors
            await soak.run(arguments.exchanges, arguments.seconds)
            await trio.sleep(IDLE)
            counted = (await stats(origin)).total()
            await soak.settled(start)
        lines, asked = journalled(journal)
    wrong = problems(soak, lines, asked, counted)
    found = row(soak, wrong)
    print(f"\n{found.figure}\n{found.happens}")
    if not arguments.dry:
        keep("held", found)
    return 1 if wrong else 0


def main() -> int:
    """As the arguments say."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--exchanges", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dry", action="store_true")
    return trio.run(soaked, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
