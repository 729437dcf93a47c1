"""`python -m tests.security.framing`: what takes longer than a test may.

Every odd request and every odd answer cut at every place, through the whole proxy; mutations of requests and answers by the thousand; ten
thousand second answers. Writes their rows; exit status 1 where anything is not as it must be.
"""

import logging
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any

import trio
from trio.testing import MockClock

from tests.security import answering, oracle
from tests.security.corpus import REFUSED
from tests.security.poisoning import poisoned
from tests.security.rows import Row, keep
from tests.security.served import SERVED
from tests.security.telling import KINDS, all_writes, told_of
from tests.security.twins import ALL

ROUNDS = 10_000
REQUESTS, ANSWERS = 20_000, 5000
OWN = "the next client gets its own answer"
SAME = "the origin is asked the same requests as are journalled, and nothing behind a refused one"
TOLD = f"the first answer, what came before it broke, or a 502; {OWN}, over another connection"

Tried = tuple[int, list[str]]


async def every_cut() -> Tried:
    tried, found, _ = await oracle.compared((*REFUSED, *SERVED), None)
    return tried, found


async def every_cut_answer() -> Tried:
    tried, found, again = 0, list[str](), 0
    for kind in KINDS:
        more, wrong, used = await told_of(kind, all_writes)
        tried, found, again = tried + more, found + wrong, again + used
    return tried, [*found, *([f"{again} connections used again"] if again else [])]


async def requests() -> Tried:
    return 2 * REQUESTS, await oracle.compared_mutated(1, REQUESTS)


async def answers() -> Tried:
    return 2 * ANSWERS, await answering.compared_mutated(ALL, 1, ANSWERS)


async def second_answers() -> Tried:
    return ROUNDS, await poisoned(ROUNDS, 2)


RUNS: tuple[tuple[str, str, Callable[[], Coroutine[Any, Any, Tried]]], ...] = (
    ("all odd requests over HTTP/1.1, cut at every place and byte by byte", SAME, every_cut),
    ("all odd answers, cut at every place", TOLD, every_cut_answer),
    ("odd requests spliced, with bits flipped and marks put in, by the thousand", SAME, requests),
    ("odd answers spliced, with bits flipped and marks put in, by the thousand", f"one final answer; {OWN}", answers),
    ("an upstream that answers one client twice, ten thousand times", OWN, second_answers),
)


def main() -> int:
    """`python -m tests.security.framing [WORD]`: all runs, or those with that word in their names."""
    logging.getLogger("chaosproxy").setLevel(logging.ERROR)  # that they break HTTP is known
    status, wanted = 0, " ".join(sys.argv[1:])
    for name, must, run in RUNS:
        if wanted not in name:
            continue
        began = time.monotonic()
        tried, found = trio.run(run, clock=MockClock(autojump_threshold=0))
        took = f"{time.monotonic() - began:.0f} s"
        row = Row(
            name=name,
            tried=tried,
            must=must,
            happens=f"{len(found)} differences",
            figure=took,
            by="python -m tests.security.framing",
        )
        keep("framing", row)
        print(f"{name}: {tried} tried, {row.happens}, {took}")
        print("\n".join(found[:20]), file=sys.stderr)
        status |= bool(found)
    return status


if __name__ == "__main__":
    sys.exit(main())
