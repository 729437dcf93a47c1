"""A user's own fault, from a file and from an installed package: used, described and complained of like a built-in one."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

OWN = '''
"""`shout`: the machine passes on everything in capitals.

Imitates nothing at all.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

from chaosproxy.chain.fault import Fault, FaultSpec, register
from chaosproxy.model.units import Count


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Shout(FaultSpec):
    """Passes on capitals."""

    name: ClassVar[str] = "shout"
    main: ClassVar[str | None] = "bytes"
    rewrites_body: ClassVar[bool] = True

    bytes: Count = 3
    """How many, from the beginning. Default 3."""

    def start(self, context):
        return Shouting(self.bytes)


class Shouting(Fault):
    def __init__(self, left):
        self._left = left

    def data(self, data, now):
        loud, self._left = data.payload[: self._left].upper(), max(0, self._left - len(data.payload))
        return (*self.once("shouted"), replace(data, payload=loud + data.payload[len(loud):]))
'''


def chaosproxy(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "chaosproxy", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=os.environ | environment,
    )


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A file with one fault."""
    file = tmp_path / "shout.py"
    file.write_text(OWN)
    return file


@pytest.fixture
def package(own: Path) -> dict[str, str]:
    """The environment in which that file is an installed package that offers its fault."""
    about = own.parent / "loud-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: loud\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[chaosproxy.faults]\nshout = shout\n")
    return {"PYTHONPATH": os.pathsep.join([str(own.parent), os.environ.get("PYTHONPATH", "")])}


@pytest.fixture
def scenario(tmp_path: Path) -> str:
    file = tmp_path / "loud.yaml"
    file.write_text("version: 1\nfaults:\n  - shout: 6\n")
    return str(file)


def test_a_file_s_fault_acts_in_a_scenario(own, scenario):
    shown = chaosproxy("demo", scenario, "--faults", str(own), "--json")
    assert shown.returncode == 0, shown.stderr
    assert json.loads(shown.stdout)["scenario"] == "loud"


def test_an_installed_package_s_fault_is_there_without_a_word(package, scenario):
    assert chaosproxy("lint", scenario, **package).returncode == 0


def test_the_environment_may_name_the_file(own, scenario):
    assert chaosproxy("lint", scenario, CHAOSPROXY_FAULTS=str(own)).returncode == 0


def test_its_mistakes_have_their_place(own, tmp_path):
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("version: 1\nfaults:\n  - shout: {bites: 1}\n")
    shown = chaosproxy("lint", str(wrong), "--faults", str(own))
    assert shown.returncode == 1
    assert shown.stdout.startswith(f"{wrong}:3:13: unknown key 'bites'; did you mean 'bytes'?")


def test_it_is_in_the_schema_and_has_a_reference(package):
    schema = json.loads(chaosproxy("schema", **package).stdout)
    assert schema["$defs"]["fault"]["properties"]["shout"]["description"] == "Passes on capitals."
    page = chaosproxy("faults", "shout", **package).stdout
    assert "The machine passes on everything in capitals." in page
    assert "How many, from the beginning. Default 3." in page
    assert "shout" in chaosproxy("faults", **package).stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(None, "{file}: cannot be read: No such file or directory", id="missing"),
        pytest.param("x = 1\n", "{file}: has no fault; one is a class with @register above @dataclass", id="none"),
        pytest.param("x = 1\ny = (\n", "{file}:2:5: '(' was never closed", id="syntax"),
        pytest.param("\nimport nowhere_at_all\n", "{file}:2: ModuleNotFoundError: No module named", id="import"),
        pytest.param(OWN.replace('= "shout"', '= "stall"'), "chaosproxy.faults.stall has a fault", id="taken"),
    ],
)
def test_a_file_that_cannot_be_used_is_said_in_one_line(tmp_path, scenario, text, said):
    file = tmp_path / "own.py"
    if text is not None:
        file.write_text(text)
    shown = chaosproxy("lint", scenario, "--faults", str(file))
    assert shown.returncode == 2
    assert said.format(file=file) in shown.stderr
    assert shown.stderr.count("\n") == 1


def test_a_package_that_cannot_be_loaded_is_said_at_the_fault_s_name(package, own, scenario):
    own.write_text("import nowhere_at_all\n")
    shown = chaosproxy("lint", scenario, **package)
    assert shown.returncode == 1
    assert shown.stdout.startswith(
        f"{scenario}:3:5: fault 'shout' of the package loud cannot be loaded (shout): ModuleNotFoundError"
    )


def test_a_file_that_is_no_python_is_refused(scenario):
    shown = chaosproxy("lint", scenario, "--faults", scenario)
    assert (shown.returncode, shown.stderr) == (
        2,
        f"chaosproxy: {scenario}: a file of faults is a Python file, and its name ends in .py\n",
    )
