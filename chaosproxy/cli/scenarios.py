"""`chaosproxy scenarios [NAME]`: the shipped scenarios by theme, or the text of one.

Rules: names only, never a path; what a variable of the environment would change in a scenario is not shown, so that a
wrong one cannot hide the list. Must not know: what a scenario does.
"""

import json
import re
import shutil
import textwrap
from pathlib import Path

import click

from chaosproxy.errors import UsageError
from chaosproxy.scenario import library

WIDEST = 120
"""Columns; longer lines are hard to read."""
_SENTENCE = re.compile(r".*?\.(?= |$)")
"""The first of a text."""


@click.command("scenarios")
@click.argument("name", required=False, metavar="[NAME]")
@click.option("--json", "as_json", is_flag=True, help="A list of {name, theme, about, file}.")
def command(name: str | None, as_json: bool) -> None:
    """List the shipped scenarios by theme (of one, if NAME is a theme), or print the one called NAME, comments included."""
    files = library.shipped()
    if name in set(map(library.theme, files.values())):
        files = {one: path for one, path in files.items() if library.theme(path) == name}
        name = None
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
    """The themes with their scenarios, each with what it is about in one sentence, and how to go on from here."""
    width = min(shutil.get_terminal_size().columns, WIDEST)
    facts = [_facts(path) for path in files]
    column = min(max(len(one["name"]) for one in facts), width // 2) + 4
    lines: list[str] = []
    theme = None
    for one in facts:
        if one["theme"] != theme:
            theme = one["theme"]
            lines += ["", theme or "others"]
        sentence = _SENTENCE.match(one["about"])
        about = sentence[0] if sentence else one["about"]
        lines += textwrap.wrap(
            about, width, initial_indent=f"  {one['name']:<{column - 2}}", subsequent_indent=" " * column
        )
    lines += ["", "chaosproxy scenarios NAME prints one, demo NAME shows it, run NAME --upstream URL uses it."]
    return "\n".join(lines[1:])
