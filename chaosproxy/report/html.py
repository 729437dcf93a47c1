"""A report as one HTML file, which opens offline and asks nobody for anything.

Rules: everything shown is text in a tree (`markup`); the page's policy lets nothing run or be loaded but the one script
and the one style sheet beside this file, by their hashes, so that there are no style attributes either. The script
hides and shows, and makes no markup. Must not know: the checks.
"""

import base64
import hashlib
import textwrap
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from xml.etree.ElementTree import Element

from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.judging.check import Verdict
from chaosproxy.model.shown import shown
from chaosproxy.report.exchange_html import exchange
from chaosproxy.report.markup import as_html, element
from chaosproxy.report.overview import Overview, headline, milliseconds
from chaosproxy.report.verdicts import SHOWN, lines

LATEST = 5000
"""So many exchanges are drawn: more are too many for a browser."""
LEGEND = (
    "A bar is a slice of time, its height the bytes in it: grey came from the upstream, blue went to the client. "
    "Dotted: the head. Thick: the end. Dashed: the client has left. Numbers: what faults did."
)
_HERE = Path(__file__).parent


def pieces(records: Iterable[ExchangeRecord], verdicts: Sequence[Verdict], title: str) -> Iterator[str]:
    """The page: expectations, endings, the exchanges one by one."""
    overview = Overview.of(records)
    what = f"chaosproxy report{f', {shown(title)}' if title else ''}"
    yield from page(what, headline(overview, verdicts), _parts(records, verdicts, overview))


def page(title: str, summary: str, parts: Iterable[Element]) -> Iterator[str]:
    """A whole page of these parts, in the style and under the policy of all of them."""
    style, script = (_HERE / "page.css").read_text("utf-8"), (_HERE / "page.js").read_text("utf-8")
    yield '<!DOCTYPE html>\n<html lang="en">\n'
    yield as_html(_head(f"{title}: {summary}", style, script)) + "\n<body>\n<main>\n"
    yield as_html(element("header", element("h1", title), element("p", summary))) + "\n"
    for part in parts:
        yield as_html(part) + "\n"
    yield "</main>\n" + as_html(element("script", script)) + "\n</body>\n</html>\n"


def _parts(records: Iterable[ExchangeRecord], verdicts: Sequence[Verdict], overview: Overview) -> Iterator[Element]:
    if verdicts:
        yield from _expectations(records, verdicts)
    if overview.total:
        yield _endings(overview)
        yield _filter(overview)
    yield from map(exchange, _drawn(records, overview.total))


def _drawn(records: Iterable[ExchangeRecord], total: int) -> Iterable[ExchangeRecord]:
    return records if total <= LATEST else deque(records, maxlen=LATEST)


def _head(title: str, style: str, script: str) -> Element:
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
    )
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", style),
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _expectations(records: Iterable[ExchangeRecord], verdicts: Sequence[Verdict]) -> Iterator[Element]:
    yield element("h2", "Expectations")
    by_id = {record.id: record for record in records}
    for verdict in verdicts:
        words = element("span", f" {shown(verdict.check)}: {shown(verdict.expected)}")
        if verdict.good:
            count = f" ({len(verdict.findings)} of {len(verdict.findings)})"
            yield element("p", element("span", "met", class_="sign"), words, count, class_="verdict good")
            continue
        _, *proof = lines(verdict, by_id)  # the first line is the summary's
        about = list(dict.fromkeys(one for finding in verdict.bad[:SHOWN] for one in finding.exchanges if one in by_id))
        links = [child for one in about for child in (" ", element("a", f"#{one}", href=f"#exchange-{one}"))]
        yield element(
            "details",
            element("summary", element("span", "FAILED", class_="sign"), words),
            element("pre", textwrap.dedent("\n".join(proof))),
            element("p", "The pictures:", *links) if links else None,
            class_="verdict bad",
            open="open",
        )


def _endings(overview: Overview) -> Element:
    names = ("ending", "status", "exchanges", "longest to first event", "longest to end")
    table = element("table", element("tr", *(element("th", name) for name in names)), class_="endings")
    for group in overview.groups:
        chip = element("span", group.ending, class_=f"ending {group.tone}")
        facts = (group.status, str(group.count), milliseconds(group.first), milliseconds(group.longest))
        table.append(element("tr", element("td", chip), *(element("td", fact) for fact in facts)))
    return element("section", element("h2", "Endings"), element("div", table, class_="wide"))


def _filter(overview: Overview) -> Element:
    """Shown by the script: without it there is nothing to filter with."""
    statuses = sorted({group.status for group in overview.groups})
    endings = sorted({group.ending for group in overview.groups})
    form = element(
        "form",
        element("label", "status ", _choice("status", statuses)),
        element("label", "ending ", _choice("ending", endings)),
        element("label", "request ", element("input", type="search", id="search", autocomplete="off")),
        element("output", id="count"),
        id="filter",
        hidden="hidden",
    )
    left_out = overview.total - LATEST
    note = element("p", f"The first {left_out} are counted above, and not drawn.") if left_out > 0 else None
    return element("section", element("h2", "Exchanges"), element("p", LEGEND, class_="legend"), form, note)


def _choice(name: str, values: Sequence[str]) -> Element:
    options = [element("option", value, value=value) for value in values]
    return element("select", element("option", "any", value=""), *options, id=name)
