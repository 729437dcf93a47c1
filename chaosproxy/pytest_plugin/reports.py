"""Report files of failed tests, for whoever was not there: a page for a browser, and the journal.

Must not know: what is in a report.
"""

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from chaosproxy import files

if TYPE_CHECKING:
    from chaosproxy.embedded.served import ServedProxy

LONGEST = 150
"""Characters of a file's name, its last ones: file systems have limits."""
_UNSAFE = re.compile(r"[^\w.\[\]-]+")


def file(item: pytest.Item, number: int) -> Path | None:
    """The page of the test's proxy of that number; None where nobody wants one."""
    folder = _folder(item.config)
    if folder is None:
        return None
    return folder / f"{_name(item.nodeid)}{f'-{number + 1}' if number else ''}.html"


def _name(test: str) -> str:
    """The test's own as far as a file may be called so; a digest tells those apart that would be called the same."""
    name = _UNSAFE.sub("-", test).strip("-")
    parameters = test.partition("[")[2]
    if len(name) <= LONGEST and _UNSAFE.search(parameters) is None:
        return name
    return f"{name[-LONGEST:]}-{hashlib.blake2b(test.encode(), digest_size=4).hexdigest()}"


def _folder(config: pytest.Config) -> Path | None:
    """What the command line asks for, as seen from where pytest was started, else the ini file, from its own place."""
    asked: str | None = config.getoption("chaosproxy_report")
    if asked:
        return config.invocation_params.dir / asked
    configured: str = config.getini("chaosproxy_report")
    return config.rootpath / configured if configured else None


def write(page: Path, proxy: "ServedProxy", title: str) -> None:
    """The page, and beside it the journal."""
    from chaosproxy.journal.jsonl import line  # noqa: PLC0415 - loaded only where a report is asked for
    from chaosproxy.report.pages import write as written  # noqa: PLC0415 - the same

    page.parent.mkdir(parents=True, exist_ok=True)
    records = proxy.exchanges
    files.write(page, [written(records, proxy.verdict().each, title=f"{title}: {proxy.about}")])
    files.write(page.with_suffix(".jsonl"), (f"{line(record)}\n" for record in records))
