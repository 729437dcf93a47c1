"""A report of exchanges, and of what was expected of them, in one of four formats.

Rules: a piece at a time, so that a journal of any length fits; whatever a peer sent is text, never markup, an escape
sequence or an order to whoever reads the report. Must not know: where the records come from, where the text goes.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Literal

from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.judging.check import Verdict
from chaosproxy.report import html, junit, markdown, text

Format = Literal["html", "text", "junit", "markdown"]
Writer = Callable[[Iterable[ExchangeRecord], Sequence[Verdict], str], Iterator[str]]
WRITERS: dict[Format, Writer] = {
    "html": html.pieces,
    "text": text.pieces,
    "junit": junit.pieces,
    "markdown": markdown.pieces,
}
SUFFIXES: dict[str, Format] = {
    ".html": "html",
    ".htm": "html",
    ".txt": "text",
    ".xml": "junit",
    ".md": "markdown",
}


def write(
    records: Collection[ExchangeRecord], verdicts: Sequence[Verdict] = (), form: Format = "html", *, title: str = ""
) -> str:
    """The whole report. Without `verdicts` it judges nothing; `title` says what it is of (a test, a journal)."""
    return "".join(pieces(records, verdicts, form, title=title))


def pieces(
    records: Iterable[ExchangeRecord], verdicts: Sequence[Verdict], form: Format, *, title: str = ""
) -> Iterator[str]:
    """The same, piece by piece. `records` are gone through more than once; none is kept."""
    return WRITERS[form](records, verdicts, title)


def form_of(file: PurePath) -> Format | None:
    """The format that a file's name asks for: `.html`, `.txt`, `.xml` (JUnit), `.md`."""
    return SUFFIXES.get(file.suffix.lower())
