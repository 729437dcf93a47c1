"""`python -m benchmarks`: visits every row of every scene in every round, prints tables and targets, writes JSON."""

import argparse
import dataclasses
import json
import os
import platform
import sys
import time
from pathlib import Path

from benchmarks import peers, report, scenes, targets
from benchmarks.cpu import processors
from benchmarks.programs import settle
from benchmarks.scene import Measure, Seen, play


def progress(text: str) -> None:
    """Say what is being done, to whoever is watching."""
    if sys.stderr.isatty():
        print(f"\r{text:<100}\r", end="", file=sys.stderr, flush=True)


def measure(given: Measure, wanted: list[str], names: list[str]) -> dict[str, object]:
    """All rounds of the wanted scenes; prints a table for each when it is done, and the targets behind the last."""
    cpus, other_cpus = processors()
    settle(other_cpus)  # what is done here is no proxy's business
    rounds: dict[str, dict[str, list[Seen]]] = {}
    absent: dict[str, dict[str, str]] = {}
    titles: dict[str, str] = {}
    took: dict[str, float] = {}
    began = last = time.monotonic()
    with peers.running(cpus, other_cpus) as pool:
        for name in wanted:
            with scenes.ALL[name](pool, given, names) as scene:
                rounds[name], failed = play(scene, given.rounds, progress)
            absent[name], titles[name] = scene.absent | failed, scene.title
            took[name], last = round(time.monotonic() - last, 1), time.monotonic()
            progress("")
            print(report.table(scene.title, name, report.summary(rounds)[name], absent[name]), end="\n\n", flush=True)
    summary = report.summary(rounds)
    verdicts = targets.judged(summary, set(wanted))
    print(targets.table(verdicts), f"took {time.monotonic() - began:.0f} s", sep="\n\n")
    return {
        "machine": {
            "processors": os.cpu_count(),
            "load": os.getloadavg(),
            "python": platform.python_version(),
            "kernel": platform.release(),
            "peers": {name: version for name in names if (version := peers.version(name))},
        },
        "asked": dataclasses.asdict(given),
        "took_seconds": time.monotonic() - began,
        "took_seconds_each": took,
        "titles": titles,
        "absent": absent,
        "targets": verdicts,
        "summary": summary,
        "rounds": rounds,
    }


def arguments() -> argparse.Namespace:
    """The command line, with the defaults that follow from it."""
    every = [*peers.ALL, *scenes.ALL]
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="What the proxy costs, beside others.")
    parser.add_argument("--quick", action="store_true", help="one short round: a look, not a measurement")
    parser.add_argument("--rounds", type=int, help="default 5")
    parser.add_argument("--streams", type=int, help="default 100")
    parser.add_argument("--rate", type=float, default=20.0, help="events a second and stream")
    parser.add_argument("--seconds", type=float, help="of each visit, default 2")
    parser.add_argument("--megabytes", type=int, help="of each bulk visit, in MiB, default 256")
    parser.add_argument(
        "--only",
        action="append",
        choices=every,
        metavar="NAME",
        default=[],
        help=f"a scene or a peer, may be repeated; default all: {', '.join(every)}",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every number there")
    given = parser.parse_args()
    given.rounds = given.rounds or (1 if given.quick else 5)
    given.streams = given.streams or (10 if given.quick else 100)
    given.seconds = given.seconds or (0.15 if given.quick else 2.0)
    given.megabytes = given.megabytes or (4 if given.quick else 256)
    return given


def main() -> int:
    """Exit status 0 when everything that is there was measured, 1 when chaosproxy was not."""
    given = arguments()
    amounts = Measure(
        given.rounds,
        given.seconds,
        0.02 if given.quick else 0.5,
        given.streams,
        given.rate,
        given.megabytes,
        given.quick,
    )
    wanted = [name for name in scenes.ALL if name in given.only] or list(scenes.ALL)
    names = [name for name in peers.ALL if name in given.only] or list(peers.ALL)
    result = measure(amounts, wanted, names)
    if given.json:
        given.json.write_text(json.dumps(result, indent=1) + "\n")
    summary, absent = result["summary"], result["absent"]
    assert isinstance(summary, dict)
    assert isinstance(absent, dict)
    missing = [name for name in wanted if not summary[name] or scenes.PROXY in absent[name]]
    return 1 if missing and scenes.PROXY in names else 0


if __name__ == "__main__":
    sys.exit(main())
