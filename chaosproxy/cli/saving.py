"""Reports as files: by its name each has its format, and a file of that name is written whole or not at all.

Must not know: what is in a report, who asks for one.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from chaosproxy.cli.ready import check
from chaosproxy.errors import UnavailableError, UsageError
from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.judging.check import Verdicts
from chaosproxy.report.pages import SUFFIXES, form_of, pieces


def check_reports(files: Iterable[Path]) -> None:
    """UsageError if one has a name of no format, or cannot be written there; before anything is begun for it."""
    for file in files:
        if form_of(file) is None:
            raise UsageError(f"--report {file}: its name must end in one of {', '.join(SUFFIXES)}")
        check(file, "the report")


def save_reports(files: Iterable[Path], records: Sequence[ExchangeRecord], judged: Verdicts, title: str) -> None:
    """One report in each file."""
    for file in files:
        save(file, pieces(records, judged.each, form_of(file) or "text", title=title))


def save(file: Path, report: Iterable[str]) -> None:
    """Write a report. UnavailableError if that cannot be."""
    in_place = file.is_symlink() or (file.exists() and not file.is_file())  # /dev/stdout stays what it is
    written = file if in_place else file.with_name(file.name + ".part")
    try:
        with written.open("w", encoding="utf-8", newline="\n") as opened:
            opened.writelines(report)
        if not in_place:
            written.replace(file)
    except OSError as error:
        if not in_place:
            written.unlink(missing_ok=True)
        raise UnavailableError(f"cannot write the report {file}: {error.strerror}") from error
