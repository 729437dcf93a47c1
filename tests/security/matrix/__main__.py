"""`python -m tests.security.matrix`: every cell, in virtual time; which of them are not as they must be, and why.

`--only TEXT` those whose name has it, shown; `--seeds N` each in so many orders of its tasks; `--sockets` what can be done
with processes, signals and real connections, whose rows are written (`--keep`).
"""

import argparse
import pprint
import sys
import time

from tests.security.matrix.cell import CELLS, live
from tests.security.matrix.judge import problems


def virtual(only: str, seeds: int) -> int:
    """How many cells are wrong."""
    began, wrong, count = time.monotonic(), 0, 0
    for cell in CELLS:
        if only not in cell.name:
            continue
        for seed in range(1, seeds + 1):
            count += 1
            try:
                lived = live(cell, seed)
                found = list(problems(lived))
            except Exception as error:  # noqa: BLE001 - a cell that ends like this is wrong, too
                lived, found = None, [f"{type(error).__name__}: {error}"]
            if found:
                wrong += 1
                print(f"{cell.name} ({seed}):", *found, sep="\n    ", flush=True)
                if only and lived is not None:
                    pprint.pp(lived, width=160)
    print(f"{count} cells, {wrong} wrong, {time.monotonic() - began:.1f} s")
    return wrong


def main() -> int:
    """1 if anything was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.security.matrix", description=__doc__)
    parser.add_argument("--only", default="", help="part of a cell's name")
    parser.add_argument("--seeds", type=int, default=1, help="orders of tasks")
    parser.add_argument("--sockets", action="store_true", help="on loopback")
    parser.add_argument("--keep", action="store_true", help="write the rows of what was tried on loopback")
    given = parser.parse_args()
    if given.sockets:
        from tests.security.matrix.sockets import sockets  # noqa: PLC0415 - it starts programs

        return bool(sockets(given.only, keeps=given.keep))
    return bool(virtual(given.only, given.seeds))


if __name__ == "__main__":
    sys.exit(main())
