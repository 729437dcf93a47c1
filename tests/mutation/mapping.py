"""Which tests go through which line, and how long they take: what coverage has seen, asked by mutant."""

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from coverage import CoverageData

from tests.mutation.mutants import Mutant

DIRECTORIES = ["model", "framing", "chain", "faults", "http1", "http2", "scenario", "testing", "virtual"]
"""Of tests that run in virtual time or in none: sockets say nothing new of these packages, and take longer."""

BUDGET = 6.0
"""Seconds of tests, as they were measured, for one mutant: of those of its own package, and as many of the others."""


@dataclass(frozen=True, slots=True)
class Map:
    data: CoverageData
    seconds: dict[str, float]

    @classmethod
    def read(cls, file: Path) -> "Map":
        data = CoverageData(str(file))
        data.read()
        return cls(data, json.loads(Path(f"{file}.json").read_text(encoding="utf-8")))

    @classmethod
    def measure(cls, file: Path | None) -> "Map":
        """Run the tests, which must pass."""
        with tempfile.TemporaryDirectory() as scratch:
            file = file or Path(scratch, "map")
            command = [sys.executable, "-m", "coverage", "run", "--branch", f"--data-file={file}"]
            command += ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.mutation.recording"]
            subprocess.run([*command, *(f"tests/{name}" for name in DIRECTORIES)], check=True)
            return cls.read(file)

    def quick(self) -> dict[str, float]:
        """The tests that take next to no time."""
        return {name: took for name, took in self.seconds.items() if took < 0.02}

    def of(self, path: Path, mutant: Mutant) -> dict[str, float]:
        """The tests that go through the mutant's statement; else those of its function, or of its module: what runs when a
        module is imported belongs to no test. As many as there is time for, the quickest first."""
        tests = self.data.contexts_by_lineno(str(path))
        for lines in (mutant.lines, mutant.body, tests):
            found = {name for line in lines for name in tests.get(line, ()) if name in self.seconds}
            if found:
                return self._affordable(found, f"tests/{path.parent.name}/")
        return {}

    def _affordable(self, found: set[str], own: str) -> dict[str, float]:
        chosen: dict[str, float] = {}
        spent = {True: 0.0, False: 0.0}
        for name in sorted(found, key=self.seconds.__getitem__):
            spent[name.startswith(own)] += self.seconds[name]
            if spent[name.startswith(own)] < BUDGET:
                chosen[name] = self.seconds[name]
        return chosen
