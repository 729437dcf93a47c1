"""What is kept of an exchange beyond what the journal shows, because a check will ask for it.

Rules: only there where the scenario expects something; bounded. Must not know: the checks.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

MOST_EVENTS = 100_000
"""Times of so many events are kept, each way; of those behind them a check knows nothing."""
Times: TypeAlias = "array[float]"


def _times() -> Times:
    return array("d")


@dataclass(frozen=True, slots=True)
class Question:
    """Where the upstream says in JSON what it is at, and how many seconds after the client has left it is to be asked."""

    at: str
    """A path on the upstream, or a whole URL."""
    after: float


@dataclass(frozen=True, slots=True)
class Account:
    """What the upstream said."""

    document: object
    problem: str
    """Why there is none; empty where there is."""
    others: int
    """For how many other exchanges the upstream may have been at work then."""


@dataclass(slots=True)
class Evidence:
    """Of one exchange."""

    began: float
    """When the request's first byte came, on a clock that all exchanges of a run share, in seconds."""
    scenario: object = None
    """Whose expectations they are: a proxy may change its scenario."""
    checks: Sequence[int] = ()
    """Which of these are about it, counted from 0."""
    request: bytes | None = None
    """A digest of the request's body; None: it was over before all of it had come."""
    events_in: Times = field(default_factory=_times)
    """When each event came from the upstream, in seconds from the request's first byte."""
    events_out: Times = field(default_factory=_times)
    """When each event went to the client."""
    last_content: float | None = None
    """When the last event that says something went to the client: no ping, no empty delta, no end mark."""
    same: bool | None = None
    """Whether the body went out as it came; None: no upstream has answered."""
    questions: Sequence[Question] = ()
    """What the upstream is to be asked, should the client leave."""
    accounts: dict[Question, Account] = field(default_factory=dict)
    """What it has answered."""
