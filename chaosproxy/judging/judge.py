"""All verdicts of a run. Must not know: which exchanges a check is about; their evidence says so."""

from collections.abc import Sequence

import chaosproxy.judging.calls
import chaosproxy.judging.chain
import chaosproxy.judging.content
import chaosproxy.judging.leaving
import chaosproxy.judging.timing  # noqa: F401 -- their import registers the checks
from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.judging.check import Check, Verdicts


def judge(scenario: object, checks: Sequence[Check], records: Sequence[ExchangeRecord]) -> Verdicts:
    """A verdict for each check, over the records of finished exchanges that belong to `scenario`."""
    about: list[list[ExchangeRecord]] = [[] for _ in checks]
    for record in records:
        evidence = record.evidence
        if evidence is not None and evidence.scenario is scenario:
            for number in evidence.checks:
                about[number].append(record)
    return Verdicts(tuple(check.judge(found) for check, found in zip(checks, about, strict=True)))
