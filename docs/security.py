"""`make security` writes the tables of `docs/security.md` from `docs/security/`, which its tests and commands have written."""

import re
import sys
from pathlib import Path

from tests.security.rows import Row, kept

PAGE = Path(__file__).parent / "security.md"
BEGIN, END = "<!-- tables: made by `make security` -->", "<!-- /tables -->"
SECTIONS = {
    "framing": "HTTP/1.1: framing and smuggling",
    "http2": "HTTP/2: conformance",
    "attacks": "HTTP/2: attacks",
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
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{tables()}{END}{after}"


def tables() -> str:
    """One for each section that has rows."""
    parts = []
    for section, title in SECTIONS.items():
        rows = kept(section)
        if rows:
            parts.append(
                f"\n### {title}\n\n| class | tried | must | happens | figure | shown by |\n|---|---:|---|---|---|---|\n"
            )
            parts += [_line(row) for row in rows]
    return "".join(parts) + "\n"


def _line(row: Row) -> str:
    cells = (row.name, f"{row.tried:,}", row.must, row.happens, row.figure, f"`{row.by}`" if row.by else "")
    return "| " + " | ".join(re.sub(r"([|<])", r"\\\1", cell) for cell in cells) + " |\n"


def main() -> int:
    """Write it."""
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
