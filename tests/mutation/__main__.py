"""Do the tests bite? `python -m tests.mutation` writes small mistakes into the packages below, one at a time, runs the
tests that go through the line, and lists the mistakes that no test sees.

First it runs the tests under coverage, to know which test goes through which line (`--map` keeps that). Of each package
`--sample` mutants are drawn by `--seed`, from one function after the other until there are enough.
"""

import argparse
import ast
import random
import sys
import time
from collections import defaultdict
from pathlib import Path

from tests.mutation.explained import EXPLAINED
from tests.mutation.mapping import Map
from tests.mutation.mutants import Mutant, mutants
from tests.mutation.running import run

ROOT = Path(__file__).parents[2]
HOUSE = ROOT / "chaosproxy"
PACKAGES = {
    "model": ["model"],
    "framing": ["framing"],
    "chain": ["chain"],
    "http1": ["http1/chunked.py", "http1/body.py", "http1/encoder.py"],
    "http2": [
        "http2/frames.py",
        "http2/cutter.py",
        "http2/receiving.py",
        "http2/sending.py",
        "http2/output.py",
        "http2/windows.py",
    ],
}
"""The body codecs stand for the two protocols."""


def files_of(package: str) -> list[Path]:
    found = [HOUSE / name for name in PACKAGES[package]]
    return [file for name in found for file in ([name] if name.suffix else sorted(name.glob("*.py")))]


def sample(package: str, seed: int, size: int) -> list[tuple[Path, ast.Module, Mutant]]:
    """One mutant of each function in turn, in an order drawn by the seed: another function does not change it."""
    functions: dict[str, list[tuple[Path, ast.Module, Mutant]]] = defaultdict(list)
    for path in files_of(package):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for mutant in mutants(tree):
            functions[f"{path.relative_to(HOUSE)} {mutant.function}"].append((path, tree, mutant))
    order = sorted(functions, key=lambda name: random.Random(f"{seed}:{name}").random())
    for name, of_one in functions.items():
        random.Random(f"{seed}:{name}").shuffle(of_one)
    drawn: list[tuple[Path, ast.Module, Mutant]] = []
    while len(drawn) < size and any(functions.values()):
        drawn.extend(functions[name].pop() for name in order if functions[name])
    return drawn[:size]


def judge(package: str, seed: int, size: int, tests: Map) -> tuple[int, int, int]:
    """How many mutants there were, how many were killed, and how many of the others are explained."""
    killed = explained = 0
    path = files_of(package)[-1]
    unchanged = run(path, ast.parse(path.read_text(encoding="utf-8")), tests.quick(), lambda: None)
    if unchanged.killed:
        sys.exit(f"what has not been changed fails: {unchanged.by}")
    drawn = sample(package, seed, size)
    for path, tree, mutant in drawn:
        began = time.monotonic()
        what = f"{path.relative_to(ROOT)}:{mutant.lines.start} {mutant.function}: {mutant.was}  ->  {mutant.now}"
        reason = EXPLAINED.get((f"{path.relative_to(HOUSE)} {mutant.function}", f"{mutant.was} -> {mutant.now}"))
        if reason:
            explained += 1
            print(f"explained        {what}  [{reason}]", flush=True)
            continue
        concerned = tests.of(path, mutant)
        verdict = run(path, tree, concerned, mutant.apply)
        killed += verdict.killed
        word, why = ("killed", verdict.by) if verdict.killed else ("SURVIVED", f"{len(concerned)} tests")
        print(f"{word:9} {time.monotonic() - began:5.1f} s {what}  [{why}]", flush=True)
    return len(drawn), killed, explained


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help=", ".join(PACKAGES))
    parser.add_argument("--sample", type=int, default=32, help="mutants of each package")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--map", type=Path, help="which test goes through which line: read if it is there, else written"
    )
    given = parser.parse_args()
    if unknown := set(given.packages) - set(PACKAGES):
        parser.error(f"not a package with mutants: {', '.join(sorted(unknown))}")
    tests = Map.read(given.map) if given.map and given.map.exists() else Map.measure(given.map)
    print(f"{len(tests.seconds)} tests, {sum(tests.seconds.values()):.0f} s; seed {given.seed}", flush=True)
    unexplained = 0
    figures = {package: judge(package, given.seed, given.sample, tests) for package in given.packages or PACKAGES}
    for package, (made, killed, explained) in figures.items():
        print(
            f"{package:8} {made:4} mutants, {killed:4} killed, {explained:3} explained, {made - killed - explained} not"
        )
        unexplained += made - killed - explained
    sys.exit(unexplained > 0)


if __name__ == "__main__":
    main()
