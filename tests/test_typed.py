"""The public names have a type each, parameters and members included, that every type checker infers alike.

mypy, which `make lint` runs, demands annotations; this asks a second checker, which comes with the extra `lint`, whether
they are enough for those who use the names.
"""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import chaosproxy

PUBLIC = ("chaosproxy", "chaosproxy.check", "chaosproxy.faults", "chaosproxy.testing")


def test_every_public_name_has_a_known_type(tmp_path):
    pytest.importorskip("basedpyright", reason="it comes with the extra `lint`")
    # What stands in its own directory, or is installed as a link, is no package to it: so it finds this one elsewhere.
    site, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    site.mkdir()
    elsewhere.mkdir()
    (site / "chaosproxy").symlink_to(Path(chaosproxy.__file__).parent)
    asked = ["--verifytypes", "chaosproxy", "--ignoreexternal", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run(
        [sys.executable, "-m", "basedpyright", *asked],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])},
        cwd=elsewhere,
        capture_output=True,
        text=True,
        check=False,
    )
    symbols = json.loads(done.stdout)["typeCompleteness"]["symbols"]
    names, classes = set(), set()
    for module in map(importlib.import_module, PUBLIC):
        for name in module.__all__:
            thing = getattr(module, name)
            called = {f"{module.__name__}.{name}", f"{thing.__module__}.{thing.__qualname__}"}
            names |= called
            classes |= {f"{one}." for one in called if isinstance(thing, type)}
    ours = [one for one in symbols if one["name"] in names or one["name"].startswith(tuple(classes))]
    assert len(ours) > 400, "methods and fields are among them"
    assert [one["name"] for one in ours if not one["isTypeKnown"] or one["isTypeAmbiguous"]] == []
