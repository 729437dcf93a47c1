"""The layers of docs/architecture.md, read from the imports; what may be imported from elsewhere, and where; the public names.

A new package of ours, a new library or a new public name fails here until somebody says where it belongs.
"""

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

MAY_IMPORT = {
    "errors": set(),
    "model": {"errors"},
    "framing": {"model"},
    "session": {"model"},
    "journal": {"model"},
    "report": {"journal", "model"},
    "chain": {"model", "framing", "session", "journal"},
    "faults": {"model", "framing", "session", "journal", "chain"},
    "wire": {"model", "framing", "session", "journal", "chain", "faults"},
    "http1": {"model", "framing", "session", "journal"},
    "http2": {"model", "framing", "session", "journal"},
    "scenario": {"model", "framing", "session", "journal", "chain", "faults"},
    "proxy": {"model", "framing", "session", "journal", "chain", "faults", "wire", "http1", "http2", "scenario"},
    "origin": {"model"},
}
"""Of each package or file of ours, the others it may import; `errors` may be imported by all."""
MAY_IMPORT["embedded"] = {*MAY_IMPORT, "report"}
MAY_IMPORT["demo"] = {*MAY_IMPORT}
MAY_IMPORT["pytest_plugin"] = {*MAY_IMPORT} - {"demo"}
MAY_IMPORT["cli"] = {*MAY_IMPORT, "report"}
MAY_IMPORT["testing"] = {*MAY_IMPORT}
MAY_IMPORT["__main__"] = {"cli"}
MAY_IMPORT["__init__"] = set(MAY_IMPORT) - {"testing"}

EDGE = {"cli", "proxy", "wire", "testing", "embedded", "demo", "origin", "pytest_plugin"}
"""Where time passes and sockets are. Below, there is no clock, no chance but what is handed in, and no log."""
ONLY_IN = {
    "trio": EDGE,
    "socket": EDGE,
    "select": EDGE,
    "ssl": EDGE,
    "trustme": {"wire"},
    "h11": {"http1"},
    "h2": {"http2", "testing"},
    "h2.errors": {"http2", "testing", "scenario"},  # the names of error codes
    "hpack": {"http2", "testing"},
    "hyperframe": {"http2", "testing"},
    "pydantic": {"scenario"},
    "pydantic_core": {"scenario"},
    "annotated_types": {"scenario"},
    "yaml": {"scenario"},
    "re2": {"chain", "scenario"},
    "click": {"cli"},
    "rich": {"cli", "demo"},
    "uvicorn": {"origin"},
    "starlette": {"origin"},
    "pytest": {"pytest_plugin"},
    "zlib": {"faults", "demo"},
    "brotli": {"faults"},
    "backports.zstd": {"faults"},
    "compression": {"faults"},  # zstd, from Python 3.14 on
    "time": EDGE,
    "datetime": EDGE,
    "logging": {"cli", "proxy", "origin"},
    "random": EDGE,
    "random.Random": {"cli", "proxy", "testing", "chain", "scenario", "faults"},  # a seeded one, handed in
    "threading": {"embedded", "origin"},
    "asyncio": {"origin"},
    "subprocess": set(),
    "secrets": set(),
    "uuid": set(),
}
"""Of libraries, and of those parts of the standard library that break a promise, the packages that may import them.
The longest name that fits decides."""
COMES_WITH = {"re2": "google-re2", "yaml": "pyyaml", "pydantic_core": "pydantic", "annotated_types": "pydantic"}
OPTIONAL = {"brotli", "backports", "compression", "pytest"}
"""What is imported where it is there: of the extras, of a later Python, and by the plugin that pytest loads."""
"""The distribution of a module, where it is not called the same; pydantic's two are part of its documented interface."""

PUBLIC = {
    "chaosproxy": ["Error", "ExchangeRecord", "OpenProxy", "ScenarioError", "ServedProxy", "open_proxy", "serve"],
    "chaosproxy.faults": [
        "AbortUpstream",
        "Bandwidth",
        "Blackhole",
        "Buffer",
        "ClientAbort",
        "Compress",
        "Cut",
        "ErrorEvent",
        "Headers",
        "HoldHead",
        "Latency",
        "Pace",
        "Respond",
        "Stall",
        "Strip",
        "Timeout",
    ],
    "chaosproxy.testing": ["Cue", "Played", "Upload", "check_fault", "check_session", "check_splitter", "play"],
}


@dataclass(frozen=True)
class Import:
    """`name` is dotted, with what is taken from a module as its last part: `random.Random`."""

    where: str
    importer: str
    name: str

    @property
    def package(self) -> str:
        """Of the importer: its place in the layers."""
        _, package, *_ = *self.importer.split("."), "__init__"
        return package


