"""`python -m tests.security.framing`: what takes longer than a test may. Every odd request cut at every place, through the
whole proxy; ten thousand second answers. Writes their rows; exit status 1 where anything is not as it must be."""

import sys
import time

import trio
from trio.testing import MockClock

from tests.security.corpus import REFUSED
from tests.security.oracle import compared
from tests.security.poisoning import poisoned
from tests.security.rows import Row, keep
from tests.security.served import SERVED

ROUNDS = 10_000
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
    for row in (cuts, rounds):
        print(f"{row.name}: {row.tried} tried, {row.happens}, {row.figure}")
        keep("framing", row)
    print("\n".join([*found, *got][:40]), file=sys.stderr)
    return int(bool(found or got))


if __name__ == "__main__":
    sys.exit(main())
