"""Which cases are run. Must not know: what they are about."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from chaosproxy.check.case import Case
from chaosproxy.check.table import CASES
from chaosproxy.errors import UsageError

SUITES: dict[str, frozenset[str]] = {
    "quick": frozenset({"quick"}),
    "full": frozenset({"quick", "full"}),
    "slow": frozenset({"slow"}),
}
"""Of which cases each consists."""


def choose(suite: str, only: Sequence[str] = (), skip: Sequence[str] = ()) -> tuple[Case, ...]:
    """Those of a suite, or those that `only` names, of whatever suite; without those of `skip`. UsageError where a glob
    fits none."""
    for glob in (*only, *skip):
        if not any(fnmatchcase(case.id, glob) for case in CASES):
            raise UsageError(f"no case is called {glob!r}; `chaosproxy check full --list` has all")
    chosen = [case for case in CASES if any(fnmatchcase(case.id, glob) for glob in only)] if only else _of(suite)
    return tuple(case for case in chosen if not any(fnmatchcase(case.id, glob) for glob in skip))


def _of(suite: str) -> Sequence[Case]:
    if suite not in SUITES:
        raise UsageError(f"no suite is called {suite!r}; there are: {', '.join(SUITES)}")
    return [case for case in CASES if case.suite in SUITES[suite]]