def imports_of(module: str, text: str, where: str = "") -> Iterator[Import]:
    """Every import of a module: inside functions, and for types only, too."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{where}:{node.lineno}: relative imports hide their layer"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (Import(f"{where}:{node.lineno}", module, name) for name in names)


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted((ROOT / "chaosproxy").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def every_import() -> list[Import]:
    return [
        one
        for name, path in modules()
        for one in imports_of(name, path.read_text(encoding="utf-8"), str(path.relative_to(ROOT)))
    ]


def broken(one: Import) -> str | None:
    """The rule that an import breaks."""
    first, *rest = one.name.split(".")
    if first == "chaosproxy":
        other = rest[0]
        if one.package not in MAY_IMPORT:
            return f"{one.where}: nobody has said what {one.package} may import"
        if other in {one.package, "errors"} or other in MAY_IMPORT[one.package]:
            return None
        return f"{one.where}: {one.package} imports {other}, which is not below it"
    parts = one.name.split(".")
    names = (".".join(parts[:end]) for end in range(len(parts), 0, -1))
    rule = next((name for name in names if name in ONLY_IN), None)
    if rule is None:
        return None if first in sys.stdlib_module_names else f"{one.where}: nobody has said where {first} may be used"
    return None if one.package in ONLY_IN[rule] else f"{one.where}: {one.package} imports {one.name}"


def test_every_import_is_of_something_below() -> None:
    assert [problem for one in every_import() if (problem := broken(one))] == []


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("chaosproxy.model.units", "from chaosproxy.framing import splitter"),
        ("chaosproxy.http1.session", "from chaosproxy.http2.codes import Code"),
        ("chaosproxy.http2.session", "import chaosproxy.http1.heads"),
        ("chaosproxy.http2.session", "from chaosproxy.faults import Cut"),
        ("chaosproxy.http1.session", "from chaosproxy.chain.line import Line"),
        ("chaosproxy.chain.stage", "from chaosproxy import faults"),
        ("chaosproxy.report.line", "from chaosproxy.scenario.load import load"),
        ("chaosproxy.proxy.proxy", "from chaosproxy.testing import play"),
        ("chaosproxy", "from chaosproxy.testing import play"),
        ("chaosproxy.novelty.file", "from chaosproxy.model import units"),
        ("chaosproxy.chain.line", "import trio"),
        ("chaosproxy.faults.buffer", "def due():\n    from time import monotonic"),
        ("chaosproxy.faults.cut", "import random"),
        ("chaosproxy.faults.cut", "from random import random"),
        ("chaosproxy.journal.journal", "import logging"),
        ("chaosproxy.faults.cut", "import pydantic.fields"),
        ("chaosproxy.scenario.load", "from h2.connection import H2Connection"),
        ("chaosproxy.proxy.proxy", "import requests"),
    ],
)
def test_what_these_rules_forbid(module, line) -> None:
    assert [problem for one in imports_of(module, line) if (problem := broken(one))]


def test_libraries_that_are_imported_are_declared_and_no_others() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {re.split(r"[^\w-]", one)[0].lower() for one in project["dependencies"]}
    first = {one.name.partition(".")[0] for one in every_import()} - sys.stdlib_module_names - {"chaosproxy"} - OPTIONAL
    assert {COMES_WITH.get(name, name) for name in first} == declared


def test_every_dependency_has_its_reason_written_down() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    cells = [line.split("|")[1] for line in page.splitlines() if line.startswith("|")]
    explained = {name.strip().lower() for cell in cells for name in cell.split(",")}
    declared = {
        re.split(r"[^\w.-]", one)[0].lower()
        for group in [project["dependencies"], *project["optional-dependencies"].values()]
        for one in group
    }
    assert declared - explained == {"chaosproxy"}  # its own extras, in the tests'


def test_a_fault_s_own_tests_need_no_trio() -> None:
    """`play` runs in virtual time, in any test runner."""
    program = "import sys, chaosproxy.testing; print(*sorted({'trio', 'pydantic', 'ssl'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_every_module_says_what_it_is() -> None:
    silent = [name for name, path in modules() if len(ast.get_docstring(ast.parse(path.read_bytes())) or "") < 20]
    assert silent == []


def test_functions_fit_on_a_screen() -> None:
    long = [
        f"{name}.{node.name}: {lines} lines"
        for name, path in modules()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (lines := (node.end_lineno or 0) - node.lineno + 1) > 50
    ]
    assert long == []


@pytest.mark.parametrize("name", PUBLIC)
def test_the_public_names_are_these(name) -> None:
    module = importlib.import_module(name)
    assert sorted(module.__all__) == PUBLIC[name]
    assert all(hasattr(module, public) for public in module.__all__)
