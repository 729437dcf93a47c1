"""The card as text of 80 columns: a line for each case, then what is to be mended, rule by rule.

Rules: no line is longer; colours are asked of `paint`, and what they say is said in words too. What a client has printed
is text, never an escape sequence. Must not know: terminals.
"""

import textwrap
from collections.abc import Iterator

from chaosproxy.check.card import Card, Result
from chaosproxy.check.case import Case, Rule
from chaosproxy.model.shown import inert, shown
from chaosproxy.model.units import counted
from chaosproxy.report.text import WIDTH, Paint, Style, fit

NAME, VERDICT = 22, 10
INDENT = "  "


def painted(card: Card, paint: Paint) -> Iterator[str]:
    """Line by line, each with its line feed."""
    yield paint(fit(f"chaosproxy check {card.suite}: {headline(card)}", WIDTH), "head") + "\n"
    theme = ""
    for result in card.results:
        if result.case.theme != theme:
            theme = result.case.theme
            yield "\n" + paint(theme, "head") + "\n"
        yield _line(result, paint) + "\n"
    yield from _mends(card, paint)


def headline(card: Card) -> str:
    """`2 of 30 cases failed, 4 not applicable`."""
    judged = [result for result in card.results if result.judged.good is not None]
    good = len(judged) - len(card.known)
    said = [
        f"{len(card.bad)} of {counted(len(judged), 'case')} failed" if card.bad else f"{counted(good, 'case')} good"
    ]
    if card.known:
        said.append(f"{len(card.known)} known")
    if left := len(card.results) - len(judged):
        said.append(f"{left} not judged")
    return ", ".join(said)


def sign(result: Result) -> tuple[str, Style]:
    """In a word, and its colour."""
    match result.judged.good:
        case True:
            return "ok", "good"
        case None:
            return "-", "dim"
        case False:
            return ("known", "own") if result.known else ("FAILED", "bad")


def _line(result: Result, paint: Paint) -> str:
    word, style = sign(result)
    seen = shown(result.judged.seen)
    verdict = "" if result.judged.verdict == "not_applicable" else result.judged.verdict
    line = f"{word:6} {result.case.id:{NAME}} {verdict:{VERDICT}} {seen}"
    return paint(fit(line, WIDTH), style)


def _mends(card: Card, paint: Paint) -> Iterator[str]:
    for rule, results in broken_rules(card):
        yield "\n"
        yield from _prose(rule.says, paint, "bad", "")
        for result in results:
            yield from _prose(f"{result.case.id}: {shown(result.judged.seen)}", paint, "dim", INDENT)
        yield from _prose(rule.mend, paint, "good", INDENT)
    for case in card.mended:
        yield from _prose(f"{case.id} is good now: take it out of the baseline.", paint, "own", "")


def broken_rules(card: Card) -> list[tuple[Rule, list[Result]]]:
    """The rules that are broken, each with the cases that show it."""
    found: dict[str, tuple[Rule, list[Result]]] = {}
    for result in card.bad:
        found.setdefault(result.case.rule.id, (result.case.rule, []))[1].append(result)
    return list(found.values())


def _prose(text: str, paint: Paint, style: Style, indent: str) -> Iterator[str]:
    for line in textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=f"{indent}{INDENT}"):
        yield paint(fit(inert(line), WIDTH), style) + "\n"


def listed(cases: tuple[Case, ...]) -> Iterator[str]:
    """The cases, without a verdict, for people."""
    for case in cases:
        yield fit(f"{case.id:{NAME}} {case.suite:5} {case.title}", WIDTH) + "\n"


def listed_as_json(cases: tuple[Case, ...], suite: str) -> dict[str, object]:
    """The same for programs, in the words of the card's JSON."""
    return {
        "suite": suite,
        "cases": [
            {
                "case": case.id,
                "suite": case.suite,
                "title": case.title,
                "theme": case.theme,
                "kinds": sorted(case.kinds),
            }
            for case in cases
        ],
    }
