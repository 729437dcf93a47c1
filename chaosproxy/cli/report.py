"""`chaosproxy report JOURNAL`: what a journal says, as a picture of every exchange.

Rules: a line that cannot be read is said with its number, and the others are shown; it judges nothing. A journal of any
size takes the same memory. Must not know: what a report looks like.
"""

import contextlib
import errno
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, get_args

import click

from chaosproxy.cli.painting import paint, show
from chaosproxy.cli.saving import save
from chaosproxy.errors import UsageError
from chaosproxy.journal.reader import JournalLines
from chaosproxy.model.shown import message
from chaosproxy.model.units import counted
from chaosproxy.report import text
from chaosproxy.report.pages import Format, form_of, pieces

TOLD = 20
"""Of so many lines that cannot be read it is said which; of the others how many."""
MOST_PIPED = 1024 * 1024 * 1024
"""Bytes of a pipe, which has to be kept to be read twice; a file may have any size."""
_PIECE = 1024 * 1024


@click.command("report")
@click.argument("journal", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True))
@click.option(
    "--format",
    "form",
    type=click.Choice(get_args(Format)),
    help="Else by the name of -o: .html, .txt, .xml, .md; text.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Else stdout.")
def command(journal: Path, form: Format | None, output: Path | None) -> int:
    """Draw every exchange of a JOURNAL, the file of `run --journal` (- is stdin): when each piece came and went, what
    faults did, how it ended. html is one file that opens offline. Verdicts are in the reports of `run --report`."""
    if output is not None and output.exists() and journal.exists() and output.samefile(journal):
        raise UsageError(f"the report would overwrite its journal {journal}: name another file with -o")
    form = form or (form_of(output) if output else None) or "text"
    with _opened(journal) as file:
        problems = _Problems(journal)
        records = JournalLines(file, problems)
        if next(iter(records), None) is None and problems.count:
            problems.tell()
            raise UsageError(f"{journal} is no journal: not one line of it is an exchange")
        title = journal.name if str(journal) != "-" else "stdin"
        if output is not None:
            save(output, pieces(records, (), form, title=title))
        elif form == "text":
            show(text.painted(records, (), title, paint()))
        else:
            show(pieces(records, (), form, title=title))
        problems.tell()
    return 0


class _Problems:
    """Lines that are no exchange: the first of them by number, all by count."""

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self._lines: list[str] = []
        self.count = 0

    def __call__(self, number: int, why: str) -> None:
        self.count += 1
        if self.count <= TOLD:
            self._lines.append(f"{self._journal}:{number}: {why}")

    def tell(self) -> None:
        """On stderr."""
        for line in self._lines:
            click.echo(message(line), err=True)
        if self.count > TOLD:
            click.echo(message(f"{self._journal}: and {counted(self.count - TOLD, 'further line')}"), err=True)


@contextlib.contextmanager
def _opened(journal: Path) -> Iterator[BinaryIO]:
    """For reading more than once: of a pipe there is a copy."""
    if str(journal) == "-" and sys.stdin is None:
        raise UsageError("cannot read the journal -: stdin is closed")
    with contextlib.ExitStack() as stack:
        try:
            file: BinaryIO = sys.stdin.buffer if str(journal) == "-" else stack.enter_context(journal.open("rb"))
            if not file.seekable():
                copy = stack.enter_context(tempfile.TemporaryFile())
                _copy(file, copy)
                file = copy
            elif not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UsageError(f"cannot read the journal {journal}: not a regular file")
        except OSError as error:
            raise UsageError(f"cannot read the journal {journal}: {error.strerror}") from error
        yield file


def _copy(pipe: BinaryIO, copy: BinaryIO) -> None:
    """What comes out of a pipe, to its end."""
    size = 0
    while piece := pipe.read(_PIECE):
        size += len(piece)
        if size > MOST_PIPED:
            raise OSError(errno.EFBIG, f"more than {MOST_PIPED >> 20} MiB in a pipe; name the file itself")
        copy.write(piece)
