"""`make docs`: writes the pages of the faults, `docs/faults/*.md`, and fills in that of the expectations.

A page says what the fault says of itself (its file's docstrings, types and defaults). Two things on it are written by
hand and kept: its group, and what stands under "Examples". Behind `<!-- play: NAME -->` comes what the scenario above
it makes of a script of `docs/timeline.py`, played anew each time.
"""

import re
import sys
from pathlib import Path

import chaosproxy.faults  # noqa: F401 -- its import registers the faults
from chaosproxy.chain.fault import REGISTRY
from chaosproxy.scenario.reference import Reference, reference
from docs import expectations, preset_pages
from docs.timeline import timeline

FAULTS = Path(__file__).parent / "faults"
COMMAND = "make docs"
MADE = f"<!-- Made by `{COMMAND}` from the fault's own file; by hand are the group and the examples. -->"
GROUPS = {
    "time": "Time",
    "holding": "Holding",
    "limits": "Limits and endings",
    "content": "Content",
    "http1": "HTTP/1",
    "http2": "HTTP/2",
    "grpc": "gRPC",
    "connection": "Connections",
    "abort chain": "The abort chain",
    "admission": "Admission",
    "other": "Other",
}
_GROUP = re.compile(r"<!-- group: (.*?) -->")
_EXAMPLES = re.compile(r"^## Examples\n(.*?)(?=^## )", re.DOTALL | re.MULTILINE)
_SCENARIO = re.compile(r"```yaml\n(.*?)```", re.DOTALL)
_PLAY = re.compile(r"<!-- play: (.*?) -->\n(?:```text\n.*?```\n)?", re.DOTALL)
_REPEATED = re.compile(r"\s*Default:? `?[^\s,;]+`?\.$")


def pages() -> dict[Path, str]:
    """Every page with the text that it should have; built on what is on it now."""
    made = {FAULTS / f"{name}.md": page(reference(REGISTRY[name]), _now(name)) for name in sorted(REGISTRY)}
    made[FAULTS / "README.md"] = index(made)
    made[expectations.PAGE] = expectations.page(expectations.PAGE.read_text(encoding="utf-8"))
    return made


def _now(name: str) -> str:
    path = FAULTS / f"{name}.md"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def page(fault: Reference, now: str) -> str:
    """One fault's page; `now` is what stands there, for what is written by hand."""
    group = found[1] if (found := _GROUP.search(now)) else "other"
    examples = found[1].strip("\n") if (found := _EXAMPLES.search(now)) else ""
    parts = [
        f"{MADE}\n<!-- group: {group} -->",
        f"# {fault.name}",
        fault.does,
        fault.imitates,
        "## Examples",
        _played(examples),
        "## Parameters",
        fault.summary,
        _parameters(fault),
        "## Where it may stand",
        _standing(fault),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _played(examples: str) -> str:
    """The examples with a fresh timeline at every place that asks for one."""
    parts, done = [], 0
    for found in _PLAY.finditer(examples + "\n"):
        scenario = _SCENARIO.findall(examples[: found.start()])[-1]
        parts += [examples[done : found.start()], f"<!-- play: {found[1]} -->\n"]
        parts.append(f"```text\n{timeline(scenario, found[1])}\n```\n")
        done = found.end()
    return ("".join(parts) + examples[done:]).strip("\n")


def _parameters(fault: Reference) -> str:
    lines = ["| parameter | value | default | meaning |", "|---|---|---|---|"]
    for one in fault.parameters:
        default = "required" if one.default is None else f"`{one.default}`" if one.default else ""
        words = _REPEATED.sub("", one.words) if default else one.words
        cells = (f"`{one.key}`", one.form, default, words)
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |".replace("|  |", "| |"))
    bare = "It needs a mapping." if fault.main is None else f"A bare value is `{fault.main}`."
    return "\n".join(lines) + f"\n\n{bare} How durations, sizes, places and endings are written: {_LANGUAGE}."


_LANGUAGE = "[the language](../scenarios.md)"


def _standing(fault: Reference) -> str:
    at = {
        "required": "required",
        "optional": f"allowed; without it, {fault.without_at}",
        "none": "no: it acts on the whole exchange" if fault.in_hops else "no: it acts on the whole connection",
    }[fault.at]
    first, *others = [f"`{way}`" for way in reversed(fault.ways)]
    ways = f"{first}, or {' or '.join(others)}" if others else f"{first} only"
    if fault.way:
        ways += f". {_REPEATED.sub('', fault.way)}"
    rows = [
        ("`at:`", at),
        ("`way:`", ways),
        ("`if:`", "allowed" if fault.in_hops else "no: a connection has no head"),
        ("under `connections:`", _below(fault)),
    ]
    if fault.edits_body:
        rows.append(("length of the body", "may change: Content-Length is removed when the head passes"))
    if fault.codes_body:
        rows.append(("records", "cannot be read by faults nearer the client: the body is coded behind it"))
    return "\n".join(["| | |", "|---|---|", *(f"| {key} | {value} |" for key, value in rows)])


def _below(fault: Reference) -> str:
    if not fault.in_hops:
        return "there, and nowhere else" + (": on the session of one that speaks HTTP/2" if fault.on_sessions else "")
    if fault.on_sessions:
        return "yes, on the session of one that speaks HTTP/2; without `if:`"
    return "yes, on the raw bytes of the connection" if fault.on_connections else "no"


def index(made: dict[Path, str]) -> str:
    """The list of all faults, by group."""
    grouped: dict[str, list[Path]] = {group: [] for group in GROUPS}
    for path, text in made.items():
        found = _GROUP.search(text)
        assert found is not None
        grouped[found[1] if found[1] in GROUPS else "other"].append(path)
    lines = [f"<!-- Made by `{COMMAND}`. -->", "# Faults", "", "Each is one file in `chaosproxy/faults/`.", ""]
    for group, paths in grouped.items():
        if paths:
            lines += [f"## {GROUPS[group]}", "", "| fault | what the machine does |", "|---|---|"]
            lines += [f"| [{path.stem}]({path.name}) | {reference(REGISTRY[path.stem]).does} |" for path in paths]
            lines.append("")
    lines += ["What all of them share (`at`, `then`, `if`, units): [the language](../scenarios.md)."]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write what has changed and say so."""
    FAULTS.mkdir(exist_ok=True)
    for path, text in pages().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}")  # noqa: T201 -- its result
    return preset_pages.main()


if __name__ == "__main__":
    sys.exit(main())
