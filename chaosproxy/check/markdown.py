"""The card as Markdown, for the summary of a CI run. Rules: as those of `report.markdown`. Must not know: how a card is made."""

from collections.abc import Iterator

from chaosproxy.check.card import Card, Result
from chaosproxy.check.shown import broken_rules, headline, sign
from chaosproxy.report.markdown import cell, code

SIGNS = {"ok": "✅", "FAILED": "❌", "known": "🟡", "-": "⚪"}


def pieces(card: Card) -> Iterator[str]:
    """Headline, what failed with its mend, all cases folded."""
    client = f" of {code(card.client)}" if card.client else ""
    yield f"## chaosproxy check {card.suite}{client}: {headline(card)}\n"
    for rule, results in broken_rules(card):
        yield f"\n**{rule.says}** {rule.mend}\n\n"
        yield from _table(results)
    yield "\n<details><summary>all cases</summary>\n\n"
    yield from _table(card.results)
    yield "\n</details>\n\n"


def _table(results: list[Result] | tuple[Result, ...]) -> Iterator[str]:
    yield "| | case | what happens | verdict | seen |\n|---|---|---|---|---|\n"
    for result in results:
        word, _ = sign(result)
        case, judged = result.case, result.judged
        verdict = judged.verdict.replace("_", " ")
        yield f"| {SIGNS[word]} | {case.id} | {case.title} | {verdict} | {cell(judged.seen)} |\n"
