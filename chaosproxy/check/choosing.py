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
    if suite not in SUITES:
        raise UsageError(f"no suite is called {suite!r}; there are: {', '.join(SUITES)}")
    of_suite = [case for case in CASES if case.suite in SUITES[suite]]
    return among(CASES, only, skip, of_suite)


def among(
    cases: Sequence[Case], only: Sequence[str], skip: Sequence[str], otherwise: Sequence[Case] | None = None
) -> tuple[Case, ...]:
    """Of these, those that `only` names, or all, or what is said `otherwise`; without those of `skip`."""
    for glob in (*only, *skip):
        if not any(fnmatchcase(case.id, glob) for case in cases):
            raise UsageError(f"no case is called {glob!r}; `--list` has all")
    chosen = [case for case in cases if any(fnmatchcase(case.id, glob) for glob in only)] if only else otherwise
    return tuple(
        case for case in (cases if chosen is None else chosen) if not any(fnmatchcase(case.id, glob) for glob in skip)
    )
