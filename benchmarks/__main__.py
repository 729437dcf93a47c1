"""`python -m benchmarks`: starts everything, visits every peer in every round, prints tables and writes JSON."""

import argparse
import json
import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks import peers, report
from benchmarks.cpu import processors


@dataclass(frozen=True, slots=True)
class Load:
    """One load: what the reader is asked for, and in which protocol."""

    name: str
    h2: bool
    arguments: tuple[str, ...]
    title: str


def loads(given: argparse.Namespace) -> list[Load]:
    """The loads of this run; HTTP/1 first, others are held against it."""
    events = ("events", "--streams", str(given.streams), "--rate", str(given.rate), "--seconds", str(given.seconds))
    bulk = ("bulk", "--bytes", str(given.megabytes * 1024 * 1024))
    speed = f"{given.streams} streams x {given.rate:g}/s"
    return [
        Load("events", h2=False, arguments=events, title=f"events, h1 to h1, {speed}"),
        Load("events h2", h2=True, arguments=(*events, "--h2"), title=f"events, h2 to h1, {speed}"),
        Load("bulk", h2=False, arguments=bulk, title=f"bulk, h1 to h1, {given.megabytes} MiB in 64 KiB chunks"),
        Load(
            "bulk h2",
            h2=True,
            arguments=(*bulk, "--h2"),
            title=f"bulk, h2 to h1, {given.megabytes} MiB in 64 KiB chunks",
        ),
    ]


def visit(load: Load, peer: peers.Peer, cpus: set[int]) -> dict[str, float] | str:
    """What the reader saw of one peer under one load, or why it saw nothing."""
    port = peer.ports.h2 if load.h2 else peer.ports.h1
    command = [sys.executable, "-m", "benchmarks.reader", *load.arguments, "--port", str(port)]
    command += ["--pids", *map(str, peer.pids)]
    try:
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            cwd=peers.ROOT,
            timeout=120,
            preexec_fn=lambda: os.sched_setaffinity(0, cpus),  # no threads here
        )
    except subprocess.TimeoutExpired:
        return "the reader did not come to an end"
    if done.returncode:
        return done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"reader ended with {done.returncode}"
    seen: dict[str, float] = json.loads(done.stdout)
    return seen


def progress(text: str) -> None:
    """Say what is being done, to whoever is watching."""
    if sys.stderr.isatty():
        print(f"\r{text:<100}\r", end="", file=sys.stderr, flush=True)


def measure(given: argparse.Namespace) -> dict[str, object]:
    """All rounds of all loads; prints a table for each load when it is done."""
    cpus, other_cpus = processors()
    rounds: dict[str, dict[str, list[dict[str, float]]]] = {}
    absent: dict[str, str] = {}
    with peers.running(given.only or list(peers.ALL), cpus, other_cpus) as (found, missing):
        absent.update(missing)
        for load in loads(given):
            able = [peer for peer in found if (peer.ports.h2 if load.h2 else peer.ports.h1) is not None]
            seen = rounds.setdefault(load.name, {peer.name: [] for peer in able})
            failed: dict[str, str] = {}
            for number in range(given.rounds):
                turn = number % max(1, len(able))
                for peer in able[turn:] + able[:turn]:  # nobody is always the one behind the busiest
                    progress(f"{load.title}: round {number + 1}, {peer.name}")
                    numbers = visit(load, peer, other_cpus)
                    if isinstance(numbers, str):
                        failed[peer.name] = numbers
                    else:
                        seen[peer.name].append(numbers)
            progress("")
            print(
                report.table(load.title, load.name, report.summary(rounds)[load.name], failed), end="\n\n", flush=True
            )
    for name, reason in absent.items():
        print(f"{name}: {reason}")
    return {
        "machine": {
            "processors": os.cpu_count(),
            "load": os.getloadavg(),
            "python": platform.python_version(),
            "kernel": platform.release(),
        },
        "arguments": {key: str(value) if isinstance(value, Path) else value for key, value in vars(given).items()},
        "absent": absent,
        "summary": report.summary(rounds),
        "rounds": rounds,
    }


def main() -> int:
    """Exit status 0 when everything that is there was measured, 1 when chaosproxy was not."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="What the proxy costs, beside others.")
    parser.add_argument("--quick", action="store_true", help="two short rounds: a look, not a measurement")
    parser.add_argument("--rounds", type=int, help="default 5")
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--rate", type=float, default=20.0, help="events a second and stream")
    parser.add_argument("--seconds", type=float, help="of each visit, default 4")
    parser.add_argument("--megabytes", type=int, help="of each bulk visit, in MiB, default 512")
    parser.add_argument("--only", action="append", choices=list(peers.ALL), help="may be repeated; default all")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every number there")
    given = parser.parse_args()
    given.rounds = given.rounds or (2 if given.quick else 5)
    given.seconds = given.seconds or (1.5 if given.quick else 4.0)
    given.megabytes = given.megabytes or (64 if given.quick else 512)
    result = measure(given)
    if given.json:
        given.json.write_text(json.dumps(result, indent=1) + "\n")
    summary = result["summary"]
    assert isinstance(summary, dict)
    return 0 if given.only or all("chaosproxy" in seen for seen in summary.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
