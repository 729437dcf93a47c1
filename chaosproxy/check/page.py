"""The card as one HTML page, which opens offline: a verdict, its reason and its mend, and what was on the wire.

Must not know: how a picture is drawn.
"""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from chaosproxy.check.card import Card, Result
from chaosproxy.check.shown import broken_rules, headline, sign
from chaosproxy.model.shown import shown
from chaosproxy.report.exchange_html import exchange
from chaosproxy.report.html import page
from chaosproxy.report.markup import element

DRAWN = 3
"""Of so many requests of a case there is a picture."""
_CLASSES = {"good": "verdict good", "bad": "verdict bad", "own": "verdict own", "dim": "verdict dim"}


def pieces(card: Card) -> Iterator[str]:
    """The page, piece by piece."""
    title = f"chaosproxy check {card.suite}{f': {shown(card.client)}' if card.client else ''}"
    yield from page(title, headline(card), _parts(card))


def _parts(card: Card) -> Iterator[Element]:
    if card.bad:
        yield element("h2", "To be mended")
    for rule, results in broken_rules(card):
        links = [child for one in results for child in (" ", element("a", one.case.id, href=f"#{one.case.id}"))]
        yield element(
            "div", element("p", element("b", rule.says)), element("p", rule.mend), element("p", "Shown by", *links)
        )
    theme = ""
    for result in card.results:
        if result.case.theme != theme:
            theme = result.case.theme
            yield element("h2", theme[0].upper() + theme[1:])
        yield _case(result)


def _case(result: Result) -> Element:
    case, judged = result.case, result.judged
    word, style = sign(result)
    article = element(
        "details",
        element(
            "summary",
            element("span", word, class_="sign"),
            f" {case.id}: ",
            element("b", judged.verdict.replace("_", " ")),
            f", {shown(judged.seen)}",
        ),
        element("p", f"What happens: {case.title}."),
        element("p", f"The rule: {case.rule.says}"),
        element("p", f"The mend: {case.rule.mend}") if judged.good is False else None,
        element("p", f"Seen: {case.source}", class_="legend"),
        class_=_CLASSES[style],
        id=case.id,
        open="open" if result.bad else None,
    )
    if error := result.observed.told.error if result.observed is not None else "":
        article.append(element("pre", shown(error)))
    for record in result.records[:DRAWN]:
        drawn = exchange(record)
        drawn.set("id", f"{case.id}-{record.id}")
        article.append(drawn)
    if (further := len(result.records) - DRAWN) > 0:
        article.append(element("p", f"Of {further} further requests there is no picture.", class_="legend"))
    return article
