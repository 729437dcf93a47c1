"""`make docs`: draws the packages and who imports whom, `docs/architecture.svg`, and writes the table of them into
`docs/architecture.md`.

The rows are the layers that `pyproject.toml` gives the import linter, the arrows are the imports themselves. An arrow
that follows from others is left out of the picture; the table has them all.
"""

import ast
import re
import sys
import tomllib
from html import escape

from docs.imports import ROOT, every_import
from docs.layout import Edge, layout, needed

PAGE = ROOT / "docs" / "architecture.md"
PICTURE = ROOT / "docs" / "architecture.svg"
COMMAND = "make docs"
SHARED = "errors"
"""May be imported by all, and says nothing by being so: not drawn."""
BEGIN, END = f"<!-- packages: made by `{COMMAND}` -->", "<!-- /packages -->"

_WIDTH, _HEIGHT, _GAP, _ROW, _MARGIN = 132, 36, 32, 76, 16
_STYLE = """
  .box { fill: #f4f6f8; stroke: #57606a; }
  .line { fill: none; stroke: #57606a; stroke-width: 1.4; }
  .tip { fill: #57606a; }
  text { fill: #1f2328; font: 600 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; text-anchor: middle; }
  @media (prefers-color-scheme: dark) {
    .box { fill: #212830; stroke: #9198a1; }
    .line { stroke: #9198a1; }
    .tip { fill: #9198a1; }
    text { fill: #f0f6fc; }
  }
"""


def layers() -> list[list[str]]:
    """The rows, from above, as the linter is given them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    rows = next(one["layers"] for one in contracts if one["id"] == "layers")
    return [[name.strip() for name in row.split("|")] for row in rows]


def imports() -> set[Edge]:
    """Every package with every other that it imports."""
    pairs = {(one.package, one.imported) for one in every_import() if one.imported is not None}
    return {(importer, imported) for importer, imported in pairs if importer != imported}


def says(package: str) -> str:
    """The first sentence of its opening docstring."""
    path = ROOT / "chaosproxy" / package / "__init__.py"
    path = path if path.exists() else ROOT / "chaosproxy" / f"{package}.py"
    words = " ".join((ast.get_docstring(ast.parse(path.read_bytes())) or "").split())
    return re.split(r"\. (?=[A-Z`])", words)[0].rstrip(".")


def picture() -> str:
    """The drawing; SystemExit where an arrow leads upwards."""
    rows = [[one for one in row if one != SHARED] for row in layers()]
    rows = [row for row in rows if row]
    depth = {name: number for number, row in enumerate(rows) for name in row}
    edges = {edge for edge in needed(imports()) if depth.keys() >= set(edge)}
    for above, below in sorted(edges):
        if depth[above] >= depth[below]:
            sys.exit(f"{above} imports {below}, which is not below it: see the layers in pyproject.toml")
    plan = layout(rows, edges, _WIDTH, _GAP)
    wide = max(x for x, _ in plan.nodes.values()) + _WIDTH / 2 + 2 * _MARGIN
    high = (len(rows) - 1) * _ROW + _HEIGHT + 2 * _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.0f} {high}" width="{wide:.0f}" height="{high}">',
        "<title>The packages of chaosproxy; an arrow leads to what is imported</title>",
        f"<style>{_STYLE}</style>",
        '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">',
        '<path class="tip" d="M0 0L8 4L0 8z"/>',
        "</marker>",
        *(_line(points) for _, points in sorted(plan.edges.items())),
        *(_box(name, x, row) for name, (x, row) in plan.nodes.items()),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _box(name: str, x: float, row: int) -> str:
    left, top = x - _WIDTH / 2 + _MARGIN, row * _ROW + _MARGIN
    return (
        f'<rect class="box" x="{left:.0f}" y="{top}" width="{_WIDTH}" height="{_HEIGHT}" rx="6"/>'
        f'<text x="{x + _MARGIN:.0f}" y="{top + _HEIGHT / 2 + 5:.0f}">{escape(name)}</text>'
    )


def _line(points: list[tuple[float, int]]) -> str:
    """From box to box; where it passes a row, straight down between the boxes."""
    path, x_before, y_before = "", 0.0, 0
    for index, (middle, row) in enumerate(points):
        x, top = middle + _MARGIN, row * _ROW + _MARGIN
        if not index:
            path = f"M{x:.0f} {top + _HEIGHT}"
        else:
            half = (y_before + top) / 2
            path += f" C{x_before:.0f} {half:.0f} {x:.0f} {half:.0f} {x:.0f} {top}"
            path += f" V{top + _HEIGHT}" if index < len(points) - 1 else ""
        x_before, y_before = x, top + _HEIGHT
    return f'<path class="line" d="{path}" marker-end="url(#tip)"/>'


def table() -> str:
    """Every package by layer, with what it is in its own words, and what it imports."""
    order = [name for row in layers() for name in row]
    below: dict[str, set[str]] = {}
    for importer, imported in imports():
        below.setdefault(importer, set()).add(imported)
    lines = ["| package | what it is | imports |", "|---|---|---|"]
    for row in layers():
        for name in row:
            names = " ".join(f"`{one}`" for one in sorted(below.get(name, ()), key=order.index)) or "nothing of ours"
            lines.append(f"| `{name}` | {says(name).replace('|', chr(92) + '|')} | {names} |")
    return "\n".join(lines)


def page(now: str) -> str:
    """The page with a fresh table where the old one stands."""
    before, _, rest = now.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def main() -> int:
    """Write both."""
    PICTURE.write_text(picture(), encoding="utf-8")
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
