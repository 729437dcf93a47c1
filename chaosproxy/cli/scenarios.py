"""`chaosproxy scenarios [NAME]`: the shipped scenarios by theme, or the text of one.

Rules: names only, never a path; what a variable of the environment would change in a scenario is not shown, so that a
wrong one cannot hide the list. Must not know: what a scenario does.
"""

import json
import shutil
import textwrap
from pathlib import Path

import click

from chaosproxy.errors import UsageError
from chaosproxy.scenario import library

WIDEST = 120
"""Columns; longer lines are hard to read."""


@click.command("scenarios")
@click.argument("name", required=False, metavar="[NAME]")
@click.option("--json", "as_json", is_flag=True, help="A list of {name, theme, about, file}.")
def command(name: str | None, as_json: bool) -> None:
    """List the shipped scenarios by theme, or print the one called NAME, comments included."""
    files = library.shipped()
    if name is not None:
        files = {name: _file(name, files)}
    if as_json:
        click.echo(json.dumps([_facts(path) for path in files.values()], indent=2, ensure_ascii=False))
    elif name is not None:
        click.echo(files[name].read_text(encoding="utf-8"), nl=False)
    else:
        click.echo(_listing(list(files.values())))


def _file(name: str, files: dict[str, Path]) -> Path:
    if name not in files:
        raise UsageError(library.unknown(name))
    return files[name]


def _facts(path: Path) -> dict[str, str]:
    from chaosproxy.scenario.load import load  # noqa: PLC0415 - its libraries are loaded by whoever needs them

    return {
        "name": path.stem,
        "theme": library.theme(path),
        "about": " ".join(load(path, env={}).about.split()),
        "file": str(path),
    }


def _listing(files: list[Path]) -> str:
    """The themes with their scenarios, each with what it is about, and how to go on from here."""
    width = min(shutil.get_terminal_size().columns, WIDEST)
    lines: list[str] = []
    theme = None
    for path in files:
        facts = _facts(path)
        if facts["theme"] != theme:
            theme = facts["theme"]
            lines += ["", theme or "others"]
        lines.append(f"  {facts['name']}")
        lines += textwrap.wrap(facts["about"], width, initial_indent=" " * 6, subsequent_indent=" " * 6)
    lines += ["", "chaosproxy scenarios NAME prints one, demo NAME shows it, run NAME --upstream URL uses it."]
    return "\n".join(lines[1:])
