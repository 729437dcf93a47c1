"""Verdicts as lines: each check with what was expected and seen, and below it the moments of the timeline that prove it.

Rules: as those of the timeline. Must not know: the checks.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.judging.check import Finding, Verdict
from chaosproxy.model.shown import shown
from chaosproxy.report.line import exchange_line
from chaosproxy.report.timeline import moments

SHOWN = 5
"""Of so many findings that contradict a check the proof is told; of the rest how many there are."""


def verdicts(judged: Iterable[Verdict], records: Sequence[ExchangeRecord], *, good: bool = True) -> str:
    """`ok` or `FAILED` and the verdict, line by line; of what is `good` only if that is wanted."""
    by_id = {record.id: record for record in records}
    return "\n".join(line for verdict in judged if good or not verdict.good for line in lines(verdict, by_id))


def lines(verdict: Verdict, by_id: Mapping[int, ExchangeRecord]) -> Iterator[str]:
    """Those of one verdict; `by_id` has the exchanges that it is about."""
    if verdict.good:
        yield f"ok      {shown(verdict.check)}: {shown(verdict.expected)} ({len(verdict.findings)} of {len(verdict.findings)})"
        return
    yield f"FAILED  {shown(verdict.check)}: expected {shown(verdict.expected)}"
    if not verdict.findings:
        yield f"        nothing to judge: {shown(verdict.nothing)}"
    for finding in verdict.bad[:SHOWN]:
        yield f"        {', '.join(f'#{one}' for one in finding.exchanges)}: {shown(finding.seen)}"
        for number in finding.exchanges:
            yield from _proof(finding, by_id.get(number))
    if len(verdict.bad) > SHOWN:
        yield f"        and {len(verdict.bad) - SHOWN} further"


def _proof(finding: Finding, record: ExchangeRecord | None) -> Iterator[str]:
    if record is None:
        return
    yield f"          {exchange_line(record)}"
    for name, seconds, what in sorted(moments(record), key=lambda moment: moment[1]):
        if name in finding.moments:
            yield f"          {seconds * 1000:9.0f} ms  {what}"
