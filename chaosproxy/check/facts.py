"""What the journal of a case shows of its client: how often it asked, how long it waited, when it left.

Rules: made of finished records alone. Must not know: what the client said of it, which verdict that makes.
"""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from chaosproxy.check.case import Kind, kind_of
from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.judging.calls import told_to_wait
from chaosproxy.judging.words import left_at

SPREAD = 0.1
"""Seconds: an answer that came in more came over a time."""
MOMENT = 0.02
"""Seconds: one that came in less came at once."""
_OUT_OF_REACH = {
    "no records": "the answer that it asked for is no stream",
    "not accepted": "it does not offer the coding",
    "coded body": "its answer was coded already",
    "protocol": "it speaks another version of HTTP",
}


@dataclass(frozen=True, slots=True)
class Wait:
    """Between two attempts: seconds that the client was told to wait, if it was, and that it did."""

    told: float | None
    waited: float


@dataclass(frozen=True, slots=True)
class Facts:
    """Of all exchanges of a case."""

    requests: int = 0
    kinds: frozenset[Kind] = frozenset()
    protocols: frozenset[str] = frozenset()
    connections: int = 0
    waits: tuple[Wait, ...] = ()
    out_of_reach: str = ""
    """Why the faults could not act on what it asked for."""
    events: int = 0
    """Delivered in all."""
    bytes: int = 0
    at_once: bool = False
    """What the server said over a time came to the client in one moment: its coding held it."""
    spread: bool = False
    """It came over a time."""
    began: float = 0.0
    """The first request, in seconds since 1970."""
    body_began: float | None = None
    """The first byte of a body after that."""
    last_byte: float = 0.0
    """The last byte of a body after that."""
    left: float | None = None
    """The client left the last request so many seconds after the first began; None: it did not."""
    ended: float = 0.0
    """The last exchange was over so many seconds after the first began."""

    @property
    def joined(self) -> bool:
        """What it asked for has no blanks between the tokens."""
        return self.kinds == {"sse"}


def facts_of(records: Sequence[ExchangeRecord]) -> Facts:
    """From the records of a case, in the order in which they came."""
    if not records:
        return Facts()
    ordered = sorted(records, key=lambda record: record.id)
    first, last = ordered[0], ordered[-1]
    since = began(first)
    left = left_at(last)
    deliveries = list(first.deliveries)
    came, went = _length(first.arrivals), _length(first.deliveries)
    coded = any(name.lower() == "content-encoding" for name, _ in first.response.headers)
    return Facts(
        requests=len(ordered),
        kinds=frozenset(kind_of(record.request.path) for record in ordered),
        protocols=frozenset(record.client.protocol for record in ordered),
        connections=len({record.client.connection for record in ordered}),
        waits=tuple(_wait(one, other) for one, other in pairwise(ordered)),
        out_of_reach=_out_of_reach(first),
        events=sum(record.response.events_out or 0 for record in ordered),
        bytes=sum(record.response.bytes_out for record in ordered),
        at_once=coded and came >= SPREAD and went < MOMENT,
        spread=went >= SPREAD,
        began=since,
        body_began=deliveries[0][0] if deliveries else None,
        last_byte=max((began(one) + seconds - since for one in ordered for seconds, _ in one.deliveries), default=0.0),
        left=None if left is None else began(last) + left - since,
        ended=began(last) + (last.times.end or 0.0) - since,
    )


def began(record: ExchangeRecord) -> float:
    """When its request came, in seconds since 1970."""
    return dt.datetime.fromisoformat(record.started_at).timestamp()


def _length(marks: Iterable[tuple[float, int]]) -> float:
    times = [seconds for seconds, _ in marks]
    return max(times) - min(times) if times else 0.0


def _wait(one: ExchangeRecord, other: ExchangeRecord) -> Wait:
    told = told_to_wait(one)
    over = one.times.head_sent if told is not None else one.times.end
    return Wait(told, max(0.0, began(other) - began(one) - (over or 0.0)))


def _out_of_reach(record: ExchangeRecord) -> str:
    left = record.end is not None and record.end.by == "client"  # before anything could be tried at the end
    for missed in record.not_fired:
        if missed.reason in _OUT_OF_REACH and not left:
            return _OUT_OF_REACH[missed.reason]
    ended_well = record.end is not None and record.end.by == "upstream" and record.end.how == "clean"
    if record.not_fired and not record.faults and ended_well:
        return "its answer has no such place"
    return ""
