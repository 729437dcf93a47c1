"""One exchange on the page: what it was, how it ended, its picture, what faults did; the rest folded.

Must not know: the page around it.
"""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.model.shown import shown
from chaosproxy.model.units import counted
from chaosproxy.report.lanes import Mark
from chaosproxy.report.line import ending
from chaosproxy.report.markup import element
from chaosproxy.report.overview import facts, milliseconds, status, tone
from chaosproxy.report.picture import picture
from chaosproxy.report.timeline import moments

FACTS = 100
"""So many moments, and fields of a head, are listed."""


def exchange(record: ExchangeRecord) -> Element:
    """The article."""
    svg, drawn = picture(record)
    request = record.request
    how = ending(record.end)
    said = [f"status {status(record)}", *facts(record)]
    if record.times.end is not None:
        said.append(milliseconds(record.times.end))
    article = element(
        "article",
        element(
            "h3",
            element("span", f"#{record.id}", class_="id"),
            f" {shown(request.method) or '-'} ",
            element("span", shown(request.path) or "-", class_="path"),
        ),
        element("p", element("span", how, class_=f"ending {tone(record)}"), f" {', '.join(said)}"),
        svg,
        class_="exchange",
        id=f"exchange-{record.id}",
        data_status=status(record),
        data_ending=how,
    )
    if drawn.marks:
        article.append(element("ol", *map(_mark, drawn.marks), class_="faults"))
    if drawn.further:
        article.append(element("p", f"Faults acted {counted(drawn.further, 'further time')}."))
    if record.detail:
        article.append(element("p", shown(record.detail), class_="detail"))
    article.append(_folded(record))
    return article


def _mark(mark: Mark) -> Element:
    number = element("span", str(mark.number), class_="number")
    return element("li", number, " ", element("time", milliseconds(mark.fired.t)), f" {mark}")


def _folded(record: ExchangeRecord) -> Element:
    told = sorted(moments(record), key=lambda moment: moment[1])
    folded = element("details", element("summary", "moments, faults that did not act, heads"))
    folded.append(_table(((f"{seconds * 1000:.1f} ms", what) for _, seconds, what in told), "moments", len(told)))
    if record.not_fired:
        missed = [(shown(one.fault), f"hop {one.hop}: {shown(one.reason)}") for one in record.not_fired]
        folded.extend([element("h4", "Did not act"), _table(iter(missed), "missed", len(missed))])
    client, upstream = record.client, record.upstream
    where = [
        (
            "scenario",
            f"{shown(record.scenario or '-')}, rule {'-' if record.rule is None else record.rule}, seed {record.seed}",
        ),
        ("began", shown(record.started_at)),
        ("client", _side(client.protocol, client.connection, client.stream)),
        ("upstream", f"{shown(upstream.url or '-')} {_side(upstream.protocol, upstream.connection, upstream.stream)}"),
    ]
    if record.dropped:
        where.append(("not drawn", f"{counted(record.dropped, 'piece')} in the middle"))
    folded.extend([element("h4", "Where"), _table(iter(where), "facts", len(where))])
    for name, headers in (("Request", record.request.headers), ("Response", record.response.headers)):
        if headers:
            fields = ((shown(field), shown(value)) for field, value in headers)
            folded.extend([element("h4", name), _table(fields, "fields", len(headers))])
    return folded


def _side(protocol: str | None, connection: int | None, stream: int | None) -> str:
    if protocol is None:
        return "not reached"
    which = f"{shown(protocol)}, connection {connection}"
    return which if stream is None else f"{which}, stream {stream}"


def _table(rows: Iterator[tuple[str, str]], kind: str, count: int) -> Element:
    made = element("table", class_=kind)
    for _, (name, value) in zip(range(FACTS), rows, strict=False):
        made.append(element("tr", element("th", name), element("td", value)))
    if count > FACTS:
        made.append(element("tr", element("th", "..."), element("td", f"{count - FACTS} further")))
    return made
