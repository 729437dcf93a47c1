"""All exchanges of a report in a few numbers: how many ended how, by status.

Rules: one pass, bounded whatever there is. Must not know: how it is shown.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.judging.check import Verdict
from chaosproxy.model.units import counted
from chaosproxy.report.line import ending

Tone = Literal["good", "own", "left", "bad", "running"]
MOST = 50
"""So many groups are told apart."""
OTHERS = "other endings"


def tone(record: ExchangeRecord) -> Tone:
    """What the ending's colour says: the upstream's clean end, an answer or a clean end of the proxy's own, the client
    left, a broken end, none yet."""
    end = record.end
    if end is None:
        return "running"
    if end.by == "client":
        return "left"
    if end.how != "clean":
        return "bad"
    return "good" if end.by == "upstream" else "own"


@dataclass(slots=True)
class Group:
    """Exchanges with the same status and ending."""

    status: str
    ending: str
    tone: Tone
    count: int = 0
    first: float | None = None
    """The longest time until the first event."""
    longest: float | None = None
    """Until the end."""


@dataclass(frozen=True, slots=True)
class Overview:
    """The groups, the largest first."""

    total: int
    groups: tuple[Group, ...]

    @classmethod
    def of(cls, records: Iterable[ExchangeRecord]) -> "Overview":
        groups: dict[tuple[str, str], Group] = {}
        total = 0
        for record in records:
            total += 1
            key = status(record), ending(record.end)
            if key not in groups and len(groups) >= MOST:
                key = "any", OTHERS
            group = groups.setdefault(key, Group(*key, "bad" if key[1] is OTHERS else tone(record)))
            group.count += 1
            group.first = _longer(group.first, record.times.first_event_out)
            group.longest = _longer(group.longest, record.times.end)
        return cls(total, tuple(sorted(groups.values(), key=lambda group: -group.count)))


def headline(overview: Overview, verdicts: Sequence[Verdict]) -> str:
    """`1 of 3 expectations failed, 12 exchanges`."""
    exchanges = counted(overview.total, "exchange")
    if not verdicts:
        return exchanges
    failed = sum(not verdict.good for verdict in verdicts)
    judged = counted(len(verdicts), "expectation")
    return f"{failed} of {judged} failed, {exchanges}" if failed else f"{judged} met, {exchanges}"


def status(record: ExchangeRecord) -> str:
    """The answer's status, `-` where there was none."""
    return str(record.response.status or "-")


def facts(record: ExchangeRecord) -> Iterator[str]:
    """`first event 51 ms`, `9 events`, `450 bytes`: what there is to say of an answer in numbers."""
    times, response = record.times, record.response
    if times.first_event_out is not None:
        yield f"first event {milliseconds(times.first_event_out)}"
    elif times.head_sent is not None:
        yield f"head {milliseconds(times.head_sent)}"
    if response.events_out is not None:
        yield counted(response.events_out, "event")
    yield counted(response.bytes_out, "byte")


def milliseconds(seconds: float | None) -> str:
    """`405 ms`, `-` for what did not happen."""
    return "-" if seconds is None else f"{seconds * 1000:.0f} ms"


def _longer(one: float | None, other: float | None) -> float | None:
    return max((seconds for seconds in (one, other) if seconds is not None), default=None)
