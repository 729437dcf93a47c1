"""`python -m tests.simulation`: thousands of worlds, each against the invariants; the seeds that failed, and what was wrong.

`--seeds 0:5000` lives through each of these once (`--twice`: and once more, which must be the same); `--seed 17` shows
that one world, with its journal.
"""

import argparse
import contextlib
import faulthandler
import json
import os
import pprint
import signal
import sys
import time
from collections.abc import Iterator

from tests.simulation.checks import problems
from tests.simulation.run import run
from tests.simulation.world import world

STUCK = 60
"""Seconds of real time that a world may take: time in it costs none, unless something turns in a circle."""


@contextlib.contextmanager
def _watched(seed: int) -> Iterator[None]:
    def stuck(*_: object) -> None:
        print(f"seed {seed}: after {STUCK} s still not over", flush=True)
        faulthandler.dump_traceback()
        os._exit(1)

    signal.signal(signal.SIGALRM, stuck)
    signal.alarm(STUCK)
    yield
    signal.alarm(0)


def judged(seed: int, *, twice: bool) -> tuple[list[str], int]:
    """What is wrong with that world, and how many exchanges there were."""
    with _watched(seed):
        drawn = world(seed)
        ran = run(drawn)
        found = problems(drawn, ran)
        if twice and run(drawn).trace() != ran.trace():
            found.append("not the same again")
    return found, ran.begun


def show(seed: int) -> int:
    """One world by itself."""
    drawn = world(seed)
    pprint.pp(drawn, width=160)
    ran = run(drawn)
    for record in ran.records:
        print(json.dumps(record.as_json()))
    for side, wire in ran.seen.wires:
        print(side, wire.ending, wire.ended_at)
        for piece in wire.pieces:
            print("   ", piece)
    print(ran.before, ran.after, sep="\n")
    found, _ = judged(seed, twice=True)
    print(*found or ["nothing is wrong"], sep="\n")
    return bool(found)


def main() -> int:
    """1 if anything was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", default="0:5000", help="from:to, the second one excluded")
    parser.add_argument("--seed", type=int, help="only this one, shown")
    parser.add_argument("--twice", action="store_true", help="each twice: the same bytes, times and journal")
    given = parser.parse_args()
    if given.seed is not None:
        return show(given.seed)
    first, _, last = given.seeds.partition(":")
    began, exchanges, failed = time.monotonic(), 0, 0
    for seed in range(int(first), int(last)):
        try:
            found, count = judged(seed, twice=given.twice)
        except Exception as error:  # noqa: BLE001 - a world that ends like this has a seed too
            found, count = [f"{type(error).__name__}: {error}"], 0
        exchanges += count
        if found:
            failed += 1
            print(f"seed {seed}:", *found, sep="\n    ", flush=True)
    print(f"{exchanges} exchanges, {failed} seeds failed, {time.monotonic() - began:.1f} s")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
