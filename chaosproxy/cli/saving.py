"""Reports as files: by its name each has its format, and a file of that name is written whole or not at all.

Must not know: what is in a report, who asks for one.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from chaosproxy import files
from chaosproxy.cli.ready import check
from chaosproxy.errors import UnavailableError, UsageError
from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.judging.check import Verdicts
from chaosproxy.report.pages import SUFFIXES, form_of, pieces


def check_reports(reports: Iterable[Path]) -> None:
    """UsageError if one has a name of no format, or cannot be written there; before anything is begun for it."""
    for file in reports:
        if form_of(file) is None:
            raise UsageError(f"--report {file}: its name must end in one of {', '.join(SUFFIXES)}")
        check(file, "the report")


def save_reports(reports: Iterable[Path], records: Sequence[ExchangeRecord], judged: Verdicts, title: str) -> None:
    """One report in each file."""
    for file in reports:
        save(file, pieces(records, judged.each, form_of(file) or "text", title=title))


def save(file: Path, report: Iterable[str]) -> None:
    """Write a report. UnavailableError if that cannot be."""
    try:
        files.write(file, report)
    except OSError as error:
        raise UnavailableError(f"cannot write the report {file}: {error.strerror}") from error
