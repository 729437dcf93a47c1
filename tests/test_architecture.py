"""The layers, read from the imports: what may know what."""

import ast
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "chaosproxy"

LAYERS = [
    {"__main__"},
    {"cli"},
    {"proxy"},
    {"scenario", "http1", "http2", "wire", "report"},
    {"faults"},
    {"chain"},
    {"journal", "session", "framing"},
    {"model"},
]
"""From the top; each may import what stands below it, and within itself only its own package."""
EVERYWHERE = {"errors", ""}
"""Importable by all: the exception tree, and the package itself."""
TRIO = {"proxy", "wire", "cli", "testing"}
CLOCKS = {"time", "random", "logging", "datetime"}
CLOCKED = {"proxy", "cli", "testing"}
SEEDED = {"chain", "scenario"}
"""May import `random.Random`, which is seeded; the module-level functions nobody may use below the driver."""

PUBLIC = {
    "chaosproxy": ["Error", "ScenarioError"],
    "chaosproxy.faults": ["Buffer", "ClientAbort", "Cut", "Respond", "Timeout"],
    "chaosproxy.testing": ["Played", "play"],
}


def package_of(path: Path) -> str:
    relative = path.relative_to(ROOT)
    return relative.parts[0].removesuffix(".py") if relative.parts[0] != "__init__.py" else ""


def imports() -> list[tuple[str, str, str]]:
    """(package, imported module, file) of every import in the tree."""
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found += [(package_of(path), alias.name, str(path.relative_to(ROOT))) for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                assert node.level == 0, f"{path}: imports are absolute"
                names = [f"{node.module}.{alias.name}" for alias in node.names]
                found += [(package_of(path), name, str(path.relative_to(ROOT))) for name in names]
    return found


IMPORTS = imports()


def ours(module: str) -> str | None:
    parts = module.split(".")
    if parts[0] != "chaosproxy":
        return None
    return parts[1] if len(parts) > 1 else ""


def layer(package: str) -> int:
    return next(number for number, packages in enumerate(LAYERS) if package in packages)


def test_every_package_has_its_layer():
    packages = {package for package, _, _ in IMPORTS} - EVERYWHERE - {"testing", "pytest_plugin"}
    assert packages <= set().union(*LAYERS)


def test_imports_go_down():
    wrong = []
    for package, module, file in IMPORTS:
        target = ours(module)
        if target is None or target in EVERYWHERE or target == package or package in {"testing", ""}:
            continue
        if layer(target) <= layer(package):
            wrong.append(f"{file} imports {module}")
    assert not wrong


def test_nothing_imports_testing():
    assert not [file for package, module, file in IMPORTS if ours(module) == "testing" and package != "testing"]


def test_the_edges_do_not_know_each_other_nor_the_faults():
    wrong = []
    for package, module, file in IMPORTS:
        target = ours(module)
        if package in {"http1", "http2"} and target in {"http1", "http2", "faults", "scenario", "wire", "chain"} - {
            package
        }:
            wrong.append(f"{file} imports {module}")
        if package == "report" and target not in {None, "report", "journal", "model", "errors"}:
            wrong.append(f"{file} imports {module}")
    assert not wrong


def test_trio_only_where_something_waits():
    assert not [file for package, module, file in IMPORTS if module.split(".")[0] == "trio" and package not in TRIO]


def test_no_clock_no_global_randomness_no_logging_below_the_driver():
    wrong = []
    for package, module, file in IMPORTS:
        top = module.split(".")[0]
        if top not in CLOCKS or package in CLOCKED:
            continue
        if module == "random.Random" and package in SEEDED:
            continue
        wrong.append(f"{file} imports {module}")
    assert not wrong


def test_pydantic_and_yaml_in_the_scenario_package_alone():
    assert not [
        file
        for package, module, file in IMPORTS
        if module.split(".")[0] in {"pydantic", "yaml"} and package != "scenario"
    ]


@pytest.mark.parametrize("module", PUBLIC)
def test_the_public_names_are_these(module):
    assert sorted(importlib.import_module(module).__all__) == PUBLIC[module]


def test_every_module_says_what_it_is():
    silent = [
        str(path.relative_to(ROOT))
        for path in ROOT.rglob("*.py")
        if len(ast.get_docstring(ast.parse(path.read_text())) or "") < 20
    ]
    assert not silent
