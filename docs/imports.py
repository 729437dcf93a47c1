"""Who imports what, read from the source: the picture of the packages is drawn from it, and the tests judge it.

Must not know: what is allowed.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
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

    @property
    def imported(self) -> str | None:
        """The package of ours that is imported, or its public names; None: it is not ours."""
        first, *rest = self.name.split(".")
        if first != "chaosproxy":
            return None
        ours = rest and ((ROOT / first / rest[0]).is_dir() or (ROOT / first / f"{rest[0]}.py").is_file())
        return rest[0] if ours else "__init__"


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
    """Every module of the package with its file."""
    for path in sorted((ROOT / "chaosproxy").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def every_import() -> list[Import]:
    """Of every module."""
    return [
        one
        for name, path in modules()
        for one in imports_of(name, path.read_text(encoding="utf-8"), str(path.relative_to(ROOT)))
    ]
