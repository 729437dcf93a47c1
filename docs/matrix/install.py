"""The clients at the versions that are pinned beside their probes, and which versions those are.

One folder has an environment of their own for those in Python, which also brings the Node that the others run on, and a
copy of their probes with `node_modules` beside it. Must not know: what is asked of them.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping

from docs.matrix.clients import CLIENTS, FOLDER, PROBES, node, python

_ASK = "import importlib.metadata as m, json, sys; print(json.dumps({n: m.version(n) for n in sys.argv[1:]}))"
STAMP = FOLDER / ".installed"
"""What is installed."""


def install() -> None:
    """Everything that the probes import is there afterwards. CalledProcessError where a registry says no."""
    pinned = "".join((PROBES / name).read_text(encoding="utf-8") for name in ("requirements.txt", "package.json"))
    FOLDER.mkdir(exist_ok=True)
    for probe in (PROBES / "package.json", *PROBES.glob("*.mjs")):
        shutil.copy(probe, FOLDER)
    if STAMP.exists() and STAMP.read_text(encoding="utf-8") == pinned:
        return
    if not python().exists():
        _run(sys.executable, "-m", "venv", str(FOLDER))
    quiet: tuple[str, ...] = ("--quiet", "--disable-pip-version-check")
    _run(str(python()), "-m", "pip", "install", *quiet, "-r", str(PROBES / "requirements.txt"))
    npm = node().parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    quiet = ("--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error")
    path = f"{node().parent}:{os.environ['PATH']}"  # for what the packages run when they are installed
    _run(str(node()), str(npm), "install", *quiet, "--prefix", str(FOLDER), path=path)
    STAMP.write_text(pinned, encoding="utf-8")


def versions() -> Mapping[str, str]:
    """Of the programs, and of every package of a row."""
    found = {"Python": _said(str(python()), "--version").split()[-1], "Node": _said(str(node()), "--version")[1:]}
    programs = dict.fromkeys(client.program for client in CLIENTS if client.program)
    found |= {name: _said(name, "--version").split()[1] for name in programs if shutil.which(name)}
    return found | _of_python() | _of_node()


def _of_python() -> dict[str, str]:
    found = json.loads(_said(str(python()), "-c", _ASK, *_packages(".py")))
    return {f"{name} (PyPI)": version for name, version in found.items()}


def _of_node() -> dict[str, str]:
    files = {name: FOLDER / "node_modules" / name / "package.json" for name in _packages(".mjs")}
    return {f"{name} (npm)": json.loads(file.read_text(encoding="utf-8"))["version"] for name, file in files.items()}


def _packages(ending: str) -> list[str]:
    return sorted({name for client in CLIENTS if client.probe.suffix == ending for name in client.packages})


def _said(*argv: str) -> str:
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()


def _run(*argv: str, path: str | None = None) -> None:
    subprocess.run(argv, check=True, env={**os.environ, **({"PATH": path} if path else {})})
