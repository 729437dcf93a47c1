"""What the proxies of a test have seen: judged behind it, shown where it fails, kept as a report if that is asked for.

Rules: a test that has failed by itself is never failed a second time; a test that was skipped, or never ran, is not
judged. Must not know: fixtures.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from chaosproxy.model.shown import shown
from chaosproxy.pytest_plugin import reports
from chaosproxy.pytest_plugin.marker import wrong

if TYPE_CHECKING:
    from chaosproxy.embedded.served import ServedProxy
    from chaosproxy.judging.check import Verdict

SETTLE = 5.0
"""Seconds that exchanges which still run behind a test have to end by themselves before they are judged."""
PASSED = pytest.StashKey[bool]()
"""The test has run to its end, and raised nothing."""
FAILED = pytest.StashKey[bool]()
"""Something about the test has failed so far."""
_WATCHES = pytest.StashKey[list["Watch"]]()


class Watch:
    """Of the proxies that one fixture has given to a test."""

    def __init__(self, item: pytest.Item, *, judge: bool, strict: bool = True) -> None:
        """`strict`: a check that had nothing to judge has failed too."""
        self._item, self._judge, self._strict = item, judge, strict
        self._proxies: list[ServedProxy] = []
        self._told = False
        """What was not as expected is the error itself."""
        item.stash[_WATCHES].append(self)

    def add(self, proxy: "ServedProxy") -> None:
        """One more."""
        self._proxies.append(proxy)

    def settle(self) -> None:
        """The test is over, and the proxies still run: exchanges that will be judged have a moment to end."""
        if self._judges():
            for proxy in self._proxies:
                if proxy.verdict().each:
                    proxy.settle(SETTLE)

    def judge(self) -> None:
        """Nothing more will happen: whatever is not as the scenarios expect fails the test."""
        failures = [text for proxy in self._proxies if (text := self._failure(proxy))] if self._judges() else []
        self._told = bool(failures)
        failed = self._item.stash[FAILED]
        if failures or failed:
            failures += self._keep()
        if failures:
            raise wrong("\n".join(failures))

    def _keep(self) -> Iterator[str]:
        """Writes what is asked for; what could not be written, in words."""
        for proxy, file in zip(self._proxies, self._reports(), strict=True):
            try:
                if file is not None:
                    reports.write(file, proxy, self._item.nodeid)
            except OSError as error:
                yield f"no report in {file}: {error.strerror}"

    def sections(self) -> Iterator[tuple[str, str]]:
        """What a report of the failed test shows."""
        for proxy, file in zip(self._proxies, self._reports(), strict=True):
            seen = proxy.timeline() or "no request has come"
            kept = f"report: {file}\n" if file is not None else ""
            yield f"chaosproxy {proxy.about}", f"{seen}\n{kept}once more: {proxy.command()}"
            if not self._told and (bad := self._bad(proxy)):
                yield "chaosproxy verdicts", _lines(proxy, bad)

    def _reports(self) -> list[Path | None]:
        """Where those of the proxies go."""
        watches = self._item.stash[_WATCHES]
        before = sum(len(one._proxies) for one in watches[: watches.index(self)])  # noqa: SLF001 - its own kind
        return [reports.file(self._item, before + number) for number in range(len(self._proxies))]

    def _judges(self) -> bool:
        return self._judge and self._item.stash[PASSED]

    def _bad(self, proxy: "ServedProxy") -> "list[Verdict]":
        return [one for one in proxy.verdict().bad if self._strict or one.findings]

    def _failure(self, proxy: "ServedProxy") -> str:
        bad = self._bad(proxy)
        if not bad:
            return ""
        of = len(proxy.verdict().each)
        return (
            f"{len(bad)} of {of} expectation{'s' * (of != 1)} of {shown(proxy.scenario)} failed\n{_lines(proxy, bad)}"
        )


@contextlib.contextmanager
def watching(item: pytest.Item, *, judge: bool, strict: bool = True) -> Iterator[Watch]:
    """Around the life of the proxies: behind it they are judged."""
    watch = Watch(item, judge=judge, strict=strict)
    yield watch
    watch.judge()


def begin(item: pytest.Item) -> None:
    """Nothing is known of it; of an earlier run of it no more."""
    item.stash[PASSED] = item.stash[FAILED] = False
    item.stash[_WATCHES] = []


def sections(item: pytest.Item) -> list[tuple[str, str]]:
    """Those of all proxies of a test."""
    return [section for watch in item.stash.get(_WATCHES, []) for section in watch.sections()]


def _lines(proxy: "ServedProxy", bad: "list[Verdict]") -> str:
    from chaosproxy.report.verdicts import verdicts  # noqa: PLC0415 - loaded only where there is something to tell

    return verdicts(bad, proxy.exchanges)
