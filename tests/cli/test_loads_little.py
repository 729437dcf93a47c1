"""What serves a run without a scenario is loaded, and not what reads scenarios: that takes longer than all the rest."""

import subprocess
import sys
from importlib import metadata

import pytest

DEAR = ("pydantic", "yaml", "cryptography", "trio", "importlib.metadata")


def printed(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60).stdout


@pytest.mark.parametrize("modules", ["chaosproxy.cli.main, chaosproxy.cli.serving", "chaosproxy.embedded.served"])
def test_who_has_no_scenario_does_not_load_its_reader(modules) -> None:
    loaded = printed(f"import {modules}, sys; print(*[name for name in {DEAR} if name in sys.modules])")
    assert loaded.split() == ["trio"]


def test_the_version_is_read_when_it_is_asked_for() -> None:
    told = printed("from chaosproxy.cli.main import main; main(['--version'])")
    assert told == f"chaosproxy, version {metadata.version('chaosproxy')}\n"


def test_garbage_is_collected_again_once_a_run_is_loaded() -> None:
    """What is loaded is not looked through any more."""
    code = "import gc; from chaosproxy.cli.main import status_of; print(status_of(['run']), gc.isenabled(), gc.get_freeze_count())"
    status, enabled, frozen = printed(code).split()
    assert (status, enabled) == ("2", "True")
    assert int(frozen) > 10_000
