"""`make docs`: writes the page of the shipped scenarios, `docs/shipped-scenarios.md`, from their own words.

What stands there is each file's `about` and the parts of the comment at its head.
"""

import re
import sys
from itertools import groupby, takewhile
from pathlib import Path

from chaosproxy.scenario import library
from chaosproxy.scenario.load import load

PAGE = Path(__file__).parent / "shipped-scenarios.md"
_HEAD = """<!-- Made by `make docs` from the files in `scenarios/`. -->

# Shipped scenarios

Each is used by its name, nothing needs to be written: `chaosproxy demo NAME` shows it, `chaosproxy run NAME --upstream URL` puts it in front of a server, `chaosproxy scenarios NAME` prints it, as the start of one of your own. What is worth turning is a variable of the environment: `CHAOS_EVENT=1 chaosproxy run reset --upstream URL`.

Real machines, nginx and others, have [pages of their own](presets/README.md).
"""
PRESETS = "presets"
"""A theme with pages of its own."""
_TITLES = {"http2": "HTTP/2"}
_KNOB = re.compile(r"CHAOS_\w+")
_COMMAND = re.compile(r"(?:CHAOS_\w+=(?:'[^']*'|\S+) )*chaosproxy run .*?--upstream URL")
_MARKS = {
    "In the field": "In the field",
    "Seen": "Seen",
    "A good client": "A good client",
    "A bad client": "A bad client",
    "Knobs": "To turn",
    "Reproduce": "Reproduce",
}


def page() -> str:
    """The page as it should be."""
    parts = [_HEAD]
    for theme, files in groupby(library.shipped().values(), library.theme):
        if theme == PRESETS:
            continue
        parts.append(f"## {_TITLES.get(theme, theme.capitalize())}\n")
        parts += [_section(file) for file in files]
    return "\n".join(parts)


def _section(file: Path) -> str:
    about = " ".join(load(file, env={}).about.split())
    lines = [f"### {file.stem}", "", about, ""]
    for name, text in head(file).items():
        if text != "none.":
            marked = _COMMAND.sub(_as_code, text) if name == "Reproduce" else _KNOB.sub(_as_code, text)
            lines.append(f"- **{_MARKS[name]}:** {marked}")
    return "\n".join([*lines, ""])


def _as_code(found: re.Match[str]) -> str:
    return f"`{found[0]}`"


def head(file: Path) -> dict[str, str]:
    """The parts of the comment at the head of a scenario, by their names."""
    found: dict[str, str] = {}
    name = ""
    for line in takewhile(lambda line: line.startswith("#"), file.read_text(encoding="utf-8").splitlines()):
        text = line.removeprefix("# ")
        if not text.startswith(" "):
            name, _, text = text.partition(": ")
        found[name] = f"{found.get(name, '')} {text.strip()}".strip()
    return found


def main() -> int:
    """Write it."""
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
