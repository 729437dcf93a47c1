"""The page `docs/presets.md`, of one run of the whole comparison."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from tests.differential.compare import Result
from tests.differential.programs import PROGRAMS
from tests.differential.settings import PEERS

PAGE = Path(__file__).parents[2] / "docs" / "presets.md"
HEAD = """<!-- Made by `make differential`: one run of everything below. -->

# Presets beside the real programs

Each row was asked twice, at the same time, by the same client of the same origin: once through the real program, once through its [preset](presets/README.md) with the same setting. What is compared is what a client, or the origin, can notice: when the head comes, how events are spread, the coding and where it is flushed, how a broken answer ends, who notices that a client has left, what becomes of one that does not read, and when patience ends. Delays are told in events of the origin where they can be, so that a busy machine changes nothing. `h1` is HTTP/1.1, `h2` HTTP/2 with prior knowledge; the origin answers over HTTP/1.1, in chunks, with a length, or until it closes. An ordinary stream is 24 events of 400 bytes, 50 ms apart; a broken one ends, or falls silent, after 8.

Where the two disagree the row says **no**, and why stands below the table. `make differential` does it again, in about a minute; `make test` does the same with what is installed, and fails for a disagreement that is not known, and for a known one that has gone. The programs are those of Debian 12 and of PyPI (the extra `peers`); on Linux `.ci/run` installs all of them.
"""


def page(results: Iterable[Result], versions: Mapping[str, str], known: Mapping[str, str]) -> str:
    """The whole of it."""
    by_program = {name: list(found) for name, found in groupby(results, key=lambda one: one.row.program)}
    parts = [HEAD, _summary(by_program, versions)]
    for name, found in by_program.items():
        parts.append(f"## {name}\n\n{_from(name, versions[name])}\n")
        parts.append(_table(found))
        parts += _reasons(found, known)
    return "\n".join(parts)


def _summary(by_program: Mapping[str, Sequence[Result]], versions: Mapping[str, str]) -> str:
    lines = ["| program | version | rows | agree | disagree |", "|---|---|---:|---:|---:|"]
    for name, found in by_program.items():
        agree = sum(one.agrees for one in found)
        link = f"[{name}](#{anchor(name)})"
        lines.append(f"| {link} | {versions[name]} | {len(found)} | {agree} | {len(found) - agree} |")
    return "\n".join([*lines, ""])


def anchor(name: str) -> str:
    """Of a heading."""
    return re.sub(r"[^\w-]", "", name.lower())


def _from(name: str, version: str) -> str:
    program = PROGRAMS[name]
    where = f"`{program.wheel}` on PyPI" if program.wheel else f"Debian's `{program.package}`"
    return f"{program.command} {version}, {where}."


def _table(found: Sequence[Result]) -> str:
    """Both protocols in one line where nothing is different."""
    lines = ["| setting | what is asked | over | real | preset | agree |", "|---|---|---|---|---|---|"]
    for (setting, rule), of_rule in groupby(found, key=lambda one: (one.row.setting, one.row.rule)):
        cells: dict[tuple[str, str, bool], list[str]] = {}
        for one in of_rule:
            cells.setdefault((str(one.real), str(one.preset), one.agrees), []).append(one.row.protocol)
        for (real, preset, agrees), protocols in cells.items():
            row = (setting, rule, ", ".join(protocols), real, preset, "yes" if agrees else "**no**")
            lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |")
    return "\n".join([*lines, ""])


def _reasons(found: Sequence[Result], known: Mapping[str, str]) -> list[str]:
    reasons: dict[str, list[str]] = {}
    for one in found:
        if not one.agrees:
            why = known.get(str(one.row), "Not explained yet.")
            reasons.setdefault(why, []).append(f"{one.row.setting}: {one.row.rule} ({one.row.protocol})")
    return ["\n".join([f"- {why} *{'; '.join(rows)}*" for why, rows in reasons.items()] + [""])] if reasons else []


def rows_on(text: str) -> dict[str, bool]:
    """The rows that a page has, and whether they agree."""
    rows: dict[str, bool] = {}
    program = ""
    for line in text.splitlines():
        if line.startswith("## "):
            program = line.removeprefix("## ")
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if program in PEERS and len(cells) == 6 and cells[2].startswith("h"):
            for protocol in cells[2].split(", "):
                rows[" | ".join((program, cells[0], cells[1], protocol))] = cells[5] == "yes"
    return rows
