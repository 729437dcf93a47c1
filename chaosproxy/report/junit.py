"""A report as JUnit XML, as CI systems read it: a test case per expectation, or per exchange where nothing was expected.

Rules: the schema of Jenkins and Ant; an exchange by itself is no failure, whatever became of it. Must not know: the
checks.
"""

from collections.abc import Iterable, Iterator, Sequence
from xml.etree.ElementTree import Element

from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.judging.check import Verdict
from chaosproxy.model.shown import shown
from chaosproxy.report.line import exchange_line
from chaosproxy.report.markup import as_xml, element
from chaosproxy.report.overview import Overview, status
from chaosproxy.report.timeline import timeline
from chaosproxy.report.verdicts import lines

SUITE = "chaosproxy"
DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'


def pieces(records: Iterable[ExchangeRecord], verdicts: Sequence[Verdict], title: str) -> Iterator[str]:
    """The document, case by case."""
    failures = sum(not verdict.good for verdict in verdicts)
    tests = len(verdicts) or Overview.of(records).total
    counts = {"tests": str(tests), "failures": str(failures), "errors": "0"}
    suite = element("testsuite", name=shown(title) or SUITE, **counts, skipped="0")
    yield DECLARATION
    yield _opened(element("testsuites", name=SUITE, **counts))
    yield _opened(suite)
    for case in _expectations(records, verdicts) if verdicts else map(_exchange, records):
        yield as_xml(case) + "\n"
    yield "</testsuite>\n</testsuites>\n"


def _opened(parent: Element) -> str:
    """Its opening tag alone."""
    return as_xml(parent).removesuffix(" />") + ">\n"


def _expectations(records: Iterable[ExchangeRecord], verdicts: Sequence[Verdict]) -> Iterator[Element]:
    by_id = {record.id: record for record in records}
    for number, verdict in enumerate(verdicts, 1):
        # Numbered: two cases of one name are one case to whoever keeps their history.
        case = element("testcase", classname=f"{SUITE}.expect", name=f"{number} {_named(verdict)}", time="0")
        if not verdict.good:
            message = _first(verdict)
            proof = "\n".join(lines(verdict, by_id))
            case.append(element("failure", proof, type=shown(verdict.check), message=message))
        yield case


def _named(verdict: Verdict) -> str:
    return f"{shown(verdict.check)}: {shown(verdict.expected)}"


def _first(verdict: Verdict) -> str:
    """The failure in a line."""
    if not verdict.findings:
        return f"nothing to judge: {shown(verdict.nothing)}"
    bad = verdict.bad
    further = f", and {len(bad) - 1} further" if len(bad) > 1 else ""
    return f"{', '.join(f'#{one}' for one in bad[0].exchanges)}: {shown(bad[0].seen)}{further}"


def _exchange(record: ExchangeRecord) -> Element:
    request = record.request
    name = f"#{record.id} {shown(request.method) or '-'} {shown(request.path) or '-'} {status(record)}"
    case = element("testcase", classname=f"{SUITE}.exchange", name=name, time=f"{record.times.end or 0:.3f}")
    told = timeline([record]) if record.end is not None else exchange_line(record)
    case.append(element("system-out", told))
    return case
