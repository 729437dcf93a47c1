"""docs/python.md: every snippet runs, as a file of its own, by pytest where it has tests and by Python where not."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import chaosproxy

PAGE = (Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
SUITES = [snippet for snippet in SNIPPETS if "def test_" in snippet]
PROGRAMS = [snippet for snippet in SNIPPETS if "def test_" not in snippet]


def test_the_suites_pass(pytester):
    tests = sum(len(re.findall(r"^def test_", suite, re.MULTILINE)) for suite in SUITES)
    pytester.makepyfile(**{f"test_{number}": suite for number, suite in enumerate(SUITES)})
    done = pytester.runpytest_subprocess("-W", "error", "--strict-markers", "-p", "no:cacheprovider")
    assert (len(SUITES), tests) == (4, 8)
    done.assert_outcomes(passed=tests - 1, xfailed=1)


@pytest.mark.parametrize("number", range(2))
def test_the_programs_run(number, tmp_path):
    assert len(PROGRAMS) == 2
    program = tmp_path / "program.py"
    program.write_text(PROGRAMS[number])
    argv = [sys.executable, "-W", "error", str(program)]
    done = subprocess.run(argv, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_argument_and_member_is_on_the_page():
    told = set(
        re.findall(
            r"`([a-z]\w+)(?=[`(])", "".join(line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `"))
        )
    )
    arguments = set(inspect.signature(chaosproxy.serve).parameters)
    members = {name for name in dir(chaosproxy.ServedProxy) if not name.startswith("_")}
    assert told == arguments | members
