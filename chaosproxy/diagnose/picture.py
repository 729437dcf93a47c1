"""The diagnosis on a terminal: each hop with its figures and the strip of its arrivals, all on one axis of time.

Rules: colours are those of the terminal, and none where it wants none; what a hop has said is text, never an escape
sequence. Must not know: how anything was measured.
"""

import textwrap
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from chaosproxy.client import strip
from chaosproxy.diagnose.assess import Report
from chaosproxy.diagnose.makers import hints
from chaosproxy.diagnose.observed import Variant
from chaosproxy.diagnose.remarks import left, remarks
from chaosproxy.diagnose.shape import Shape, median
from chaosproxy.diagnose.telling import Told, milliseconds, told
from chaosproxy.model.shown import LONGEST_LINE, inert, shown
from chaosproxy.model.units import counted

WIDEST, NARROWEST = 100, 40
INDENT = "  "
_ENDS = {"clean": "a clean end", "gave up": "left before its end"}
_SHOWN = ("server", "via", "x-cache", "age", "x-accel-buffering", "cache-control", "content-type", "content-length")


def draw(console: Console, report: Report) -> None:
    """The whole picture, no wider than the console."""
    width = max(NARROWEST, min(console.width, WIDEST))
    for line in _lines(report, width):
        if not console.encoding.startswith("utf"):
            line.plain = line.plain.translate(strip.ASCII).encode(console.encoding, "replace").decode(console.encoding)
        console.print(line, highlight=False, no_wrap=True, overflow="ignore", crop=False)


def _lines(report: Report, width: int) -> Iterator[Text]:
    variant = report.broken.finding.variant if report.broken is not None and report.broken.finding else Variant.PLAIN
    looks = [one.judged.get(variant, one.judged[Variant.PLAIN]).change.seen for one in report.seen]
    scale = strip.Scale.of([one.answer for one in looks], width - len(INDENT) - 1)
    for one, seen in zip(report.seen, looks, strict=True):
        colour = "green" if one.finding is None else "red"
        name = f"{one.hop.name}  " if one.hop.name else ""
        yield Text(shown(f"{one.number} {name}{one.hop.url}")[:width], style=f"bold {colour}")
        yield from _prose(", ".join(_facts(seen)), width, "", INDENT)
        yield from _prose(_headers(seen), width, "dim", INDENT)
        for remark in remarks(one):
            yield from _prose(remark, width, "", INDENT)
        if one.leaving is not None:
            yield from _prose(f"a client that leaves: {left(one.leaving)}", width, "", INDENT)
        for row in strip.rows(seen.answer, scale):
            yield Text(INDENT + row, style=colour)
    yield _axis(scale, variant)
    yield Text()
    yield from _verdict(told(report), width)


def _facts(seen: Shape) -> Iterator[str]:
    answer = seen.answer
    yield f"{'HTTP/2' if answer.protocol == 'h2' else 'HTTP/1.1'} {answer.status or 'no answer'}"
    yield f"head {milliseconds(answer.head)}"
    yield f"{'first event' if seen.counts == 'events' else 'first byte'} {milliseconds(seen.first)}"
    if seen.gaps:
        yield f"gaps p50 {milliseconds(median(seen.gaps))} max {milliseconds(max(seen.gaps))}"
    amount = f"{counted(seen.events, 'event')} in " if seen.events else ""
    yield f"{amount}{counted(len(seen.bursts), 'burst')} of {_usual(seen)}"
    yield f"{seen.size:,} bytes in {milliseconds(answer.ended)}"
    yield f"coding {shown(answer.header('content-encoding')) or 'none'}"
    if answer.framing is not None:
        yield f"framing {answer.framing.value}"
    yield _ENDS.get(answer.end, answer.end)


def _usual(seen: Shape) -> str:
    sizes = [float(burst.size) for burst in seen.bursts]
    return f"{int(median(sizes) or 0):,} bytes"


def _headers(seen: Shape) -> str:
    said = hints(seen.answer)
    return ", ".join(f"{name}: {shown(said[name])}" for name in _SHOWN if name in said)


def _axis(scale: strip.Scale, variant: Variant) -> Text:
    left, right = "0", milliseconds(scale.seconds)
    room = scale.columns - len(left) - len(right)
    asked = {Variant.PLAIN: "", Variant.CODED: ", with Accept-Encoding", Variant.DENSE: ", asked for many bytes"}[
        variant
    ]
    middle = f"one column: {scale.seconds / scale.columns * 1000:.3g} ms{asked}"
    return Text(f"{INDENT}{left}{middle:^{room}}{right}", style="dim")


def _verdict(verdict: Told, width: int) -> Iterator[Text]:
    yield from _prose(verdict.sentence, width, "bold")
    if verdict.mend:
        yield from _prose(f"What mends it: {verdict.mend}.", width)
    for title, lines in (
        ("evidence", verdict.evidence),
        ("it could also be", verdict.others),
        ("besides", verdict.further),
        ("thin evidence", verdict.thin),
    ):
        for line in lines:
            yield from _prose(f"{title}: {line}", width, "dim" if title == "evidence" else "", INDENT)


def _prose(text: str, width: int, style: str = "", indent: str = "") -> Iterator[Text]:
    safe = shown(" ".join(text.split()), LONGEST_LINE)
    for line in textwrap.wrap(safe, width, initial_indent=indent, subsequent_indent=indent + INDENT * bool(indent)):
        yield Text(inert(line), style=style)
