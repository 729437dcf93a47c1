"""The picture of the README: what an event costs beside a bare splice, and what latency is added, one bar for each.

Rules: pure; a picture is a function of the summary. Text takes the colour of the reader's scheme, light or dark; bars are
readable on both.
"""

from html import escape

from benchmarks.report import Summary

_NAMES = (
    ("events", "splice", "bare splice"),
    ("events", "chaosproxy", "chaosproxy, HTTP/1.1"),
    ("events h2-h1", "chaosproxy", "chaosproxy, HTTP/2 to HTTP/1.1"),
    ("events h2-h2", "chaosproxy", "chaosproxy, HTTP/2"),
    ("events", "nginx", "nginx, buffering off"),
    ("events", "haproxy", "HAProxy"),
    ("events", "mitmproxy", "mitmproxy, streaming"),
)
_PANELS = (
    ("CPU per event, bare splice = 1", "cpu_to_base", "{:.2f}"),
    ("latency added, p50, us", "added_p50_us", "{:.0f}"),
)
_WIDTH, _LEFT, _GAP, _TOP, _ROW, _BAR = 860, 230, 30, 44, 26, 16
_FOR_NUMBERS = 52
_STYLE = """text { font: 13px system-ui, sans-serif; fill: #24292f }
.title { font-weight: 600 }
.own { fill: #d9480f }
.other { fill: #868e96 }
.axis { stroke: #868e96 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .own { fill: #ff922b } }"""


def rows(summary: Summary) -> list[tuple[str, dict[str, float]]]:
    """Who is in the picture, by the name that it has there, with its numbers."""
    return [
        (shown, dict(summary[scene][row])) for scene, row, shown in _NAMES if scene in summary and row in summary[scene]
    ]


def picture(summary: Summary) -> str:
    """The SVG."""
    shown = rows(summary)
    height = _TOP + _ROW * len(shown) + 10
    size = f'width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>',
        f"<title>{'; '.join(title for title, _, _ in _PANELS)}</title>",
        f"<style>{_STYLE}</style>",
    ]
    for at, (name, _) in enumerate(shown):
        parts.append(f'<text x="{_LEFT - 10}" y="{_middle(at)}" text-anchor="end">{escape(name)}</text>')
    width = (_WIDTH - _LEFT - _GAP) / len(_PANELS)
    for number, (title, key, form) in enumerate(_PANELS):
        parts += _panel(shown, title, key, form, _LEFT + number * (width + _GAP), width - _FOR_NUMBERS)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _middle(at: int) -> int:
    return _TOP + _ROW * at + _BAR - 3


def _panel(
    shown: list[tuple[str, dict[str, float]]], title: str, key: str, form: str, left: float, width: float
) -> list[str]:
    most = max([numbers.get(key, 0) for _, numbers in shown], default=0) or 1
    end = _TOP + _ROW * len(shown)
    parts = [
        f'<text class="title" x="{left:g}" y="24">{escape(title)}</text>',
        f'<line class="axis" x1="{left:g}" y1="{_TOP - 6}" x2="{left:g}" y2="{end}"/>',
    ]
    for at, (name, numbers) in enumerate(shown):
        value = numbers.get(key)
        if value is None:
            continue
        long = max(0.0, value) / most * width
        kind = "own" if name.startswith("chaosproxy") else "other"
        parts.append(
            f'<rect class="{kind}" x="{left:g}" y="{_TOP + _ROW * at}" width="{long:.1f}" height="{_BAR}" rx="2"/>'
        )
        parts.append(f'<text x="{left + long + 6:.1f}" y="{_middle(at)}">{form.format(value)}</text>')
    return parts
