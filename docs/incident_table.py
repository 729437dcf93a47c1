"""`make docs`: writes the table of incidents, `docs/incidents.md`, from `docs/incidents/*.yaml`.

Each entry is one failure that somebody met in production and described in public, with the scenario that reproduces it.
Its keys: `what` went wrong, where it was `seen`, the `scenario`, `with` which knobs, what the `wire` shows, the `test`.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

ENTRIES = Path(__file__).parent / "incidents"
PAGE = Path(__file__).parent / "incidents.md"
_HEAD = """<!-- Made by `make docs` from the files in `docs/incidents/`. -->

# Incidents

Failures of streams that people met in production and described in public, each with the scenario that makes them happen on your machine, and the test that shows what is then on the wire. The command of each stands at the head of its scenario (`chaosproxy scenarios NAME`); where none of them is yours: [reproducing an incident](reproducing.md).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """One entry."""

    what: str
    seen: tuple[str, ...]
    """Where it was described: `owner/repository #number`, or an address."""
    scenario: str
    with_: Mapping[str, str] = field(default_factory=dict)
    wire: str
    test: str
    """`tests/FILE.py::NAME`."""

    @property
    def command(self) -> str:
        """What reproduces it in front of a server of one's own."""
        knobs = "".join(f"{name}={_quoted(value)} " for name, value in self.with_.items())
        return f"{knobs}chaosproxy run {self.scenario} --upstream URL"


def _quoted(value: str) -> str:
    return value if value.replace(".", "").replace("-", "").replace("/", "").isalnum() else f"'{value}'"


def incidents() -> dict[str, list[Incident]]:
    """All of them by theme, in the order of the files."""
    return {
        path.stem: [
            Incident(
                what=entry["what"],
                seen=tuple(entry["seen"]),
                scenario=entry["scenario"],
                with_={name: str(value) for name, value in entry.get("with", {}).items()},
                wire=entry["wire"],
                test=entry["test"],
            )
            for entry in yaml.safe_load(path.read_text(encoding="utf-8"))
        ]
        for path in sorted(ENTRIES.glob("*.yaml"))
    }


def page() -> str:
    """The page as it should be."""
    parts = [_HEAD]
    for theme, found in incidents().items():
        parts.append(f"## {theme.capitalize().replace('-', ' ')}\n")
        rows = [_row(incident) for incident in found]
        parts.append("\n".join(["| incident | scenario | on the wire | test |", "|---|---|---|---|", *rows, ""]))
    return "\n".join(parts)


def _row(incident: Incident) -> str:
    knobs = "".join(f", `{name}={value}`" for name, value in incident.with_.items())
    file, _, name = incident.test.partition("::")
    cells = (
        f"{incident.what} ({'; '.join(incident.seen)})",
        f"[{incident.scenario}](shipped-scenarios.md#{incident.scenario}){knobs}",
        incident.wire,
        f"[{name}](../{file})",
    )
    return f"| {' | '.join(' '.join(cell.split()).replace('|', chr(92) + '|') for cell in cells)} |"


def main() -> int:
    """Write it."""
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
