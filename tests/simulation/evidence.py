"""What has to be true of the evidence that is kept of an exchange, whatever the world: it agrees with the journal.

Must not know: the checks that read it.
"""

from collections.abc import Iterator, Sequence

from chaosproxy.journal.evidence import Evidence
from chaosproxy.journal.record import ExchangeRecord

EXPECT = ["unchanged", {"heartbeat": "1s"}, {"attempts": 1}, {"ended": {"how": "clean"}}]
"""Expectations that need no other request of the upstream than would be sent without them."""


def disagreements(record: ExchangeRecord) -> Iterator[str]:
    """Lines for a person."""
    evidence = record.evidence
    if evidence is None or evidence.scenario is None or record.response.events_in is None:
        return  # it was over before a rule was found, or has no events
    response, times = record.response, record.times
    yield from _series("came", evidence.events_in, response.events_in, times.first_event_in, None)
    went = evidence.events_out
    yield from _series("went", went, response.events_out or 0, times.first_event_out, times.last_event_out)
    yield from _bodies(evidence, record)


def _series(what: str, seen: Sequence[float], count: int, first: float | None, last: float | None) -> Iterator[str]:
    if len(seen) != count:
        yield f"{count} events {what}, and the times of {len(seen)} are known"
    if seen and (list(seen) != sorted(seen) or seen[0] != first or last not in (None, seen[-1])):
        yield f"events {what} at {list(seen)}, and the journal has {first} to {last}"


def _bodies(evidence: Evidence, record: ExchangeRecord) -> Iterator[str]:
    if evidence.same and record.response.bytes_in != record.response.bytes_out:
        yield f"{record.response.bytes_in} bytes came, {record.response.bytes_out} went, and they are the same"
    if (evidence.request is None) is (record.times.request_end is not None):
        yield "what was asked is known only in part, or not though all of it has come"
