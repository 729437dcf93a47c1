"""`python -m tests.differential [PROGRAM ...]`: every row of these programs, of all without one, and what disagrees.

`--write` writes `docs/presets.md`, for which all of them are needed; `--all` shows what agrees too. Exit status 1 for a
disagreement that is not known, or a known one that has gone.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import trio

from tests.differential.compare import Comparison
from tests.differential.known import known
from tests.differential.launch import MissingError
from tests.differential.page import PAGE, page
from tests.differential.settings import PEERS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=", ".join(PEERS))
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    peers = [PEERS[name] for name in options.programs or PEERS]
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)  # some programs give up their rights
        comparison = Comparison(peers, [row for peer in peers for row in peer.rows()], known(), Path(place))
        try:
            trio.run(comparison.run)
        except MissingError as error:
            print(error, file=sys.stderr)
            return 2
    results = list(comparison.results.values())
    for one in results:
        if options.all or not one.agrees:
            expected = ": not expected" if comparison.unexpected(one.row) else ""
            print(f"{one.row} | {one.real} | {one.preset} | {'yes' if one.agrees else 'no'}{expected}")
    print(f"{len(results)} rows in {time.monotonic() - began:.0f} s, {sum(one.agrees for one in results)} agree")
    if options.write and not options.programs:
        PAGE.write_text(page(results, comparison.versions, known()), encoding="utf-8")
    return int(any(comparison.unexpected(one.row) for one in results))


if __name__ == "__main__":
    sys.exit(main())
