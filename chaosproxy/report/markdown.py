"""A report as Markdown, for the summary of a CI run: what was expected, what was seen, how exchanges ended.

Rules: what comes from elsewhere stands in code, where no mark, link, mention or tag means anything. Bounded: a summary
may have 1 MiB. Must not know: the checks.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.judging.check import Verdict
from chaosproxy.model.shown import shown
from chaosproxy.model.units import counted
from chaosproxy.report.line import ending
from chaosproxy.report.overview import Overview, Tone, headline, milliseconds, status, tone
from chaosproxy.report.verdicts import lines

LATEST = 100
"""Of that many exchanges a row is shown."""
PROOFS = 20
"""Of that many failed expectations the proof."""
SIGNS: dict[Tone, str] = {"good": "🟢", "own": "🟡", "left": "🔵", "bad": "🔴", "running": "⚪"}


def pieces(records: Iterable[ExchangeRecord], verdicts: Sequence[Verdict], title: str) -> Iterator[str]:
    """Headline, expectations with the proof of what failed, groups of endings, exchanges folded."""
    overview = Overview.of(records)
    heading = f" {code(title)}" if title else ""
    yield f"## chaosproxy{heading}: {headline(overview, verdicts)}\n"
    if verdicts:
        yield from _expectations(records, verdicts)
    if overview.total:
        yield "\n| exchanges | status | ending | first event at most | end at most |\n|---:|---|---|---:|---:|\n"
    for group in overview.groups:
        sign = f"{SIGNS[group.tone]} {cell(group.ending)}"
        times = f"{milliseconds(group.first)} | {milliseconds(group.longest)}"
        yield f"| {group.count} | {group.status} | {sign} | {times} |\n"
    if overview.total:
        yield from _exchanges(records, overview.total)


def _expectations(records: Iterable[ExchangeRecord], verdicts: Sequence[Verdict]) -> Iterator[str]:
    yield "\n| | expected | seen |\n|---|---|---|\n"
    for verdict in verdicts:
        sign = "✅" if verdict.good else "❌"
        yield f"| {sign} | {cell(f'{verdict.check}: {shown(verdict.expected)}')} | {_seen(verdict)} |\n"
    failed = [verdict for verdict in verdicts if not verdict.good]
    by_id = {record.id: record for record in records} if failed else {}
    for verdict in failed[:PROOFS]:
        yield "\n" + _block("\n".join(lines(verdict, by_id)))


def _seen(verdict: Verdict) -> str:
    if not verdict.findings:
        return f"nothing to judge: {cell(verdict.nothing)}"
    bad = verdict.bad
    if not bad:
        return f"{len(verdict.findings)} of {len(verdict.findings)}"
    further = f" and {len(bad) - 1} further" if len(bad) > 1 else ""
    return cell(f"{', '.join(f'#{one}' for one in bad[0].exchanges)}: {bad[0].seen}") + further


def _exchanges(records: Iterable[ExchangeRecord], total: int) -> Iterator[str]:
    latest = deque(records, maxlen=LATEST)
    which = counted(total, "exchange") if total <= LATEST else f"The latest {LATEST} of {total} exchanges"
    yield f"\n<details><summary>{which}</summary>\n\n"
    yield "| # | request | status | first event | events | bytes | end | ending | faults |\n"
    yield "|---:|---|---|---:|---:|---:|---:|---|---|\n"
    for record in latest:
        times, response, request = record.times, record.response, record.request
        faults = ", ".join(dict.fromkeys(fired.fault for fired in record.faults))
        row = [
            str(record.id),
            cell(f"{request.method or '-'} {request.path or '-'}"),
            status(record),
            milliseconds(times.first_event_out),
            "-" if response.events_out is None else str(response.events_out),
            str(response.bytes_out),
            milliseconds(times.end),
            f"{SIGNS[tone(record)]} {cell(ending(record.end))}",
            cell(faults) if faults else "",
        ]
        yield f"| {' | '.join(row)} |\n"
    yield "\n</details>\n\n"  # the blank line: up to it a reader takes all for HTML, and summaries are joined


def code(text: str) -> str:
    """`text` as a code span: between more backticks than stand together in it."""
    safe = shown(text)
    fence = "`" * (max((len(run) for run in re.findall("`+", safe)), default=0) + 1)
    pad = " " if safe.startswith("`") or safe.endswith("`") or not safe.strip() else ""
    return f"{fence}{pad}{safe}{pad}{fence}"


def cell(text: str) -> str:
    """The same in a table, where a bar would end the cell even in code, and behind some backslashes a `\\|` too."""
    return code(text).replace("|", "\\x7c")


def _block(text: str) -> str:
    """Lines as a code block."""
    fence = "`" * max(3, max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    return f"{fence}text\n{text}\n{fence}\n"
