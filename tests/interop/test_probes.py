"""The probes of five clients that many use, run by the report card: what each makes of a case is what was measured of it
by hand. `make client-matrix` does so for all of them and all cases.
"""

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from docs.matrix.clients import PROBES
from docs.matrix.compared import cells
from tests.interop.conftest import find, missing

CASES = ["fin", "close-delimited", "reset", "clean-early", "error-event", "gzip-cut"]
"""Of Node's client those that are the same in the version for Node 20."""


def python(name: str, folder: Path) -> list[str]:
    return [sys.executable, str(PROBES / name)]


def shell(name: str, folder: Path) -> list[str]:
    find("curl")
    return ["sh", str(PROBES / name)]


def node(name: str, folder: Path) -> list[str]:
    """Beside the packages that it imports."""
    packages = Path(__file__).with_name("node") / "node_modules"
    if not (packages / "openai").is_dir():
        missing("npm's openai not found: npm install --prefix tests/interop/node")
    for file in ("answer.mjs", name):
        shutil.copy(PROBES / file, folder)
    (folder / "node_modules").symlink_to(packages)
    return [find("node"), str(folder / name)]


FIVE = {
    "openai_chat.py": python,
    "anthropic_create.py": python,
    "httpx_events.py": python,
    "openai_chat.mjs": node,
    "curl.sh": shell,
}


@pytest.mark.parametrize("name", FIVE)
def test_a_client_makes_of_each_case_what_was_measured(name, tmp_path):
    """Its time is generous: how soon is not what is asked here."""
    only = [word for case in ["whole", *CASES] for word in ("--only", case)]
    argv = [sys.executable, "-m", "chaosproxy", "check", "full", "--json", "--patience", "20s", *only]
    done = subprocess.run([*argv, "--", *FIVE[name](name, tmp_path)], capture_output=True, timeout=170, check=False)
    assert done.returncode == 1, done.stderr.decode()
    found = {seen["case"]: seen for seen in json.loads(done.stdout)["cases"]}
    assert found.pop("whole")["verdict"] == "whole"
    assert list(found) == CASES
    both = list(cells({name: found}))
    assert {cell.case for cell in both} == set(CASES)
    assert [cell for cell in both if not cell.same and not cell.why] == []


def test_a_client_can_be_interrupted_where_the_command_cannot(tmp_path):
    """A shell has what it starts in the background ignore SIGINT, and so would everything that this starts."""
    check = [sys.executable, "-m", "chaosproxy", "check", "--only", "interrupt", "--json", "--patience", "20s", "--"]
    line = f"trap '' INT; exec {shlex.join([*check, *shell('curl.sh', tmp_path)])}"
    done = subprocess.run(["sh", "-c", line], capture_output=True, timeout=170, check=False)
    assert done.returncode == 0, done.stderr.decode()
    (seen,) = json.loads(done.stdout)["cases"]
    assert seen["seen"].startswith("it left, and the server heard of it within")
