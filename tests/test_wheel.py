"""What a user installs: the wheel, away from this directory, has the commands and the shipped scenarios."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """The wheel's content, in a directory of its own. Its dependencies are those of this environment."""
    place = tmp_path_factory.mktemp("wheel")
    quiet = ["--quiet", "--disable-pip-version-check"]
    argv = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        *quiet,
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(place),
        str(ROOT),
    ]
    built = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    (wheel,) = place.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place / "site")
    return place / "site"


@pytest.fixture
def python(installed, tmp_path, monkeypatch) -> Path:
    """A fresh environment with the wheel installed, and pytest-asyncio, which our own suite would not stand. What they depend
    on is taken from this one. Skips where the registry cannot be reached, unless it is required."""
    for name in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"):
        monkeypatch.delenv(name, raising=False)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    (packages,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    (packages / "theirs.pth").write_text(sysconfig.get_path("purelib"))
    (wheel,) = installed.parent.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(
        [*pip, "--no-deps", str(wheel), "pytest-asyncio>=1"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        told = pytest.fail if os.environ.get("CHAOSPROXY_PEERS") == "required" else pytest.skip
        told(f"no packages to be had from the registry: {done.stderr.strip()[-300:]}")
    return python


@pytest.fixture
def command(installed, tmp_path):
    """How to run `chaosproxy ARGUMENTS` from it."""

    def arguments(*words: str) -> dict:
        environment = {**os.environ, "PYTHONPATH": str(installed), "PYTHONSAFEPATH": "1"}
        return {"args": [sys.executable, "-m", "chaosproxy", *words], "cwd": tmp_path, "env": environment, "text": True}

    return arguments


def test_these_tests_run_the_wheel_s_code(installed, command):
    where = command()
    where["args"] = [sys.executable, "-c", "import chaosproxy; print(chaosproxy.__file__)"]
    done = subprocess.run(**where, capture_output=True, check=True)
    assert Path(done.stdout.strip()) == installed / "chaosproxy" / "__init__.py"


def test_the_wheel_s_scenarios_are_found_by_name_and_valid(installed, command):
    names = sorted(path.stem for path in (ROOT / "scenarios").rglob("*.yaml"))
    assert sorted(path.stem for path in (installed / "chaosproxy" / "_scenarios").rglob("*.yaml")) == names
    for figures in (ROOT / "chaosproxy" / "presets" / "data").iterdir():
        assert (installed / "chaosproxy" / "presets" / "data" / figures.name).read_bytes() == figures.read_bytes()
    done = subprocess.run(**command("lint", *names), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    unknown = subprocess.run(**command("lint", "idle-dorp"), capture_output=True, check=False)
    assert unknown.returncode != 0
    assert "idle-drop" in unknown.stderr + unknown.stdout


def test_it_runs_a_shipped_scenario(command):
    words = ("run", "idle-drop", "--upstream", "http://127.0.0.1:1", "--listen", "127.0.0.1:0")
    running = subprocess.Popen(**command(*words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        assert running.stdout
        assert "listening on http://127.0.0.1:" in running.stdout.readline()
    finally:
        running.terminate()
        rest, _ = running.communicate(timeout=10)
    assert (running.returncode, rest) == (0, "chaosproxy: ended; 0 exchanges\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("scenarios", "reset"), "then: rst"),
        (("schema",), '"$defs"'),
        (("demo", "tokens"), "first event"),
        (("origin", "--help"), "--kv-blocks"),
        (("healthcheck", "--help"), "URL"),
    ],
    ids=lambda words: words[0] if isinstance(words, tuple) else None,
)
def test_its_other_commands_work(words, said, command):
    done = subprocess.run(**command(*words), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert said in done.stdout


def test_it_says_where_its_scenarios_lie(installed, command):
    done = subprocess.run(**command("scenarios", "--json"), capture_output=True, check=True)
    files = [Path(one["file"]) for one in json.loads(done.stdout)]
    assert len(files) >= 15
    assert all(file.is_file() and file.is_relative_to(installed) for file in files)


def test_it_says_that_it_is_typed_and_how_it_is_called(installed):
    assert (installed / "chaosproxy" / "py.typed").exists()
    (entry,) = installed.glob("*.dist-info/entry_points.txt")
    assert "chaosproxy = chaosproxy.cli.main:main" in entry.read_text()
    (licence,) = installed.glob("*.dist-info/licenses/LICENSE")
    assert licence.read_text() == (ROOT / "LICENSE").read_text()


def test_a_project_of_somebody_s_with_tests_of_every_kind(python, tmp_path):
    """Plain, asyncio, anyio and Trio tests in one run of two processes, configured in pytest's own TOML."""
    project = tmp_path / "project"
    shutil.copytree(ROOT / "tests" / "sample", project, ignore=shutil.ignore_patterns("__pycache__"))
    argv = [str(python), "-m", "pytest", "-n", "2"]
    done = subprocess.run(argv, cwd=project, capture_output=True, text=True, check=False)
    assert "14 passed, 1 error" in done.stdout, done.stdout + done.stderr
    assert "1 of 1 expectation of strict failed" in done.stdout
    assert "FAILED  ended: expected an end how rst" in done.stdout
    assert "chaosproxy origin & chaosproxy run strict.json --upstream http://127.0.0.1:8000 --seed " in done.stdout
    assert sorted(file.name for file in (project / "reports").iterdir()) == [
        f"test_plain.py-test_whose_expectation_fails.{kind}" for kind in ("html", "jsonl")
    ]


def test_the_wheel_s_reports_have_their_style_and_script(command):
    done = subprocess.run(**command("report", "-", "--format", "html"), input="", capture_output=True, check=True)
    assert "prefers-color-scheme" in done.stdout
    assert "addEventListener" in done.stdout
