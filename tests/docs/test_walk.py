"""A new user's walk, by the README alone: from an empty folder to the first failing test of a naive client, and to the
client that passes it. Everything is installed afresh, from the registry."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.following import Follower, blocks, commands

ROOT = Path(__file__).parents[2]
WITHIN = 300.0


def walk() -> str:
    """The README's part about it."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (part,) = re.findall(r"^## Your first failing test\n(.*?)(?=^## )", readme, re.DOTALL | re.MULTILINE)
    return part


@pytest.fixture
def registry(tmp_path):
    """Skips where packages cannot be had, unless they are required."""
    argv = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(tmp_path / "probe"), "iniconfig"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=WITHIN, check=False)
    if done.returncode:
        reason = f"no packages to be had from the registry: {(done.stderr.strip().splitlines() or ['?'])[-1]}"
        if os.environ.get("CHAOSPROXY_PEERS") == "required":
            pytest.fail(reason)
        pytest.skip(reason)


@pytest.mark.timeout(2 * WITHIN)
@pytest.mark.usefixtures("registry")
def test_from_an_empty_folder_to_the_first_failing_test(tmp_path, monkeypatch):
    for name in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "new"
    folder.mkdir()
    page = walk().replace("python3 -m venv", f"{sys.executable} -m venv").replace("path/to/chaosproxy", str(ROOT))
    assert str(ROOT) in page
    reader = Follower(folder, str(folder / ".venv" / "bin"), not_run=(), within=WITHIN)
    reader.follow(page)
    said = [(command.split()[0], output) for command, output in reader.seen]
    assert [command for command, _ in said] == [sys.executable, "pip", "pytest", "pytest"]
    naive, mended = said[2][1], said[3][1]
    assert "DID NOT RAISE" in naive, "the naive client believes half an answer"
    assert "clean by proxy (cut); cut: clean before the terminal record" in naive, "the failure says what happened"
    assert "1 failed, 1 passed" in naive
    assert "2 passed" in mended
    where = [str(folder / ".venv" / "bin" / "python"), "-c", "import chaosproxy; print(chaosproxy.__file__)"]
    used = subprocess.run(where, cwd=folder, capture_output=True, text=True, check=True).stdout
    assert used.startswith(str(folder)), "what was tested is what was installed"


def test_the_walk_is_short():
    shown = [command for block in blocks(walk()) if block.language == "console" for command, _ in commands(block.text)]
    assert len(shown) == 4
    assert all(len(block.text.splitlines()) <= 20 for block in blocks(walk()))
