"""`python -m tests.security.attack`: each attack over real sockets, beside twenty honest streams of twenty events a second.

The proxy and the attacker are processes of their own. Each row has how late the honest events are with and without the
attacker, what the proxy's memory grows by and what of that stays, and after how long the attacker is cut, or answered.
`--keep` writes the rows of the page.
"""

import argparse
import dataclasses
import subprocess
import sys
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import trio

from chaosproxy.testing.listening import listening
from tests.security.beside import HONEST, Bench, Origin, ask_on, streaming
from tests.security.flooding import BLOCKS, CHEAP, CLIENTS, STREAMS, UPSTREAMS
from tests.security.flooding_h1 import H1
from tests.security.measured import AS_IT_MUST, CUT, STAYS, TRIES, Measured, row
from tests.security.one_connection import many_streams
from tests.security.rows import Row, keep
from tests.soak import process
from tests.soak.process import Running

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
Report = Callable[[Measured], None]
Start = Callable[[], subprocess.Popen[bytes]]


@contextmanager
def proxy(*upstreams: str) -> Iterator[Running]:
    first, *others = upstreams
    with process.proxy(first, None, *[word for one in others for word in ("--upstream", one)]) as running:
        yield running


def attacker(side: str, name: str, port: int, seconds: float) -> subprocess.Popen[bytes]:
    words = [side, name, "--port", str(port), "--seconds", str(seconds)]
    return subprocess.Popen([sys.executable, "-m", "tests.security.attacker", *words], stdout=subprocess.PIPE)


async def measured(
    name: str, bench: Bench, seconds: float, start: Start, again: Start, wanted: Collection[int]
) -> Measured:
    """Some time without the attacker, some with it, and once more where much of it stays."""
    await trio.sleep(seconds)
    without = bench.honest.p99()
    cost = await bench.cost(start())
    second = (await bench.cost(again())).left if cost.left > STAYS else None
    return Measured(name, without, cost, bench.honest.lost, wanted, second)


async def by_clients(names: Sequence[str], seconds: float, report: Report, *, side: str = "client") -> None:
    """One after another, on one proxy."""
    origin = Origin()
    async with listening(origin.serve) as port:
        with proxy(f"http://127.0.0.1:{port}") as running:

            async def once(name: str) -> Measured:
                start = partial(attacker, side, name, running.port, seconds)
                async with streaming(running) as honest:
                    bench = Bench(running, origin, honest)
                    wanted = {H1[name].status} if side == "h1" else CUT
                    return await measured(name, bench, seconds, start, start, wanted)

            for name in names:
                report(await best(once, name))


async def by_upstreams(names: Sequence[str], seconds: float, report: Report) -> None:
    """Twenty upstreams that are honest, one for each stream, and one that attacks whenever its turn comes."""

    async def once(name: str) -> Measured:
        first = attacker("upstream", name, 0, 2 * seconds + 5)
        assert first.stdout is not None
        attacks_at, origin = int(first.stdout.readline()), Origin()
        async with listening(origin.serve) as port:
            with proxy(*[f"http://127.0.0.1:{port}"] * HONEST, f"h2c://127.0.0.1:{attacks_at}") as running:
                async with streaming(running) as honest:
                    bench = Bench(running, origin, honest, ask_on)
                    again = partial(attacker, "upstream", name, attacks_at, seconds)
                    return await measured(name, bench, seconds, lambda: first, again, CUT)

    for name in names:
        report(await best(once, name))


async def best(once: Callable[[str], Awaitable[Measured]], name: str) -> Measured:
    """A neighbour on the machine delays everybody: where events were late, and nothing else was wrong, it is tried again."""
    for runs in range(1, TRIES + 1):
        one = dataclasses.replace(await once(name), runs=runs)
        if not one.only_late:
            break
    return one


BY_GOAWAY = "cut by ENHANCE_YOUR_CALM"
KINDS = (
    ("a client opens streams to throw them away", [*STREAMS], by_clients, BY_GOAWAY),
    ("a client's header blocks that unfold, or never end", [*BLOCKS], by_clients, BY_GOAWAY),
    ("a client's frames that ask for nothing", [*CHEAP], by_clients, BY_GOAWAY),
    ("an upstream that attacks", [*BY_UPSTREAMS], by_upstreams, BY_GOAWAY),
    (
        "a client of HTTP/1.1: " + ", ".join(H1),
        [*H1],
        partial(by_clients, side="h1"),
        "each answered, those that are refused with 400",
    ),
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

    for title, attacks, made, ends in KINDS:
        found: list[Measured] = []

        def report(one: Measured, found: list[Measured] = found) -> None:
            found.append(one)
            print(f"  {one}", flush=True)

        chosen = [name for name in attacks if not names or name in names]
        if not chosen:
            continue
        await made(chosen, seconds, report)
        if len(found) == len(attacks):
            keeps(row(title, found, ends, seconds))
        good = good and not any(one.wrong for one in found)
    if streams:
        async with listening(Origin().serve) as origin:
            with proxy(f"http://127.0.0.1:{origin}") as running:
                figure = await many_streams(running.port, streams, lambda: running.resident / 1024)
        keeps(figure)
    return good


def main() -> int:
    """All of them, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    known = [*CLIENTS, *UPSTREAMS, *H1]
    parser.add_argument("names", nargs="*", choices=[[], "H1", *known], metavar="NAME", help="H1: all of HTTP/1.1")
    parser.add_argument("--seconds", type=float, default=5, help="of each attack")
    parser.add_argument("--streams", type=int, default=100_000, help="on one connection; 0: none")
    parser.add_argument("--keep", action="store_true", help="write the rows of docs/security/attacks.json")
    chosen = parser.parse_args()
    names = [*chosen.names, *(H1 if "H1" in chosen.names else ())]
    return 0 if trio.run(partial(run, names, chosen.seconds, chosen.streams, kept=chosen.keep)) else 1


if __name__ == "__main__":
    sys.exit(main())
