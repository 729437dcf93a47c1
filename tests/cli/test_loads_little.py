"""What serves a run without a scenario is loaded, and not what reads scenarios: that takes longer than all the rest."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["chaosproxy.cli.serving", "chaosproxy.embedded.served"])
def test_who_has_no_scenario_does_not_load_its_reader(module) -> None:
    code = f"import {module}, sys; print(*[name for name in ('pydantic', 'yaml', 'cryptography', 'trio') if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60)
    assert loaded.stdout.split() == ["trio"]
