"""The page of what HTTP/2 and gRPC clients report, `docs/h2-clients.md`: its tables are those of a run.

`python -m tests.interop.h2_page` writes them anew; what stands around them is written by hand.
"""

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

import trio

from tests.interop.conftest import find
from tests.interop.h2_table import CLIENTS, GROUPS, reports

PAGE = Path(__file__).parents[2] / "docs" / "h2-clients.md"
COMMAND = "python -m tests.interop.h2_page"
_MADE = re.compile(r"(<!-- made by .*? -->\n)(.*)(<!-- /made -->\n)", re.DOTALL)

Reports = Mapping[tuple[str, str], str]
"""`{(fault, client): words}`."""


def versions() -> dict[str, str]:
    """Of each client, with those of what it stands on."""
    curl, nghttp, node = (
        subprocess.run([find(name), "--version"], capture_output=True, text=True, check=True).stdout
        for name in ("curl", "nghttp", "node")
    )
    core, h2 = metadata.version("grpcio"), f"h2 {metadata.version('h2')}"
    return {
        "grpcio": core,
        "grpcio.aio": core,
        "grpclib": f"{metadata.version('grpclib')} on {h2}",
        "httpx": f"{metadata.version('httpx')} on {h2}",
        "curl": f"{curl.split()[1]}, nghttp2 {curl.partition('nghttp2/')[2].split()[0]}",
        "nghttp": nghttp.rpartition("/")[2].strip(),
        "Node http2": node.strip().removeprefix("v"),
    }


def written(found: Reports, made_with: Mapping[str, str]) -> str:
    """The tables."""
    parts = [_table([["client", "version"], *([name, version] for name, version in made_with.items())])]
    for group, rows in GROUPS.items():
        cells = [[f"`{row.fault}`", *(found.get((row.fault, client), "") for client in CLIENTS)] for row in rows]
        parts.append(f"## {group}\n\n{_table([['fault', *CLIENTS], *cells])}")
    return "\n\n".join(parts) + "\n"


def _table(rows: list[list[str]]) -> str:
    lines = ["|" + "|".join(f" {cell} " if cell else " " for cell in row) + "|" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def read() -> tuple[dict[tuple[str, str], str], dict[str, str]]:
    """What stands on the page: the reports, and the versions of those who gave them."""
    found: dict[tuple[str, str], str] = {}
    made_with = {}
    for first, *others in _rows(PAGE.read_text(encoding="utf-8")):
        if first in CLIENTS:
            (made_with[first],) = others
        elif first.startswith("`"):
            told = zip(CLIENTS, others, strict=True)
            found |= {(first.strip("`"), client): words for client, words in told if words}
    return found, made_with


def _rows(text: str) -> Iterator[list[str]]:
    made = _MADE.search(text)
    assert made is not None, f"{PAGE.name} has no place for its tables"
    for line in made[2].splitlines():
        if line.startswith("| "):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def main() -> int:
    """Write it."""
    with TemporaryDirectory() as place:
        tables = written(trio.run(reports, Path(place)), versions())
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(_MADE.sub(lambda old: old[1] + tables + old[3], text), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
