"""What the faults have in common that change single records: where they can act, and in which bodies.

Must not know: what is done to a record.
"""

from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.chain.fault import FaultSpec
from chaosproxy.chain.trigger import Trigger
from chaosproxy.model.vocabulary import Way


def no_record_at(at: Trigger | None) -> list[tuple[tuple[str, ...], str]]:
    """The problem with a place that is no record, as `problems` has it."""
    if at is None or (at.moment is None and at.idle is None):
        return []
    what = "a silence" if at.moment is None else f"`{at.moment}`"
    return [(("at",), f"{what} is no record to act on; expected event, match, json, terminal, bytes, time or chunk")]


@dataclass(frozen=True, slots=True, kw_only=True)
class OnRecords(FaultSpec):
    """`at` is the record itself, not the place behind it; a `chunk` is one whatever is in it."""

    has_at: ClassVar[bool] = True
    needs_at: ClassVar[bool] = True
    ways: ClassVar[frozenset[Way]] = frozenset(Way)

    @property
    def reads_records(self) -> bool:
        return self.at is None or self.at.chunk is None

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        return no_record_at(self.at)
