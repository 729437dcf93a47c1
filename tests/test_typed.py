"""The public names have a type each, parameters and members included, that every type checker infers alike.

mypy, which `make lint` runs, demands annotations; this asks a second checker whether they are enough for those who use
the names. It takes half a minute and half a gigabyte, and is no dependency: `pip install basedpyright` brings it.
"""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

PUBLIC = ("chaosproxy", "chaosproxy.faults", "chaosproxy.testing")


def test_every_public_name_has_a_known_type():
    pytest.importorskip("basedpyright", reason="it is no dependency; pip install basedpyright")
    asked = ["--verifytypes", "chaosproxy", "--ignoreexternal", "--outputjson", "--pythonpath", sys.executable]
    program = Path(sys.executable).with_name("basedpyright")
    done = subprocess.run([program, *asked], capture_output=True, text=True, check=False)
    symbols = json.loads(done.stdout)["typeCompleteness"]["symbols"]
    names = set()
    for module in map(importlib.import_module, PUBLIC):
        for name in module.__all__:
            thing = getattr(module, name)
            names |= {f"{module.__name__}.{name}", f"{thing.__module__}.{thing.__qualname__}"}
    ours = [one for one in symbols if any(f"{one['name']}.".startswith(f"{name}.") for name in names)]
    assert len(ours) > 400, "methods and fields are among them"
    assert [one["name"] for one in ours if not one["isTypeKnown"] or one["isTypeAmbiguous"]] == []
