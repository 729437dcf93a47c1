"""What the presets of managed hops are known from: each figure with its value, how firm it is, the vendor's page, and what that
says, in our words.

The figures are data, one line each, in `data/FAMILY.toml`; they are read when somebody asks for them, which is for the pages
and the tests. Addresses are those of the pages; what was read are stored copies, of the date that is given where one is
known. Must not know: what a preset makes of them.
"""

import functools
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import overload

from chaosproxy.presets.preset import Grade, Source

DATA = Path(__file__).parent / "data"


@functools.cache
def figures(family: str) -> dict[str, tuple[Source, ...]]:
    """Those of every preset of a family, by its name."""
    told: dict[str, list[tuple[str, str, Grade, str, str, str]]]
    told = tomllib.loads((DATA / f"{family}.toml").read_text(encoding="utf-8"))
    return {
        name: tuple(
            Source(f"{of}: {value}" if value else of, where, grade, date, says)
            for of, value, grade, date, where, says in lines
        )
        for name, lines in told.items()
    }


class Figures(Sequence[Source]):
    """Those of one preset, read at the first look."""

    def __init__(self, family: str, name: str) -> None:
        self._family, self._name = family, name

    @property
    def _all(self) -> tuple[Source, ...]:
        return figures(self._family)[self._name]

    def __len__(self) -> int:
        return len(self._all)

    @overload
    def __getitem__(self, which: int) -> Source: ...
    @overload
    def __getitem__(self, which: slice) -> Sequence[Source]: ...
    def __getitem__(self, which: int | slice) -> Source | Sequence[Source]:
        return self._all[which]
