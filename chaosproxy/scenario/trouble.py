"""Collects what is wrong with one source, with places, up to a sensible number.

Rules: every problem is kept in file order at the end; the shown line is one line and cannot move a terminal's cursor.
Must not know: YAML, what the values mean.
"""

import re
from collections.abc import Iterable
from difflib import get_close_matches

from chaosproxy.errors import Problem
from chaosproxy.scenario.nodes import Place

MOST_PROBLEMS = 100
WIDEST_LINE = 300
_BREAK = re.compile("\r\n|[\r\n\x85\u2028\u2029]")


class Unreadable(Exception):
    """Reading on makes no sense; what is wrong has been noted."""


class Trouble:
    """The problems of one source: `file` is its name for messages, `text` what it holds ("" for a Python structure)."""

    def __init__(self, file: str, text: str = "") -> None:
        self.file = file
        self._lines: list[str] = []
        self.show(text)
        self._problems: list[Problem] = []
        self.refused = False
        """Something was wrong that is more than a warning."""
        self._left_out = 0

    def show(self, text: str) -> None:
        """Take the lines of `text` for the carets from now on."""
        self._lines = _BREAK.split(text) if text else []

    @property
    def full(self) -> bool:
        """Further problems are only counted."""
        return len(self._problems) >= MOST_PROBLEMS

    def add(self, message: str, place: Place, *, warning: bool = False, unreadable: bool = False) -> None:
        self.refused |= not warning
        if self.full:
            self._left_out += 1
            return
        line, said, path = self._line(place), _still(message), _still(place.path)
        problem = Problem(said, self.file, place.line, place.column, line, warning, unreadable, path)
        if problem not in self._problems:  # a shared node is wrong once
            self._problems.append(problem)

    def fatal(self, message: str, place: Place) -> Unreadable:
        """Note it; the caller raises what is returned."""
        self.add(message, place)
        return Unreadable(message)

    def nowhere(self, message: str) -> Unreadable:
        """`fatal` for a file that cannot be read at all."""
        self.add(message, Place(), unreadable=True)
        return Unreadable(message)

    @property
    def problems(self) -> list[Problem]:
        """All of them, in the order of the file."""
        found = sorted(self._problems, key=lambda problem: (problem.line, problem.column))
        if self._left_out:
            found.append(Problem(f"and {self._left_out} further problems", self.file))
        return found

    def _line(self, place: Place) -> str:
        if not 0 < place.line <= len(self._lines):
            return ""
        line = self._lines[place.line - 1]
        if place.column > WIDEST_LINE:
            return ""  # the caret would stand nowhere near it
        return "".join(c if c.isprintable() else " " if c == "\t" else "\ufffd" for c in line[:WIDEST_LINE])


def _still(text: str) -> str:
    """A key of the file may stand in it, which may hold anything."""
    return text if text.isprintable() else "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)


def nearest(word: str, allowed: Iterable[str]) -> str:
    """` did you mean 'x'?`, or nothing if nothing is near."""
    close = nearest_name(word, allowed)
    return f" did you mean {close!r}?" if close else ""


def nearest_name(word: str, allowed: Iterable[str]) -> str:
    """The allowed name that looks most like `word`, or nothing if none does."""
    if len(word) > 60:
        return ""
    by_lower = {name.lower(): name for name in allowed}
    close = get_close_matches(word.lower().replace("-", "_"), by_lower, n=1, cutoff=0.6) or get_close_matches(
        word.lower(), by_lower, n=1, cutoff=0.6
    )
    return by_lower[close[0]] if close else ""
