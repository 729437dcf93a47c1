"""Whatever a scenario file holds, it is read or refused with places, and the work is bounded: by counted values, not by
a clock. `tests/scenario/test_source.py` has what is said of single ones; here are the classes."""

import re
import subprocess
import sys
import tracemalloc

import pytest
from click.testing import CliRunner

from chaosproxy.cli import lint
from chaosproxy.scenario import source
from chaosproxy.scenario.load import examine
from chaosproxy.scenario.nodes import MOST_NODES
from tests.security.hostile_files import CLASSES, GOOD, VARIABLES

SAID = re.compile(r"(?P<file>[^:\n]+\.yaml)(?::(?P<line>\d+):(?P<column>\d+))?: \S")


@pytest.fixture
def counted(monkeypatch):
    """How many values a file was read into so far."""
    seen = []
    feed = source._Composer.feed

    def counting(self, event):
        seen.append(None)
        feed(self, event)

    monkeypatch.setattr(source._Composer, "feed", counting)
    return seen


def outcome(file, content: bytes) -> str:
    file.write_bytes(content)
    scenario, problems = examine(file, env=VARIABLES)
    assert scenario is not None or problems
    lines = len(content.splitlines()) + 1  # a place may be behind the last line feed
    placed = True
    for problem in problems:
        assert problem.file == str(file)
        assert problem.message.isprintable()
        assert problem.source.isprintable()
        assert len(problem.message) < 1000
        placed = placed and 1 <= problem.line <= max(lines, content.count(b"\r") + 2) and problem.column >= 1
    if scenario is not None:
        return "read"
    if placed:
        return "refused with file, line and column"
    assert [one.message for one in problems] == ["larger than 1 MiB"]
    return "refused as larger than 1 MiB"


@pytest.mark.parametrize("name", CLASSES)
def test_hostile_files_are_read_or_refused_with_a_place(name, tmp_path, counted, shown):
    outcomes, tried, most = set(), 0, 0
    for content in CLASSES[name]():
        counted.clear()
        outcomes.add(outcome(tmp_path / "hostile.yaml", content))
        tried += 1
        most = max(most, len(counted))
        # A value is an event, a list or mapping two; each document has two more.
        assert len(counted) <= 2 * MOST_NODES + 10
    shown(
        "files",
        f"scenario files: {name}",
        tried=tried,
        must="a model, or every problem with its place; never a bare exception",
        happens=", or ".join(sorted(outcomes)),
        figure=f"at most {most:,} parts of a file are looked at",
    )


def test_what_means_a_great_deal_takes_little_memory(tmp_path):
    file = tmp_path / "hostile.yaml"
    # Each twelfth; `test_source.py` looks at six more. Watched, they take many times as long.
    for content in [*CLASSES["small files that mean a great deal (aliases, nesting, recursion), and large ones"]()][
        ::12
    ]:
        tracemalloc.start()
        try:
            outcome(file, content)
            assert tracemalloc.get_traced_memory()[1] < 64 * 2**20
        finally:
            tracemalloc.stop()


def test_lint_says_the_same_of_one_of_each_class(tmp_path, monkeypatch, shown):
    monkeypatch.chdir(tmp_path)
    for name, value in VARIABLES.items():
        if "\0" not in value:
            monkeypatch.setenv(name, value)
    statuses, names = [], []
    for number, make in enumerate(CLASSES.values()):
        for content in make():
            file = tmp_path / f"class{number}.yaml"
            file.write_bytes(content)
            if examine(file)[0] is None:
                break
        names.append(file.name)
        result = CliRunner().invoke(lint.command, [file.name])
        assert isinstance(result.exception, SystemExit | None)
        statuses.append(result.exit_code)
        assert all(SAID.match(line) for line in result.stdout.splitlines() if not line.startswith(" "))
    (tmp_path / "good.yaml").write_text(GOOD)
    everything = [sys.executable, "-m", "chaosproxy", "lint", *names, "good.yaml", "/dev/zero", ".", "absent.yaml"]
    done = subprocess.run(everything, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 2
    assert done.stderr == ""
    assert "good.yaml" not in done.stdout
    assert all(f"{name}:" in done.stdout for name in (*names, "/dev/zero", ".", "absent.yaml"))
    shown(
        "files",
        "`lint` of one file of each class, a device, a directory, no file",
        tried=len(names) + 3,
        must="status 1 or 2, no traceback",
        happens=f"status {' or '.join(map(str, sorted({*statuses, done.returncode})))}, lines with their places",
    )
