"""What is shown on stdout: its colours, its encoding. Must not know: what it is."""

import os
import sys
from collections.abc import Iterable

import click

from chaosproxy.report import text

COLOURS: dict[text.Style, str | None] = {"good": "green", "own": "yellow", "left": "magenta", "bad": "red"}


def show(report: Iterable[str]) -> None:
    """To stdout: in UTF-8, and in a terminal of another encoding as near as that has it."""
    out = sys.stdout.buffer
    encoding = sys.stdout.encoding or "utf-8"
    as_it_is = encoding.lower().replace("-", "") == "utf8" or not sys.stdout.isatty()
    for piece in report:
        out.write(piece.encode() if as_it_is else piece.translate(text.ASCII).encode(encoding, "replace"))
    out.flush()


def paint() -> text.Paint:
    """Colours on a terminal that wants them."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text.plain
    return lambda line, style: click.style(
        line, fg=COLOURS.get(style), bold=style in {"head", "bad"} or None, dim=style in {"dim", "running"} or None
    )
