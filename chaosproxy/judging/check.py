"""The base of every check: a frozen spec (its YAML), and what it finds in the records of the exchanges that it is about.

Must not know: any particular check, which exchanges those are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from chaosproxy.journal.evidence import Question
from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.model.shown import LONGEST_LINE, shown


@dataclass(frozen=True, slots=True)
class Finding:
    """What one exchange, or the attempts of one call, had to show."""

    exchanges: tuple[int, ...]
    """Their ids."""
    good: bool
    seen: str
    """What was seen, for a person: `the first event after 2003 ms`."""
    moments: tuple[str, ...] = ()
    """Which fields of the record's times prove it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One check over all exchanges that it is about."""

    check: str
    """Its name."""
    expected: str
    """For a person: `the first event within 500 ms`."""
    findings: tuple[Finding, ...]
    nothing: str
    """What there would have to be for it to be judged."""

    @property
    def good(self) -> bool:
        """All hold, and there is one."""
        return bool(self.findings) and all(finding.good for finding in self.findings)

    @property
    def bad(self) -> tuple[Finding, ...]:
        """The findings that contradict it."""
        return tuple(finding for finding in self.findings if not finding.good)

    def as_json(self) -> dict[str, object]:
        """Ready for `json.dumps`."""
        found = [{"exchanges": list(one.exchanges), "good": one.good, "seen": one.seen} for one in self.findings]
        return {"check": self.check, "good": self.good, "expected": self.expected, "findings": found}

    def __str__(self) -> str:
        """`first_event: expected the first event within 500 ms; #1: the first event after 2003 ms`. A line, whatever a peer
        has sent."""
        return shown(self._said(), LONGEST_LINE)

    def _said(self) -> str:
        if self.good:
            return f"{self.check}: {self.expected}: {len(self.findings)} of {len(self.findings)}"
        if not self.findings:
            return f"{self.check}: expected {self.expected}; nothing to judge: {self.nothing}"
        said = "; ".join(f"{_ids(finding)}: {finding.seen}" for finding in self.bad)
        return f"{self.check}: expected {self.expected}; {said}"


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Those of all expectations of a scenario, in their order."""

    each: tuple[Verdict, ...]

    @property
    def good(self) -> bool:
        """All are; of a scenario that expects nothing too."""
        return all(verdict.good for verdict in self.each)

    @property
    def bad(self) -> tuple[Verdict, ...]:
        """Those that are not."""
        return tuple(verdict for verdict in self.each if not verdict.good)

    def __str__(self) -> str:
        return "\n".join(map(str, self.each))


def _ids(finding: Finding) -> str:
    return ", ".join(f"#{one}" for one in finding.exchanges)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What a scenario expects. Field names are the YAML keys, types and defaults the schema, docstrings the reference."""

    name: ClassVar[str]
    """The YAML key."""
    main: ClassVar[str | None] = None
    """The field that a bare value sets."""
    nothing: ClassVar[str] = "no exchange has ended"
    """What to say where nothing could be judged."""
    reads_records: ClassVar[bool] = False
    """It needs the records of the response: a coded body has none."""
    needs_events: ClassVar[bool] = False
    """It needs the time of each record."""
    needs_contents: ClassVar[bool] = False
    """It needs to know which records say something."""
    needs_bodies: ClassVar[bool] = False
    """It compares the bytes of the response as they came and as they went."""
    needs_requests: ClassVar[bool] = False
    """It compares the bodies of requests."""

    @property
    def question(self) -> Question | None:
        """What the upstream has to be asked once a client has left. Default: nothing."""
        return None

    @property
    def expected(self) -> str:
        """What is expected, for a person."""
        raise NotImplementedError  # a check without it is a bug of whoever wrote it

    def look(self, records: Sequence[ExchangeRecord]) -> list[Finding]:
        """What it finds; of an exchange to which it does not apply nothing. Default: `see`, one by one."""
        return [found for record in records if (found := self.see(record)) is not None]

    def see(self, record: ExchangeRecord) -> Finding | None:
        """What it finds in one exchange, None if it does not apply."""
        raise NotImplementedError  # likewise, where `look` is not overridden

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        """Impossible combinations, as (path of keys, message)."""
        return []

    def misses(self, faults: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
        """Of the faults of its scenario, as (name, name of the hop), what it asks for in vain: in words, and what was asked
        for. Default: nothing."""
        return None

    def judge(self, records: Sequence[ExchangeRecord]) -> Verdict:
        """The verdict over the exchanges that it is about."""
        return Verdict(self.name, self.expected, tuple(self.look(records)), self.nothing)


C = TypeVar("C", bound=type[Check])

CHECKS: dict[str, type[Check]] = {}
"""Every check by its YAML name."""


def register(check: C) -> C:
    """Class decorator: make a check known by its name."""
    CHECKS[check.name] = check
    return check


def found(record: ExchangeRecord, good: bool, seen: str, *moments: str) -> Finding:
    """A finding of one exchange."""
    return Finding((record.id,), good, seen, moments)
