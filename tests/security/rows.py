"""What the tests of this folder try, and what came of it: the rows behind the tables of `docs/security.md`.

A test that has looked at all inputs of a class says so with `shown`. In an ordinary run that is compared with the row in
`docs/security/`: what is tried, what must happen and what happens are as the page says. `make security` writes the rows,
with this machine's figures, and the page; a row that no test has written then is taken out. What is longer than a test
writes its row by `keep`.
"""

import json
import os
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs" / "security"
WRITE = "SECURITY_ROWS"
"""Set to `write`, what is shown is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One class of inputs. `tried` how many of them, `figure` what was measured, where there is something to measure."""

    name: str
    tried: int
    must: str
    happens: str
    figure: str = ""
    by: str = ""
    """The test or the command that shows it."""


def kept(section: str) -> list[Row]:
    """The rows of a section, in the order of the page."""
    file = FOLDER / f"{section}.json"
    return [Row(**row) for row in json.loads(file.read_text("utf-8"))] if file.exists() else []


def keep(section: str, row: Row) -> None:
    """Write a row in the place of the one of its name, or as the last."""
    rows = {one.name: one for one in kept(section)} | {row.name: row}
    _write(section, list(rows.values()))


def _write(section: str, rows: list[Row]) -> None:
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps([asdict(one) for one in rows], indent=1, ensure_ascii=False)
    (FOLDER / f"{section}.json").write_text(text + "\n", "utf-8")


_written: set[tuple[str, str]] = set()


def sections() -> list[str]:
    """All that have rows."""
    return sorted(file.stem for file in FOLDER.glob("*.json"))


def is_of_a_test(row: Row) -> bool:
    """Not of a command that takes longer."""
    return row.by.startswith("tests/security/")


def take_out_unwritten(left_out: Collection[str] = ()) -> None:
    """The rows of tests that are no more, behind a run of all tests that writes; not those of files that were `left_out`, if
    only in part: a test that did not run has not lost its row."""
    for section in sections():
        rows = [
            row
            for row in kept(section)
            if not is_of_a_test(row) or row.by in left_out or (section, row.name) in _written
        ]
        _write(section, rows)


def shown(section: str, row: Row) -> None:
    """What a test has seen is what the page says; figures are of the machine and the day."""
    if os.environ.get(WRITE) == "write":
        keep(section, row)
        _written.add((section, row.name))
        return
    there = {one.name: one for one in kept(section)}.get(row.name)
    assert there is not None, f"docs/security/{section}.json has no row {row.name!r}: `make security` writes it"
    seen, said = asdict(row) | {"figure": ""}, asdict(there) | {"figure": ""}
    assert seen == said, "`make security` writes what is shown now"
