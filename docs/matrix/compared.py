"""What came of the cases beside what was measured by hand: the same, or different with a reason.

`measured.yaml` has the cells of a day on which these clients were measured without this tool; `explained.yaml` says why
a cell may differ. Must not know: how a client is run, how a page looks.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import yaml

_MEASURED = Path(__file__).with_name("measured.yaml")
_EXPLAINED = Path(__file__).with_name("explained.yaml")
_MEASURED_CELL = re.compile(r"(\w+)(?: (?!in )(\S+))?(?: in (\d+ requests))?")
_SAME = {
    "loops": ("loops", "duplicated"),  # who asks again for ever has repeated what it showed
    "closed": ("whole",),  # who left is judged by what the server heard
    "dropped": ("whole", "hangs"),  # at once, or when the garbage collector comes
    "never": ("hangs",),
}
"""The verdicts that a word of the measurement may have become, where it is another."""

Seen = Mapping[str, Any]
"""What the card says of a case: `case`, `verdict`, `good`, `seen`."""
Found = Mapping[str, Mapping[str, Seen]]
"""By client and case."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One client in one column of what was measured, and in the case that stands for that column now."""

    client: str
    column: str
    case: str
    measured: str
    """`whole`, `raised APIError`, `whole in 2 requests` ..."""
    verdict: str
    seen: str

    @property
    def asked(self) -> bool:
        """The case was about the client, and its probe did what the case asks."""
        return self.verdict != "not_applicable"

    @property
    def same(self) -> bool:
        """The same verdict, the same error, as many requests."""
        parts = _MEASURED_CELL.fullmatch(self.measured)
        assert parts is not None, self.measured
        word, name, requests = parts.groups("")
        named = name == "its-own-loop" or name.replace("-", " ").lower() in _plain(self.seen)
        return self.verdict in _SAME.get(word, (word,)) and named and requests in self.seen

    @property
    def why(self) -> str | None:
        """The reason for a difference; None where nobody has found one."""
        return next((why for clients, columns, why in _explained() if self._among(clients, columns)), None)

    def _among(self, clients: list[str], columns: list[str]) -> bool:
        return any(fnmatchcase(self.client, one) for one in clients) and self.column in columns


def _plain(seen: str) -> str:
    """What was seen, with the numbers of curl's errors as the measurement has them."""
    return seen.lower().replace("curl: (", "exit ").replace("error: (", "err ")


@cache
def _explained() -> list[tuple[list[str], list[str], str]]:
    said = yaml.safe_load(_EXPLAINED.read_text(encoding="utf-8"))
    return [(one["clients"], one["columns"], one["why"]) for one in said]


@cache
def measured() -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, str]]]:
    """What each column is, and the cells of each client by column."""
    said = yaml.safe_load(_MEASURED.read_text(encoding="utf-8"))
    columns = said["columns"]
    return columns, {client: dict(zip(columns, cells, strict=True)) for client, cells in said["clients"].items()}


@cache
def by_hand() -> dict[str, dict[str, float | None]]:
    """By case of silence and client: seconds until it gave up or asked again with its defaults, None for longer than 640."""
    found: dict[str, dict[str, float | None]] = yaml.safe_load(_MEASURED.read_text(encoding="utf-8"))["defaults"]
    return found


def cells(found: Found) -> Iterator[Cell]:
    """Every cell that was measured and has been run again, client by client."""
    columns, clients = measured()
    for client in found:
        for column, word in clients.get(client, {}).items():
            seen = found[client].get(case_of(columns[column], client))
            if seen is not None:
                yield Cell(client, column, seen["case"], word, seen["verdict"], seen["seen"])


def case_of(column: Mapping[str, Any], client: str) -> str:
    """The case that stands for a column."""
    others = column.get("of", {}).items()
    return next((case for glob, case in others if fnmatchcase(client, glob)), column["case"])
