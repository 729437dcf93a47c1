"""`python -m tests.fuzz [TARGET ...] --seconds N`: each target under atheris, led by coverage, for so long.

What breaks one is kept as `tests/regress/TARGET-NAME.bin`, and is played by `tests/security/test_regress.py` from then on.
What was found on the way is kept in `.fuzz/TARGET`, and is where the next run begins. `make fuzz` makes an environment in
which atheris is. `--write` puts the figures into the page of security.
"""

import argparse
import hashlib
import importlib.util
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.targets import REGRESS, WHERE, target
from tests.security.rows import Row, keep

ROOT = Path(__file__).parents[2]
KEPT = ROOT / ".fuzz"
LONGEST = 4096
"""Bytes of an input."""
ONE = 20
"""Seconds that one may take."""
MEMORY = 2048
"""MiB."""


@dataclass(frozen=True)
class Ran:
    """What came of a target. `edges`: how much of the code was reached, as libFuzzer counts."""

    runs: int
    seconds: float
    edges: int
    crashers: list[Path]
    said: str
    """The end of what it said, where it broke."""


def fuzz(name: str, seconds: int) -> Ran:
    """One target in a process of its own."""
    folder = KEPT / name
    folder.mkdir(parents=True, exist_ok=True)
    for seed in target(name).seeds():
        (folder / hashlib.sha1(seed).hexdigest()).write_bytes(seed)
    words = folder.with_suffix(".dict")
    words.write_text("".join(f'"{_escaped(token)}"\n' for token in target(name).tokens))
    before = set(KEPT.glob(f"{name}-*"))
    began = time.monotonic()
    options = [
        f"-max_total_time={seconds}", f"-max_len={LONGEST}", f"-timeout={ONE}", f"-rss_limit_mb={MEMORY}",
        f"-artifact_prefix={KEPT / name}-", *([f"-dict={words}"] if words.stat().st_size else []), "-print_final_stats=1", str(folder),
    ]  # fmt: skip
    ended = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.under", name, *options],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    said = re.sub(r"INFO: Instrumenting .*\n", "", ended.stdout.decode("utf-8", "replace"))
    runs = re.findall(r"stat::number_of_executed_units: (\d+)", said) or re.findall(r"^#(\d+)\t", said, re.MULTILINE)
    edges = re.findall(r"cov: (\d+)", said)
    found = [_kept(name, file) for file in sorted(set(KEPT.glob(f"{name}-*")) - before)]
    broken = said if ended.returncode and not runs else _complaint(said) if found else ""
    took = time.monotonic() - began
    return Ran(int(runs[-1]) if runs else 0, took, int(edges[-1]) if edges else 0, found, broken)


def _escaped(token: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in token)


def _kept(name: str, file: Path) -> Path:
    content = file.read_bytes()
    REGRESS.mkdir(exist_ok=True)
    made = REGRESS / f"{name}-{hashlib.sha1(content).hexdigest()[:8]}.bin"
    made.write_bytes(content)
    return made


def _complaint(said: str) -> str:
    """From the exception on."""
    _, _, behind = said.partition("=== Uncaught Python exception: ===")
    return behind.partition("\n==")[0].strip() or said[-2000:]


def _row(name: str, ran: Ran) -> Row:
    found = target(name)
    happens = "that" if not ran.crashers else f"broken by {len(ran.crashers)} inputs"
    figure = f"{ran.seconds:.0f} s, {ran.edges:,} edges"
    return Row(
        name=f"led by coverage: {found.about}",
        tried=ran.runs,
        must=found.must,
        happens=happens,
        figure=figure,
        by="make fuzz",
    )


def main() -> int:
    """1 if anything was broken; 2 without atheris."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of: {', '.join(WHERE)}; else all")
    parser.add_argument("--seconds", type=int, default=60, help="for each; 60")
    parser.add_argument("--write", action="store_true", help="keep the figures for the page of security")
    given = parser.parse_args()
    if unknown := set(given.targets) - WHERE.keys():
        parser.error(f"no target is called {', '.join(sorted(unknown))}; there are {', '.join(WHERE)}")
    if importlib.util.find_spec("atheris") is None:
        print(
            "atheris is not installed here: `make fuzz` makes an environment that has it, on Linux with Python 3.11 to 3.13"
        )
        return 2
    broken = 0
    for name in given.targets or WHERE:
        ran = fuzz(name, given.seconds)
        broken += len(ran.crashers) or not ran.runs
        print(
            f"{name:10} {ran.runs:>9,} runs {ran.seconds:5.0f} s {ran.edges:>6,} edges, {len(ran.crashers)} crashers",
            flush=True,
        )
        for file in ran.crashers:
            print(f"    {file.relative_to(ROOT)}")
        if ran.said:
            print("    " + ran.said.replace("\n", "\n    "), flush=True)
        if given.write and ran.runs:
            keep("fuzzing", _row(name, ran))
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
