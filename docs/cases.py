"""`make docs`: writes the cases of the report card into `docs/report-card.md`, theme by theme, from the table that runs."""

import re
import sys
from itertools import groupby
from pathlib import Path

from chaosproxy.check.case import EVENT_STREAMS, GRPC, Case
from chaosproxy.check.table import CASES

PAGE = Path(__file__).parent / "report-card.md"
BEGIN, END = "<!-- cases: made by `make docs` -->", "<!-- /cases -->"
_ORDER = ("whole", "raised", "flagged", "truncated")


def page() -> str:
    """The page as it should be."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}{END}{after}"


def table() -> str:
    """The cases."""
    parts = []
    for theme, cases in groupby(CASES, lambda case: case.theme):
        parts.append(
            f"\n### {theme[0].upper()}{theme[1:]}\n\n| case | what happens | good | suite |\n|---|---|---|---|\n"
        )
        parts += [
            f"| `{case.id}` | {_cell(case.title)}{_about(case)} | {_good(case)} | {case.suite} |\n" for case in cases
        ]
    return "".join(parts) + "\n"


def _good(case: Case) -> str:
    if case.leaves:
        return "the server hears of it within 1 s"
    return ", ".join(name for name in _ORDER if name in case.good)


def _about(case: Case) -> str:
    about = []
    if case.kinds == EVENT_STREAMS:
        about.append("event streams")
    elif case.kinds and case.kinds != GRPC:  # that stands above them
        about.append(f"asked for {', '.join(sorted(case.kinds))}")
    if case.protocol:
        about.append({"h2": "HTTP/2", "http/1.1": "HTTP/1.1"}[case.protocol])
    if case.needs_timeout:
        about.append("needs `--timeout`")
    return f" ({'; '.join(about)})" if about else ""


def _cell(text: str) -> str:
    return re.sub(r"([|<])", r"\\\1", text)


def main() -> int:
    """Write it."""
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
