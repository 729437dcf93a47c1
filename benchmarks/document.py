"""The figures of the documents, from one run: `python -m benchmarks.document [FILE]`.

FILE is what `python -m benchmarks --json FILE` wrote; it is condensed to docs/performance.json. From that, and nothing else,
come the tables between the markers in docs/performance.md and README.md, and docs/performance.svg. Without FILE they are
made anew from what is there.
Rules: what stands between the markers is written by this alone.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import chart, report, targets
from benchmarks.programs import ROOT

FIGURES = Path("docs/performance.json")
_BEGIN, _END = "<!-- figures -->", "<!-- end of figures -->"
_ENOUGH = 5
"""Rounds of a measurement."""


def condensed(run: dict) -> dict:
    """Of a run what the documents show."""
    summary = {
        scene: {
            row: {key: float(f"{numbers[key]:.4g}") for key in report.shown(scene) if key in numbers}
            for row, numbers in rows.items()
        }
        for scene, rows in run["summary"].items()
    }
    said = [one | {"value": one["value"] and float(f"{one['value']:.4g}")} for one in run["targets"]]
    kept = {key: run[key] for key in ("machine", "asked", "titles", "absent")}
    return kept | {"took_seconds": round(run["took_seconds"]), "targets": said, "summary": summary}


def markdown(lines: Sequence[Sequence[str]]) -> str:
    """A table: its first line is the head, its first column stands to the left."""
    head, *rest = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]
    return "\n".join([head, "|---|" + "---:|" * (len(lines[0]) - 1), *rest])


def origin_of(figures: dict) -> str:
    """One sentence: where the figures come from."""
    machine, asked = figures["machine"], figures["asked"]
    peers = "".join(f", {name} {version}" for name, version in machine["peers"].items())
    rounds = asked["rounds"]
    said = (
        f"From one run of {max(1, round(figures['took_seconds'] / 60))} minutes on {machine['processors']} processors, "
        f"Python {machine['python']}{peers}; medians of {rounds} round{'s' if rounds > 1 else ''}."
    )
    return said if rounds >= _ENOUGH else f"{said} **A look, not a measurement: for that it takes {_ENOUGH} rounds.**"


def all_tables(figures: dict) -> str:
    """Every scene and the targets."""
    parts = [origin_of(figures)]
    for scene, rows in figures["summary"].items():
        title = figures["titles"][scene]
        parts.append(f"### {title[0].upper()}{title[1:]}")
        if rows:
            parts.append(markdown(report.cells(f"`{scene}`", scene, rows)))
        if absent := figures["absent"][scene]:
            parts.append("Not there: " + "; ".join(f"{name} ({reason})" for name, reason in absent.items()) + ".")
    parts += ["### Targets", markdown(targets.cells(figures["targets"]))]
    return "\n\n".join(parts)


def short_table(figures: dict) -> str:
    """What stands in the picture, and bulk, in numbers."""
    summary = figures["summary"]
    lines = [["", "CPU per event", "beside a bare splice", "p50 added", "p99 added"]]
    for name, numbers in chart.rows(summary):
        forms = (
            ("cpu_us_per_event", "{:.0f} us"),
            ("cpu_to_base", "{:.2f}"),
            ("added_p50_us", "{:.0f} us"),
            ("added_p99_us", "{:.0f} us"),
        )
        own = f"**{name}**" if name.startswith("chaosproxy") else name
        lines.append([own, *(form.format(numbers[key]) if key in numbers else "" for key, form in forms)])
    asked = figures["asked"]
    load = f"{asked['streams']} streams of {asked['rate']:g} events a second"
    return f"{load}. {origin_of(figures)}\n\n{markdown(lines)}"


def filled(text: str, figures: str) -> str:
    """`text` with `figures` between its markers. ValueError if it has none."""
    before, begin, rest = text.partition(_BEGIN)
    _, end, behind = rest.partition(_END)
    if not begin or not end:
        raise ValueError(f"no {_BEGIN} ... {_END}")
    return f"{before}{begin}\n\n{figures}\n\n{end}{behind}"


def documents(figures: dict, root: Path = ROOT) -> dict[Path, str]:
    """What each document has to be."""
    page, readme = Path("docs/performance.md"), Path("README.md")
    return {
        page: filled((root / page).read_text(), all_tables(figures)),
        readme: filled((root / readme).read_text(), short_table(figures)),
        Path("docs/performance.svg"): chart.picture(figures["summary"]),
    }


def main() -> None:
    """Condense, then write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.document", description="The figures of the documents.")
    parser.add_argument("file", type=Path, nargs="?", help="of python -m benchmarks --json FILE")
    given = parser.parse_args()
    if given.file is not None:
        try:
            figures = condensed(json.loads(given.file.read_text()))
        except (OSError, ValueError, KeyError) as error:
            sys.exit(f"{given.file}: not the result of a run: {error!r}")
        (ROOT / FIGURES).write_text(json.dumps(figures, indent=1) + "\n")
    figures = json.loads((ROOT / FIGURES).read_text())
    for path, text in documents(figures).items():
        (ROOT / path).write_text(text)


if __name__ == "__main__":
    main()
