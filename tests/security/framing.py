"""`python -m tests.security.framing`: what takes longer than a test may. Every odd request cut at every place, through the
whole proxy; mutations of them; ten thousand second answers. Writes their rows; exit status 1 where anything is not as it must be."""

import sys
import time

import trio
from trio.testing import MockClock

from tests.security.corpus import REFUSED
from tests.security.oracle import compared, compared_mutated
from tests.security.poisoning import poisoned
from tests.security.rows import Row, keep
from tests.security.served import SERVED

ROUNDS = 10_000
MUTATED = 20_000
BY = "python -m tests.security.framing"


def main() -> int:
    began = time.monotonic()
    tried, found, _ = trio.run(compared, (*REFUSED, *SERVED), None, clock=MockClock(autojump_threshold=0))
    cuts = Row(
        name="all odd requests over HTTP/1.1, cut at every place and byte by byte",
        tried=tried,
        must="the origin is asked the same requests as are journalled, and nothing behind a refused one",
        happens=f"{len(found)} differences over HTTP/1.1 and HTTP/2",
        figure=f"{time.monotonic() - began:.0f} s",
        by=BY,
    )
    began = time.monotonic()
    got = trio.run(poisoned, ROUNDS, 2, clock=MockClock(autojump_threshold=0))
    rounds = Row(
        name="an upstream that answers one client twice, ten thousand times",
        tried=ROUNDS,
        must="the next client gets its own answer",
        happens=f"{len(got)} got another's, or none",
        figure=f"{time.monotonic() - began:.0f} s",
        by=BY,
    )
    began = time.monotonic()
    apart = trio.run(compared_mutated, 1, MUTATED, clock=MockClock(autojump_threshold=0))
    mutations = Row(
        name="odd requests over HTTP/1.1 spliced, with bits flipped and marks put in, tens of thousands",
        tried=2 * MUTATED,
        must="the origin is asked whole what is journalled as served, and nothing else",
        happens=f"{len(apart)} differences over HTTP/1.1 and HTTP/2",
        figure=f"{time.monotonic() - began:.0f} s",
        by=BY,
    )
    for row in (cuts, mutations, rounds):
        print(f"{row.name}: {row.tried} tried, {row.happens}, {row.figure}")
        keep("framing", row)
    print("\n".join([*found, *apart, *got][:40]), file=sys.stderr)
    return int(bool(found or apart or got))


if __name__ == "__main__":
    sys.exit(main())
