"""What may be imported from elsewhere, and where; the public names; what every file has. A new library or a new public
name fails here until somebody says where it belongs.

Who of ours may import whom is the import linter's to say (`pyproject.toml`, `make lint`); here it is made to say no.
"""

import ast
import importlib
import re
import shutil
import subprocess
import sys
import tomllib

import pytest

from docs.imports import ROOT, Import, every_import, imports_of, modules

EDGE = {"check", "cli", "proxy", "wire", "testing", "embedded", "demo", "origin", "pytest_plugin", "client", "diagnose"}
"""Where time passes and sockets are. Below, there is no clock, no chance but what is handed in, and no log."""
ONLY_IN = {
    "trio": EDGE,
    "socket": EDGE,
    "select": EDGE,
    "ssl": EDGE,
    "trustme": {"wire"},
    "h11": {"http1"},
    "h2": {"http2", "testing"},
    "hpack": {"http2", "testing"},
    "hyperframe": {"http2", "testing"},
    "pydantic": {"scenario"},
    "pydantic_core": {"scenario"},
    "yaml": {"scenario"},
    "re2": {"chain", "faults", "scenario"},
    "click": {"cli"},
    "rich": {"cli", "demo", "diagnose"},
    "uvicorn": {"origin"},
    "starlette": {"origin"},
    "pytest": {"pytest_plugin"},
    "zlib": {"faults", "client"},
    "brotli": {"faults"},
    "backports.zstd": {"faults"},
    "compression": {"faults"},  # zstd, from Python 3.14 on
    "time": EDGE,
    "datetime": EDGE | {"judging"},  # dates that stand in a record, never the clock
    "logging": {"cli", "proxy", "origin"},
    "random": EDGE,
    "random.Random": {"cli", "proxy", "testing", "chain", "scenario", "faults"},  # a seeded one, handed in
    "threading": {"check", "embedded", "origin"},
    "asyncio": {"check", "origin"},
    "subprocess": {"check"},
    "secrets": set(),
    "uuid": set(),
}
"""Of libraries, and of those parts of the standard library that break a promise, the packages that may import them.
The longest name that fits decides."""
COMES_WITH = {"re2": "google-re2", "yaml": "pyyaml", "pydantic_core": "pydantic"}
OPTIONAL = {"brotli", "backports", "compression", "pytest"}
"""What is imported where it is there: of the extras, of a later Python, and by the plugin that pytest loads."""
"""The distribution of a module, where it is not called the same; pydantic's two are part of its documented interface."""

PUBLIC = {
    "chaosproxy": [
        "Error",
        "ExchangeRecord",
        "Finding",
        "OpenProxy",
        "ScenarioError",
        "ServedProxy",
        "Verdict",
        "Verdicts",
        "open_proxy",
        "serve",
    ],
    "chaosproxy.check": ["Trial", "cases"],
    "chaosproxy.faults": [
        "AbortUpstream",
        "Absorb",
        "Accept",
        "Age",
        "Auth",
        "Bandwidth",
        "Blackhole",
        "BrokenEnd",
        "Buffer",
        "Cache",
        "ChunkSyntax",
        "ClientAbort",
        "Compress",
        "Concurrency",
        "ConnectionSettings",
        "Cork",
        "Cut",
        "Drop",
        "Duplicate",
        "ErrorEvent",
        "Frames",
        "Framing",
        "Garbage",
        "Goaway",
        "GrpcStatus",
        "Headers",
        "HoldHead",
        "Inject",
        "Keepalive",
        "Latency",
        "LineEndings",
        "Linger",
        "Mutate",
        "Pace",
        "PingAnswers",
        "RateLimit",
        "RefuseStreams",
        "Reorder",
        "ReplaceBody",
        "Resegment",
        "Respond",
        "RetryUpstream",
        "Route",
        "SlowReader",
        "Stall",
        "Strip",
        "Timeout",
        "Tls",
        "Window",
    ],
    "chaosproxy.testing": [
        "Asked",
        "Cue",
        "Played",
        "Upload",
        "check_fault",
        "check_session",
        "check_splitter",
        "play",
        "play_together",
    ],
}


def broken(one: Import) -> str | None:
    """The rule of the libraries that an import breaks."""
    parts = one.name.split(".")
    if parts[0] == "chaosproxy":
        return None
    names = (".".join(parts[:end]) for end in range(len(parts), 0, -1))
    rule = next((name for name in names if name in ONLY_IN), None)
    if rule is None:
        return (
            None
            if parts[0] in sys.stdlib_module_names
            else f"{one.where}: nobody has said where {parts[0]} may be used"
        )
    return None if one.package in ONLY_IN[rule] else f"{one.where}: {one.package} imports {one.name}"


