"""Runs the tests that concern one mutant, in a process that is forked for it and ends with it.

Rules: what is not ours is imported before the fork, what is ours after it, by a loader that puts the mutant in its place.
The quickest tests come first, the first that fails ends the run; properties try the same examples for every mutant, and
keep none. A test is given processor time by what it took unchanged, so that a mutant that never ends is told from a busy
machine. Must not know: what a mutant changes.
"""

import ast
import importlib
import importlib.machinery
import importlib.util
import os
import resource
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import Phase, settings

from tests.mutation.recording import name_of

ROOT = Path(__file__).parents[2]
MEMORY = 4 * 1024**3
PATIENCE = 5.0
"""Seconds of processor time that any test may take, besides five times its own."""
WAITING = "60"
"""Seconds that a test may take in all."""

FOREIGN = (
    "_hypothesis_pytestplugin",
    "_pytest.pytester",
    "h11",
    "h2.connection",
    "httpx_sse",
    "hyperframe.frame",
    "hypothesis.strategies",
    "pydantic",
    "pytest_cov.plugin",
    "pytest_timeout",
    "pytest_trio.plugin",
    "re2",
    "trio.testing",
    "yaml",
)
"""Imported before the first fork, because it takes long."""
for foreign in FOREIGN:
    importlib.import_module(foreign)

settings.register_profile("mutants", database=None, derandomize=True, phases=[Phase.explicit, Phase.generate])


@dataclass(frozen=True, slots=True)
class Verdict:
    killed: bool
    by: str
    """The test that failed, or how the process ended; empty where every test passed."""


class _Chosen:
    """A pytest plugin: keeps the chosen tests, the quickest first, and names the one that fails."""

    def __init__(self, seconds: dict[str, float], say: Callable[[str], object]) -> None:
        self._seconds, self._say = seconds, say

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if name_of(item) in self._seconds]
        items.sort(key=lambda item: (self._seconds[name_of(item)], item.nodeid))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        signal.setitimer(signal.ITIMER_PROF, PATIENCE + 5 * self._seconds[name_of(item)])
        return (yield)

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self._say(report.nodeid)

    def pytest_collectreport(self, report):
        if report.failed:
            self._say(report.nodeid or "collecting")


class _Mutated(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, tree: ast.Module) -> None:
        super().__init__(name, path)
        self._tree = tree

    def get_code(self, fullname):
        return compile(ast.fix_missing_locations(self._tree), self.path, "exec")


class _Finder:
    def __init__(self, name: str, path: Path, tree: ast.Module) -> None:
        self._spec = importlib.util.spec_from_loader(name, _Mutated(name, str(path), tree))

    def find_spec(self, name, path=None, target=None):
        return self._spec if self._spec is not None and name == self._spec.name else None


def run(path: Path, tree: ast.Module, seconds: dict[str, float], change: Callable[[], object]) -> Verdict:
    """Run the tests that `seconds` names against the module at `path` as `change` leaves its `tree`."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        try:
            _be_the_child(path, tree, seconds, change, writing)
        except BaseException as error:  # noqa: BLE001 nothing of the parent may run in the child
            os.write(writing, f"{type(error).__name__}: {error}".encode())
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8", errors="replace") as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return Verdict(killed=True, by=signal.Signals(os.WTERMSIG(status)).name)
    return Verdict(killed=os.WEXITSTATUS(status) != 0, by=said.strip().split("\n")[-1])


def _be_the_child(path: Path, tree: ast.Module, seconds: dict[str, float], change, writing: int) -> None:
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    settings.load_profile("mutants")
    change()
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    sys.meta_path.insert(0, _Finder(name, path, tree))
    files = sorted({test.partition("::")[0] for test in seconds})
    chosen = _Chosen(seconds, lambda said: os.write(writing, f"{said}\n".encode()))
    options = ["-x", "-q", "-p", "no:cacheprovider", f"--timeout={WAITING}", "--tb=no", "--assert=plain"]
    os._exit(int(pytest.main([*options, *files], plugins=[chosen])))
