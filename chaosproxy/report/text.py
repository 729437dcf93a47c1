"""A report as plain text of 80 columns: what was expected, how exchanges ended, then a waterfall of each.

Rules: no line is longer; colours are asked of `paint`, and what they say is said in words too. No line begins with what
a peer has sent. Must not know: terminals.
"""

import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

from chaosproxy.journal.record import Ending, ExchangeRecord
from chaosproxy.judging.check import Verdict
from chaosproxy.model.shown import inert, shown
from chaosproxy.model.units import counted
from chaosproxy.report.lanes import Lanes, column, lanes
from chaosproxy.report.line import ending
from chaosproxy.report.overview import Overview, Tone, facts, headline, milliseconds, status, tone
from chaosproxy.report.verdicts import verdicts as told

WIDTH = 80
NAMES = 13
"""Columns for what a row is."""
DRAWN = WIDTH - NAMES - 2
LEVELS = " ▁▂▃▄▅▆▇█"
SILENT, CLEAN, BROKEN = "·", "┤", "✗"
ASCII = str.maketrans("▁▂▃▄▅▆▇█·┤✗", "__..oo##.|x")
"""Where the encoding has none of these."""
NOT_FIRED = 5
Style = Tone | Literal["head", "dim"]
Paint = Callable[[str, Style], str]


def plain(text: str, _style: Style) -> str:
    """No colour."""
    return text


def pieces(records: Iterable[ExchangeRecord], verdicts: Sequence[Verdict], title: str) -> Iterator[str]:
    """Without colours."""
    return painted(records, verdicts, title, plain)


def painted(records: Iterable[ExchangeRecord], verdicts: Sequence[Verdict], title: str, paint: Paint) -> Iterator[str]:
    """Line by line, each with its line feed."""
    overview = Overview.of(records)
    name = f"chaosproxy report, {shown(title)}" if title else "chaosproxy report"
    yield paint(fit(f"{name}: {headline(overview, verdicts)}", WIDTH), "head") + "\n"
    if verdicts:
        kept = list(records)
        yield "\n"
        for line in told(verdicts, kept).splitlines():
            yield from _verdict_line(line, paint)
    yield from _groups(overview, paint)
    for record in records:
        yield "\n"
        yield from (line + "\n" for line in waterfall(record, paint))


def _verdict_line(line: str, paint: Paint) -> Iterator[str]:
    style: Style = "bad" if line.startswith("FAILED") else "good" if line.startswith("ok") else "dim"
    indent = len(line) - len(line.lstrip()) + 2
    for part in _wrapped(line, " " * indent):
        yield paint(part, style) + "\n"


def _groups(overview: Overview, paint: Paint) -> Iterator[str]:
    if not overview.total:
        return
    yield "\n"
    yield paint(f"{'exchanges':>9}  {'status':<6}  {'first event':>11}  {'end':>9}  ending", "dim") + "\n"
    for group in overview.groups:
        most = f"{milliseconds(group.first):>11}  {milliseconds(group.longest):>9}"
        row = f"{group.count:>9}  {group.status:<6}  {most}  "
        yield row + paint(fit(group.ending, WIDTH - len(row)), group.tone) + "\n"
    if len(overview.groups) < overview.total:
        yield paint(f"{'':>19}(of several exchanges the longest times)", "dim") + "\n"


def waterfall(record: ExchangeRecord, paint: Paint = plain) -> Iterator[str]:
    """One exchange: what it was, how it ended, two lanes, what faults did."""
    yield paint(fit(_heading(record), WIDTH), "head")
    end = milliseconds(record.times.end) if record.end is not None else "not yet over"
    yield "  " + paint(fit(inert(f"{ending(record.end)}, {end}"), WIDTH - 2), tone(record))
    drawn = lanes(record, DRAWN)
    yield _lane("arrivals", drawn.arrivals, record.times.upstream_closed, record.upstream.end, drawn.seconds)
    yield _lane("deliveries", drawn.deliveries, record.times.end, record.end, drawn.seconds)
    if drawn.marks:
        yield _row("faults", _numbers(drawn))
    yield paint(_row("", f"0{milliseconds(drawn.seconds):>{DRAWN - 1}}"), "dim")
    yield from _faults(drawn)
    for missed in record.not_fired[:NOT_FIRED]:
        yield from _prose(f"not fired: {shown(missed.fault)} in hop {missed.hop} ({shown(missed.reason)})")
    if len(record.not_fired) > NOT_FIRED:
        yield f"  not fired: {len(record.not_fired) - NOT_FIRED} further"
    if record.detail:
        yield from _prose(f"detail: {shown(record.detail)}")


def _heading(record: ExchangeRecord) -> str:
    """The request last: it is what may be long."""
    request = record.request
    said = ", ".join([status(record), *facts(record)])
    return f"#{record.id}  {said}  {shown(request.method) or '-'} {shown(request.path) or '-'}"


def _lane(name: str, heights: list[float], over: float | None, how: Ending | None, whole: float) -> str:
    """A dot where nothing came, and behind the last moment the end, if there was one: a cross if it was not clean."""
    end = column(over, whole, len(heights)) if over is not None else len(heights) - 1
    drawn = "".join(LEVELS[max(1, round(height * 8))] if height else SILENT for height in heights)
    kept = drawn[: end + 1] + drawn[end + 1 :].rstrip(SILENT)
    mark = "" if over is None else CLEAN if how is None or how.how == "clean" else BROKEN
    return _row(name, kept + mark)


def _numbers(drawn: Lanes) -> str:
    """Each mark's number in its columns; the first of each has one of its own, in its place or the nearest free one."""
    row = [" "] * (DRAWN + 1)
    for mark in drawn.marks:
        at = column(mark.times[0], drawn.seconds, DRAWN)
        free = next((place for place in [*range(at, DRAWN + 1), *range(at, -1, -1)] if row[place] == " "), at)
        row[free] = str(mark.number)
    for mark in drawn.marks:
        for at in {column(seconds, drawn.seconds, DRAWN) for seconds in mark.times[1:]}:
            if row[at] == " ":
                row[at] = str(mark.number)
    return "".join(row).rstrip()


def _faults(drawn: Lanes) -> Iterator[str]:
    for mark in drawn.marks:
        yield from _prose(f"{mark.number} {milliseconds(mark.fired.t):>10}  {mark}", 15)
    if drawn.further:
        yield f"  faults acted {counted(drawn.further, 'further time')}"


def _row(name: str, drawn: str) -> str:
    return f"  {name:<{NAMES - 2}}{drawn}".rstrip()


def _prose(text: str, hang: int = 2) -> Iterator[str]:
    return _wrapped(f"  {text}", " " * (hang + 2))


def _wrapped(text: str, indent: str) -> Iterator[str]:
    """In lines."""
    width = WIDTH - 3 if sum(map(_columns, text)) <= len(text) else WIDTH // 2 - 3
    for line in textwrap.wrap(text, width, subsequent_indent=indent, break_on_hyphens=False):
        yield inert(line)


def fit(text: str, columns: int) -> str:
    """As much of `text` as has room."""
    if sum(map(_columns, text)) <= columns:
        return text
    kept, room = "", columns - 3
    for character in text:
        room -= _columns(character)
        if room < 0:
            break
        kept += character
    return kept + "..."


def _columns(character: str) -> int:
    """How many columns a terminal gives it."""
    return 2 if unicodedata.east_asian_width(character) in "WF" else 0 if unicodedata.combining(character) else 1