def test_every_library_is_used_where_it_may_be() -> None:
    assert [problem for one in every_import() if (problem := broken(one))] == []


@pytest.mark.parametrize(
    ("module", "line"),
    [
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
def test_what_the_rules_of_the_libraries_forbid(module, line) -> None:
    assert [problem for one in imports_of(module, line) if (problem := broken(one))]


FORBIDDEN = [
    ("model.units", "framing.splitter"),
    ("http1.session", "http2.frames"),
    ("http2.session", "http1.heads"),
    ("http2.session", "faults.cut"),
    ("http1.session", "chain.line"),
    ("chain.stage", "faults.cut"),
    ("chain.stage", "scenario.load"),
    ("faults.cut", "wire.plain"),
    ("wire.plain", "http1.heads"),
    ("journal.record", "framing.sse"),
    ("session", "journal.record"),
    ("chain.line", "journal.record"),
    ("origin.app", "proxy.proxy"),
    ("origin.app", "wire.plain"),
    ("report.line", "scenario.load"),
    ("report.line", "proxy.proxy"),
    ("scenario.load", "http2.frames"),
    ("proxy.proxy", "embedded.parts"),
    ("proxy.proxy", "testing.play"),
    ("embedded.served", "cli.main"),
    ("cli.main", "testing.play"),
    ("pytest_plugin", "demo.plan"),
    ("client.asking", "proxy.proxy"),
    ("check.card", "cli.check"),
    ("embedded.parts", "check.card"),
    ("demo.plan", "diagnose.change"),
    ("__main__", "embedded.parts"),
    ("errors", "session"),
    ("model.units", "errors"),
]
"""Of ours that must not import of ours: at least one for each contract and each layer."""


def test_what_the_import_linter_forbids(tmp_path) -> None:
    """Each forbidden import is written into a copy of the tree, inside a function: the linter has to name it."""
    pytest.importorskip("importlinter", reason="the linter comes with the extra `lint`, and `make lint` runs it")
    shutil.copytree(ROOT / "chaosproxy", tmp_path / "chaosproxy", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for importer, imported in FORBIDDEN:
        with (tmp_path / "chaosproxy" / f"{importer.replace('.', '/')}.py").open("a", encoding="utf-8") as file:
            file.write(f"\n\ndef _late():\n    import chaosproxy.{imported}\n")
    with (tmp_path / "chaosproxy" / "__init__.py").open("a", encoding="utf-8") as file:
        file.write("import chaosproxy.testing.play\n")
    (tmp_path / "chaosproxy" / "model" / "house.py").write_text("from chaosproxy import serve\n", encoding="utf-8")
    (tmp_path / "chaosproxy" / "novelty.py").touch()
    linter = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache"]
    done = subprocess.run([*linter, "--no-logo"], cwd=tmp_path, capture_output=True, text=True, check=False)
    said = set(re.findall(r"(\S+) -> (\S+) \(", done.stdout))
    expected = {(f"chaosproxy.{importer}", f"chaosproxy.{imported}") for importer, imported in FORBIDDEN}
    expected |= {("chaosproxy", "chaosproxy.testing.play"), ("chaosproxy.model.house", "chaosproxy")}
    assert expected - said == set(), done.stdout + done.stderr
    assert "novelty" in done.stdout


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


PACKAGES = sorted({name.split(".")[1] for name, _ in modules() if "." in name})


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_says_what_it_is_its_rules_and_what_it_must_not_know(package) -> None:
    words = " ".join((importlib.import_module(f"chaosproxy.{package}").__doc__ or "").split())
    assert "Must not know: " in words
    assert "Rules: " in words or package == "__main__"


def test_every_module_says_what_it_is() -> None:
    silent = [name for name, path in modules() if len(ast.get_docstring(ast.parse(path.read_bytes())) or "") < 20]
    assert silent == []


def test_files_hold_one_idea() -> None:
    sizes = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in modules()}
    assert {name: size for name, size in sizes.items() if size > 300} == {}, "split it, along an idea"


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
    assert set(module.__all__) ^ set(PUBLIC[name]) == set(), "what is promised stands in `__all__` and in PUBLIC, here"
    assert all(hasattr(module, public) for public in module.__all__)
