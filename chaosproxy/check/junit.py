"""The card as JUnit XML: a test case for each case; one that does not apply is skipped, one that is known too.

Must not know: how a card is made.
"""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from chaosproxy.check.card import Card, Result
from chaosproxy.model.shown import shown
from chaosproxy.report.junit import DECLARATION
from chaosproxy.report.markup import as_xml, element
from chaosproxy.report.timeline import timeline


def pieces(card: Card) -> Iterator[str]:
    """The document."""
    skipped = sum(_skipped(result) for result in card.results)
    counts = {"tests": str(len(card.results)), "failures": str(len(card.bad)), "errors": "0"}
    suite = element("testsuite", name=f"chaosproxy check {card.suite}", **counts, skipped=str(skipped))
    suite.extend(map(_case, card.results))
    yield DECLARATION
    yield as_xml(element("testsuites", suite, name="chaosproxy", **counts)) + "\n"


def _skipped(result: Result) -> bool:
    return result.judged.good is None or result.known


def _case(result: Result) -> Element:
    case, judged = result.case, result.judged
    seconds = result.observed.seconds if result.observed is not None else 0.0
    made = element("testcase", classname=f"chaosproxy.check.{case.theme}", name=case.id, time=f"{seconds:.3f}")
    said = f"{judged.verdict}: {shown(judged.seen)}"
    if result.bad:
        proof = f"{case.title}\n{case.rule.says}\n{case.rule.mend}\n{timeline(list(result.records))}"
        made.append(element("failure", proof, type=judged.verdict, message=said))
    elif _skipped(result):
        made.append(element("skipped", message=f"known: {said}" if result.known else said))
    else:
        made.append(element("system-out", said))
    return made
