"""The lanes of one exchange as inline SVG.

Rules: across it everything is a part of the whole width, so that letters keep their size on any screen; colours are
classes, for the page's style sheet. Must not know: the page.
"""

from collections.abc import Iterator
from itertools import pairwise
from xml.etree.ElementTree import Element

from chaosproxy.journal.marks import Marks
from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.model.units import counted
from chaosproxy.report.lanes import Lanes, lanes
from chaosproxy.report.line import ending
from chaosproxy.report.markup import element
from chaosproxy.report.overview import milliseconds, tone

COLUMNS = 240
LANE = 20
"""Height of a lane, in pixels; above it stands its name."""
TOPS = (14, 50)
FOOT = 70
"""Below it the numbers of faults, then the scale."""
WIDE = 98.0
"""What the time has of the width, in parts of a hundred; the rest is for what stands behind the last moment."""
CLOSE = 2.5
"""Marks of faults that are nearer than that, in parts of a hundred of the width, stand below each other's side."""


def picture(record: ExchangeRecord) -> tuple[Element, Lanes]:
    """The SVG, and what it shows."""
    drawn = lanes(record, COLUMNS)
    height = FOOT + (38 if drawn.marks else 18)
    words = f"{_pieces(record.arrivals)} came, {_pieces(record.deliveries)} went out; {ending(record.end)}"
    svg = element("svg", element("title", words), role="img", class_="lanes", width="100%", height=str(height))
    times = record.times
    upstream = record.upstream.end
    upstream_over = f"upstream over: {ending(upstream)}" if upstream else "upstream over"
    svg.extend(_faults(drawn))
    svg.extend(_lane("arrivals", TOPS[0], drawn.arrivals))
    svg.extend(_lane("deliveries", TOPS[1], drawn.deliveries))
    for seconds, top, kind, what in (
        (times.upstream_head, TOPS[0], "head", "the upstream's head"),
        (times.head_sent, TOPS[1], "head", "head sent"),
        (times.upstream_closed, TOPS[0], "over", upstream_over),
        (times.end, TOPS[1], f"over {tone(record)}", f"end: {ending(record.end)}"),
    ):
        if seconds is not None:
            line = _upright(seconds / drawn.seconds, top - 2, top + LANE + 2, kind, f"{milliseconds(seconds)}: {what}")
            if kind != "head":
                line.set("transform", "translate(4)")  # behind the last bar, not over it
            svg.append(line)
    if times.client_closed is not None:
        words = f"{milliseconds(times.client_closed)}: the client has left"
        svg.append(_upright(times.client_closed / drawn.seconds, TOPS[0] - 4, FOOT + 4, "gone", words))
    svg.append(element("text", "0", x="0", y=str(height - 4), class_="scale"))
    svg.append(element("text", milliseconds(drawn.seconds), x=_across(1), y=str(height - 4), class_="scale last"))
    return svg, drawn


def _pieces(marks: Marks) -> str:
    return counted(marks.count, "piece")


def _lane(name: str, top: int, heights: list[float]) -> Iterator[Element]:
    yield element("text", name, x="0", y=str(top - 4), class_="lane")
    bars = "".join(f"M{at} {LANE}v-{max(3, round(part * LANE))}h1V{LANE}z" for at, part in enumerate(heights) if part)
    shape = {"viewBox": f"0 0 {COLUMNS} {LANE}", "preserveAspectRatio": "none"}
    inner = element("svg", x="0", y=str(top), width=_across(1), height=str(LANE), **shape)
    if bars:
        inner.append(element("path", d=bars, class_=name))
    yield inner
    yield element("line", x1="0", x2="100%", y1=str(top + LANE), y2=str(top + LANE), class_="floor")


def _upright(part: float, top: int, foot: int, kind: str, words: str) -> Element:
    x = _across(part)
    return element("line", element("title", words), x1=x, x2=x, y1=str(top), y2=str(foot), class_=kind)


def _faults(drawn: Lanes) -> Iterator[Element]:
    """A line through both lanes, and below it the number; those that would cover each other are moved apart."""
    places = _apart([mark.fired.t / drawn.seconds * WIDE for mark in drawn.marks])
    for mark, place in zip(drawn.marks, places, strict=True):
        words = f"{milliseconds(mark.fired.t)}: {mark}"
        for part in dict.fromkeys(round(seconds / drawn.seconds, 3) for seconds in mark.times):
            yield _upright(part, TOPS[0] - 4, FOOT + 4, "fault", words)
        yield element("circle", element("title", words), cx=f"{place:.2f}%", cy=str(FOOT + 12), r="7", class_="fault")
        yield element("text", str(mark.number), x=f"{place:.2f}%", y=str(FOOT + 16), class_="number")


def _apart(places: list[float]) -> list[float]:
    """The same in their order, each at least `CLOSE` from the one before, within the width."""
    order = sorted(range(len(places)), key=places.__getitem__)
    moved = [min(max(place, 1.0), 99.0) for place in places]
    for before, behind in pairwise(order):
        moved[behind] = max(moved[behind], moved[before] + CLOSE)
    room = 99.0
    for index in reversed(order):
        moved[index] = min(moved[index], room)
        room = moved[index] - CLOSE
    return moved


def _across(part: float) -> str:
    return f"{min(max(part, 0.0), 1.0) * WIDE:.2f}%"
