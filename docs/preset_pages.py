"""What `make docs` writes of the presets: a page for each family, their list, and the scenario that each is by itself.

What stands there is the preset's own: its parameters, what it says of itself, and the faults that it is made of, read from
the scenario that they make. The files in `scenarios/presets` are what `chaosproxy scenarios NAME` prints.
"""

import inspect
import re
import sys
import textwrap
from pathlib import Path

import yaml

import chaosproxy.presets  # noqa: F401 -- its import registers the presets
from chaosproxy.presets.preset import PRESETS, Preset, Source, family_of
from chaosproxy.scenario.reference import Parameter, parameters
from docs import preset_limits

ROOT = Path(__file__).parent.parent
PAGES = ROOT / "docs" / "presets"
FILES = ROOT / "scenarios" / "presets"
COMMAND = "make docs"
WIDTH = 118
_REPEATED = re.compile(r"\s*Default:? [^.]*\.$")
_INTRODUCTION = """\
Real machines in front of a server, each made of [the ordinary faults](../faults/README.md), with its settings in its vendor's own words. By its name a preset is a scenario (`chaosproxy demo nginx-1.22`, `chaosproxy run nginx-1.22 --upstream URL`); in a scenario it is a hop, with parameters where the defaults do not fit, and with faults of your own behind it, nearer the client:

```yaml
version: 1
hops:
  - preset: nginx-1.22
  - {preset: nginx-1.31, proxy_read_timeout: 1m}
  - preset: nginx-1.31
    name: edge
    faults: [{latency: 20ms}]
```

`preset: NAME` in place of `hops:` is one hop. Between two machines HTTP/1.1 is spoken: what a machine does to clients over HTTP/2 alone, the one nearest the client does. Each page says what was measured on the real program, and what was not; [beside the real programs](../presets.md) has them row by row. `chaosproxy scenarios NAME` shows what a preset is made of."""
_MADE = f"<!-- Made by `{COMMAND}` from the presets' own file. -->"


def pages() -> dict[Path, str]:
    """Every page and every scenario with the text that it should have."""
    families: dict[str, list[type[Preset]]] = {}
    for name in sorted(PRESETS):
        families.setdefault(family_of(PRESETS[name]), []).append(PRESETS[name])
    made = {PAGES / f"{family}.md": _page(family, presets) for family, presets in sorted(families.items())}
    made[PAGES / "README.md"] = _index(families)
    return made | {FILES / f"{name}.yaml": scenario(spec) for name, spec in sorted(PRESETS.items())}


def _index(families: dict[str, list[type[Preset]]]) -> str:
    lines = [
        f"<!-- Made by `{COMMAND}`. -->\n\n# Presets\n\n{_INTRODUCTION}\n",
        "| preset | what it does |",
        "|---|---|",
    ]
    for family, presets in sorted(families.items()):
        lines += [f"| [{spec.name}]({family}.md#{_anchor(spec.name)}) | {spec.about} |" for spec in presets]
    lines += [
        "",
        "## How long they wait, and how they end",
        "",
        "With their defaults; what some gather depends on how the answer is framed, or on its type:",
        "",
        *preset_limits.table(),
    ]
    return "\n".join(lines) + "\n"


def _anchor(name: str) -> str:
    return name.replace(".", "")


def _page(family: str, presets: list[type[Preset]]) -> str:
    words = inspect.cleandoc(inspect.getdoc(inspect.getmodule(presets[0])) or "")
    title, _, rest = words.partition("\n\n")
    said = rest.partition("Must not know:")[0].strip()
    parts = [_MADE, f"# {family.replace('_', ' ')}", " ".join(title.split()), said]
    for spec in presets:
        parts += _section(spec)
    return "\n\n".join(part for part in parts if part) + "\n"


def _section(spec: type[Preset]) -> list[str]:
    parts = [f"## {spec.name}", spec.about, _parameters(spec), "With its defaults, and by itself, it is:"]
    whole = {"version": 1, **spec().alone(), "hops": [{"name": spec.name, "faults": spec().faults()}]}
    parts.append(f"```yaml\n{_yaml(whole)}```")
    parts.append(f"**Measured:** {spec.measured}")
    if spec.not_measured:
        parts.append(f"**Not measured, or left out:** {spec.not_measured}")
    if spec.sources:
        rows = ["|" + "".join(f" {cell} |" if cell else " |" for cell in _cells(one)) for one in spec.sources]
        parts.append("\n".join(["| what | grade | what it says | source | date |", "|---|---|---|---|---|", *rows]))
    return parts


def _cells(one: Source) -> tuple[str, ...]:
    where = f"<{one.where}>" if one.where.startswith("https://") else one.where
    return (one.what, one.grade, one.says, where, one.date)


def _parameters(spec: type[Preset]) -> str:
    lines = ["| parameter | value | default | meaning |", "|---|---|---|---|"]
    for one in parameters(spec, ()):
        default = f"`{one.default}`" if one.default else ""
        cells = (f"`{one.key}`", one.form, default, _words(one))
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |".replace("|  |", "| |"))
    return "\n".join(lines)


def _words(one: Parameter) -> str:
    return _REPEATED.sub("", one.words) if one.default else one.words


def scenario(spec: type[Preset]) -> str:
    """The file of the scenario that a preset is by itself: what it is, what may be turned, and what it is made of."""
    parts = [_wrapped(f"Measured: {spec.measured}", "# ", "#   ")]
    if spec.not_measured:
        parts.append(_wrapped(f"Not measured, or left out: {spec.not_measured}", "# ", "#   "))
    parts.append(f"# Reproduce: chaosproxy run {spec.name} --upstream URL\n")
    parts.append(f"version: 1\nname: {spec.name}\nabout: >-\n{_wrapped(spec.about, '  ', '  ')}")
    alone = spec().alone()
    if alone:
        parts.append(_yaml(alone))
    parts.append(f"hops:\n  - preset: {spec.name}\n")
    knobs = parameters(spec, ())
    if knobs:
        parts.append("    # What it may be told, and what holds where nothing is said:\n")
    for one in knobs:
        parts.append(_wrapped(f"{one.key}: {one.default or '...'}", "    # ", "    #   "))
        parts.append(_wrapped(_words(one), "    #     ", "    #     "))
    made = textwrap.indent(_yaml({"name": spec.name, "faults": spec().faults()}), "#    ").replace("#    ", "#  - ", 1)
    parts.append(f"# Which is:\n{made}")
    return "".join(parts)


def _wrapped(text: str, first: str, further: str) -> str:
    lines = textwrap.wrap(
        " ".join(text.split()),
        WIDTH,
        initial_indent=first,
        subsequent_indent=further,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines) + "\n"


class _Dumper(yaml.SafeDumper):
    """Writes a value that stands twice twice, and a text of several lines in lines."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


def _yaml(value: object) -> str:
    return yaml.dump(
        value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=WIDTH - 8, default_flow_style=None
    )


def main() -> int:
    """Write what has changed, and take away what no preset has."""
    made = pages()
    for folder in (PAGES, FILES):
        folder.mkdir(exist_ok=True)
        for path in set(folder.iterdir()) - made.keys():
            path.unlink()
    for path, text in made.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")  # noqa: T201 -- its result
    return 0


if __name__ == "__main__":
    sys.exit(main())
