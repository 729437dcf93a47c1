"""The picture of a demonstration, on a terminal, in a pipe, or as SVG.

Rules: a line `first event ...` for each of the two ways and for nothing else. Colours are those of the terminal, and
none where it wants none. Must not know: how anything was measured.
"""

import io
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.text import Text

from chaosproxy import files
from chaosproxy.client import strip
from chaosproxy.client.answer import Answer
from chaosproxy.demo.numbers import Numbers
from chaosproxy.demo.plan import EVENTS, Plan
from chaosproxy.demo.shown import Shown
from chaosproxy.demo.words import ending, meaning, milliseconds
from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.model.shown import LONGEST_LINE, inert
from chaosproxy.model.shown import shown as printable
from chaosproxy.model.units import show_duration
from chaosproxy.scenario.schema import Scenario

WIDEST, NARROWEST = 100, 40
SVG_COLUMNS = 80
INDENT = "  "
MOST_FIRED = 3
HEIGHT = ", its height: events"
_FONTS = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)


def draw(console: Console, scenario: Scenario, plan: Plan, seen: Shown) -> None:
    """The whole picture, no wider than the console."""
    width = max(NARROWEST, min(console.width, WIDEST))
    encoding = console.encoding
    for line in _lines(scenario, plan, seen, width):
        if not encoding.startswith("utf"):
            line.plain = line.plain.translate(strip.ASCII).encode(encoding, "replace").decode(encoding)
        console.print(line, highlight=False, no_wrap=True, overflow="ignore", crop=False)


def svg(file: Path, scenario: Scenario, plan: Plan, seen: Shown) -> None:
    """The same in a file, which asks nobody for fonts. OSError if it cannot be written."""
    console = Console(
        record=True,
        width=SVG_COLUMNS,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        no_color=False,
    )
    draw(console, scenario, plan, seen)
    drawn = console.export_svg(title=f"chaosproxy demo {printable(scenario.name)}", unique_id="demo")
    files.write(file, [_FONTS.sub("", drawn)])


def _lines(scenario: Scenario, plan: Plan, seen: Shown, width: int) -> Iterator[Text]:
    yield Text(inert(printable(scenario.name)), style="bold")
    yield from _prose(scenario.about, width)
    yield from _prose(_setting(plan), width, "dim")
    scale = strip.Scale.of([seen.direct, seen.through], width - len(INDENT) - 1)
    yield Text()
    yield from _way("straight to the server", seen.direct, scale, "green")
    yield Text()
    yield from _way(f"through {printable(scenario.name)}", seen.through, scale, "yellow")
    yield _axis(scale)
    if any(strip.BYTES in row for answer in (seen.direct, seen.through) for row in strip.rows(answer, scale)):
        yield Text(f"{INDENT}{strip.BYTES} bytes came, and no event", style="dim")
    yield from _prose(_account(seen.record), width, "dim", INDENT)
    yield Text()
    yield from _prose(meaning(seen.direct, seen.through), width, "bold")


def _prose(text: str, width: int, style: str = "", indent: str = "") -> Iterator[Text]:
    """Wrapped, with "first event" kept together by a space of another kind: a line with these words as they are is a
    measurement, for whoever searches for it."""
    safe = printable(" ".join(text.split()), LONGEST_LINE)
    glued = safe.replace("first event", "first\N{NO-BREAK SPACE}event")
    for line in textwrap.wrap(glued, width, initial_indent=indent, subsequent_indent=indent):
        yield Text(inert(line), style=style)


def _setting(plan: Plan) -> str:
    """What was asked, and how fast."""
    said = f"{plan.question.method} {plan.question.path}: {EVENTS} events, one every {milliseconds(plan.gap)}."
    if plan.speed != 1:
        here = f", so that {show_duration(plan.longest)} take {milliseconds(plan.longest / plan.speed)}"
        said += f" The scenario runs {plan.speed:.4g} times as fast{here if plan.longest else ''}."
    if plan.beside:
        said += f" Already running: {plan.beside} such stream{'s' * (plan.beside > 1)}."
    if plan.before:
        said += f" Sent before it: {plan.before} such request{'s' * (plan.before > 1)}."
    if not plan.taken:
        said += " No rule of the scenario takes any request that this demo can send."
    return said


def _way(title: str, answer: Answer, scale: strip.Scale, colour: str) -> Iterator[Text]:
    numbers = Numbers.of(answer)
    how = "HTTP/2" if answer.protocol == "h2" else "HTTP/1.1"
    yield Text.assemble((title, f"bold {colour}"), (f"  {how}, status {answer.status or 'none'}", "dim"))
    yield _fact("first event", "none" if numbers.first_event is None else milliseconds(numbers.first_event), "bold")
    gaps = "none"
    if numbers.gap_median is not None and numbers.gap_longest is not None:
        gaps = f"median {milliseconds(numbers.gap_median)}, longest {milliseconds(numbers.gap_longest)}"
    yield _fact("gaps", gaps)
    yield _fact("total", f"{milliseconds(numbers.total)}, {numbers.events} events")
    yield _fact("end", ending(answer))
    for row in strip.rows(answer, scale):
        yield Text(INDENT + row, style=colour)


def _fact(name: str, text: str, style: str = "") -> Text:
    return Text(f"{INDENT}{name:<13}{text}", style=style)


def _axis(scale: strip.Scale) -> Text:
    """The scale of both strips."""
    left, right = "0", milliseconds(scale.seconds)
    room = scale.columns - len(left) - len(right)
    middle = f"one column: {scale.seconds / scale.columns * 1000:.3g} ms"
    if len(middle + HEIGHT) + 2 <= room:
        middle += HEIGHT
    return Text(f"{INDENT}{left}{middle:^{room}}{right}", style="dim")


def _account(record: ExchangeRecord | None) -> str:
    """What the proxy says that it did, the same words once."""
    if record is None:
        return ""
    said = list(dict.fromkeys(f"{fired.fault}: {fired.detail}" for fired in record.faults))
    said += [f"{missed.fault} did not act: {missed.reason}" for missed in record.not_fired]
    more = f"; and {len(said) - MOST_FIRED} more" if len(said) > MOST_FIRED else ""
    return f"The proxy says: {'; '.join(said[:MOST_FIRED])}{more}." if said else ""
