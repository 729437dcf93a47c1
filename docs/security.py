"""`make security`: writes the limits and the tables of `docs/security.md`.

The limits are read from the code, the tables from `docs/security/`, where tests and commands have written their rows.
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from docs.limits import LIMITS
from tests.security.rows import Row, kept

PAGE = Path(__file__).parent / "security.md"
SECTIONS = {
    "framing": "HTTP/1.1: framing and smuggling",
    "http2": "HTTP/2: conformance",
    "attacks": "Attacks, over HTTP/2 where nothing else is said",
    "slow": "Slow and vanished peers",
    "files": "Files, patterns and strings",
    "secrets": "Secrets and output",
    "process": "The process",
    "matrix": "What can happen in each state",
    "fuzzing": "Fuzzing",
    "held": "Soak and load",
    "differential": "Beside other proxies",
}
"""The files of `docs/security/`, in the order of the page."""


def page() -> str:
    """The page as it should be."""
    return _filled(_filled(PAGE.read_text(encoding="utf-8"), "limits", limits()), "tables", tables())


def _filled(text: str, name: str, made: str) -> str:
    before, begin, rest = text.partition(f"<!-- {name}: made by `make security` -->")
    _, end, after = rest.partition(f"<!-- /{name} -->")
    return f"{before}{begin}\n{made}\n{end}{after}"


def limits() -> str:
    """One line for each, with the value that the code has."""
    lines = [(one.what, one.shown, one.beyond, f"`{one.name}`") for one in LIMITS]
    return _table(("of what", "at most", "beyond it", "name"), lines)


def tables() -> str:
    """One for each section that has rows."""
    heads = ("class", "tried", "must", "happens", "figure", "shown by")
    parts = [
        f"### {title}\n\n{_table(heads, [_cells(row) for row in kept(section)])}"
        for section, title in SECTIONS.items()
        if kept(section)
    ]
    return "\n".join(parts)


def _cells(row: Row) -> Sequence[str]:
    return row.name, f"{row.tried:,}", row.must, row.happens, row.figure, f"`{row.by}`" if row.by else ""


def _table(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rule = ["---:" if head in {"tried", "at most"} else "---" for head in heads]
    escaped = [[re.sub(r"([|<])", r"\\\1", cell) for cell in line] for line in lines]
    return "".join("| " + " | ".join(cells) + " |\n" for cells in (heads, rule, *escaped))


def main() -> int:
    """Write it."""
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
