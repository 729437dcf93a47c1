"""Texts that would do something, if a terminal, a browser or the program that runs a build took them for more than text,
and what is made of them in every place where some text of elsewhere is shown."""

import io
import re
from dataclasses import replace

from rich.console import Console

from chaosproxy.check.card import Card, Result
from chaosproxy.check.facts import facts_of
from chaosproxy.check.judge import Judged
from chaosproxy.check.runner import Observed as Tried
from chaosproxy.check.table import CASES
from chaosproxy.check.told import Told
from chaosproxy.diagnose.assess import Report, assess
from chaosproxy.diagnose.observed import Observed, Variant
from chaosproxy.diagnose.picture import draw
from chaosproxy.diagnose.question import hops
from tests.diagnose import made
from tests.report.examples import cut, left
from tests.report.test_hostile import UNSEEN, filled

ORDERS = re.compile(r"##[a-z]*\[")
FIELDS = (
    "server",
    "via",
    "x-powered-by",
    "x-cache",
    "cache-control",
    "content-type",
    "content-encoding",
    "location",
    "age",
)
"""Of an answer; those that a diagnosis shows."""


def card(*texts: str) -> Card:
    """Everything in it that a client or a server has said is one of the texts; of each there is a case of every kind."""
    results = []
    for text in texts:
        for case, verdict, good in zip(CASES, ("raised", "whole", "hangs"), (False, True, None), strict=False):
            records = (filled(cut(), text), filled(left(), text)) if verdict == "raised" else ()
            told = Told(text, "raised", text, text, 1)
            tried = Tried(told, facts_of([cut()]), records, 0.0, 0.0, 1.0)
            results.append(Result(case, Judged(verdict, good, text), tried))
    return Card("quick", tuple(results), texts[0])


def diagnosis(text: str) -> Report:
    """Of two hops that say `text` in each field, the outer of which gathers everything."""
    fields = tuple((name.encode(), text.encode("utf-8", "surrogatepass")) for name in FIELDS)
    said = made.paced()
    inner, outer = (
        replace(made.answer(paced), headers=((b"content-type", b"text/event-stream"), *(fields if at else ())))
        for at, paced in enumerate((said, made.at_once(said)))
    )
    broken = replace(made.answer([], status=302), headers=fields)
    places = hops(["http://127.0.0.1:1/sse", "http://127.0.0.2:1/sse", "http://127.0.0.3:1/sse"])
    answers = {(at, Variant.PLAIN): [one] for at, one in enumerate((inner, outer, broken))}
    return assess(Observed(places, answers))


def drawn(report: Report, width: int = 80) -> str:
    """As a terminal without colours has it."""
    out = io.StringIO()
    draw(Console(file=out, width=width, force_terminal=False), report)
    return out.getvalue()


def orders(text: str) -> list[str]:
    """What in a text for a terminal, or for the log of a build, would do something."""
    found = [f"{one!a}" for one in UNSEEN.findall(text)]
    found += ORDERS.findall(text)
    return found + [line for line in text.splitlines() if line.lstrip().startswith("::")]
