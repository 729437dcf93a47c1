"""The record of one exchange, field for field as the journal's JSON names them.

Times are real seconds from the request's first byte, None for what did not happen; bytes are body bytes without
framing. Must not know: where the facts come from.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from chaosproxy.journal.evidence import Evidence
from chaosproxy.journal.marks import Marks

FIRED = 1000
"""How often each fault of a hop may stand in one record: the first 999 times, and the latest."""


@dataclass(slots=True)
class Ending:
    """Who ended it (`client`, `upstream`, `proxy`), how on the wire, and why."""

    by: str
    how: str
    cause: str | None = None


@dataclass(slots=True)
class ClientView:
    """The client's side: its protocol (`http/1.1`, `h2`), which of the connections, counted from 1, and the stream on it
    (HTTP/2)."""

    protocol: str
    connection: int
    stream: int | None = None


@dataclass(slots=True)
class UpstreamView:
    """The upstream's side, as the client's; None where it was not reached. `end` says how that side ended."""

    protocol: str | None = None
    connection: int | None = None
    stream: int | None = None
    url: str | None = None
    end: Ending | None = None
    retries: int = 0
    """1 after an idle connection turned out to be closed and the request went out again on a fresh one."""
    removed: list[str] = field(default_factory=list)
    """Request fields that the proxy took out so that records can be read."""


@dataclass(slots=True)
class RequestView:
    """What the client asked, as it came; secrets are masked. `bytes` of body, without framing."""

    method: str = ""
    path: str = ""
    """Without its query."""
    query: str = ""
    headers: list[list[str]] = field(default_factory=list)
    bytes: int = 0


@dataclass(slots=True)
class ResponseView:
    """What the client was answered, as it went out. Bytes of body, without framing, and events (records), as they came
    from the upstream and as they went; events are None where there are none, or the body is coded."""

    status: int | None = None
    headers: list[list[str]] = field(default_factory=list)
    bytes_in: int = 0
    bytes_out: int = 0
    events_in: int | None = None
    events_out: int | None = None


@dataclass(slots=True)
class Times:
    """When what happened, in seconds from the request's first byte; None: it did not."""

    request_end: float | None = None
    upstream_connected: float | None = None
    upstream_head: float | None = None
    head_sent: float | None = None
    first_event_in: float | None = None
    first_event_out: float | None = None
    last_event_out: float | None = None
    client_closed: float | None = None
    upstream_closed: float | None = None
    end: float | None = None


@dataclass(slots=True)
class Fired:
    """A fault has acted: after `t` seconds, in which hop, counted from 0 and the upstream on; a line of detail."""

    t: float
    fault: str
    hop: int
    hop_name: str | None
    detail: str


@dataclass(slots=True)
class NotFired:
    """A fault of the rule that did not act, and why."""

    fault: str
    hop: int
    reason: str
    hop_name: str | None = None
    """Not in the JSON: its number is enough there."""


@dataclass(slots=True)
class ExchangeRecord:
    """One request and what became of it. Seconds count from the request's first byte; bytes are of body, without framing."""

    id: int
    """Counted from 1, in the order in which requests came."""
    scenario: str | None
    rule: int | None
    """The rule of the scenario, counted from 0; None: none applied."""
    seed: int
    started_at: str
    """Wall clock, UTC, ISO 8601 with milliseconds."""
    client: ClientView
    upstream: UpstreamView = field(default_factory=UpstreamView)
    request: RequestView = field(default_factory=RequestView)
    response: ResponseView = field(default_factory=ResponseView)
    times: Times = field(default_factory=Times)
    arrivals: Marks = field(default_factory=Marks)
    """`(seconds, bytes)` of each piece of body from the upstream: the first 10,000 and the last 100."""
    deliveries: Marks = field(default_factory=Marks)
    """The same of each piece that went to the client."""
    faults: list[Fired] = field(default_factory=list)
    faults_dropped: int = 0
    """What faults have done and `faults` does not tell."""
    not_fired: list[NotFired] = field(default_factory=list)
    end: Ending | None = None
    detail: str = ""
    """One line for a person, where something went wrong: the rule broken, the error seen."""
    evidence: Evidence | None = field(default=None, repr=False)
    """For the checks that are about it; None where there are none."""
    _counts: Counter[tuple[int, str]] | None = field(default=None, repr=False)

    def add_fired(self, fired: Fired) -> None:
        """A fault has acted. One that does so at each event of a day fills no memory, and pushes out no other."""
        faults = self.faults
        if len(faults) >= FIRED:
            if self._counts is None:
                self._counts = Counter((one.hop, one.fault) for one in faults)
            key = fired.hop, fired.fault
            self._counts[key] += 1
            if self._counts[key] > FIRED:
                places = range(len(faults) - 1, -1, -1)
                del faults[next(at for at in places if (faults[at].hop, faults[at].fault) == key)]
                self.faults_dropped += 1
        faults.append(fired)

    @property
    def dropped(self) -> int:
        """Marks left out of arrivals and deliveries."""
        return self.arrivals.dropped + self.deliveries.dropped

    def as_json(self) -> dict[str, Any]:
        """The journal's object, ready for `json.dumps`."""
        return {
            "id": self.id,
            "scenario": self.scenario,
            "rule": self.rule,
            "seed": self.seed,
            "started_at": self.started_at,
            "client": _plain(self.client),
            "upstream": {**_plain(self.upstream), "end": _plain(self.upstream.end) if self.upstream.end else None},
            "request": _plain(self.request),
            "response": _plain(self.response),
            "times": {name: _rounded(value) for name, value in _plain(self.times).items()},
            "arrivals": [[_rounded(seconds), nbytes] for seconds, nbytes in self.arrivals],
            "deliveries": [[_rounded(seconds), nbytes] for seconds, nbytes in self.deliveries],
            "dropped": self.dropped,
            "faults": [{**_plain(fired), "t": _rounded(fired.t)} for fired in self.faults],
            "faults_dropped": self.faults_dropped,
            "not_fired": [{"fault": one.fault, "hop": one.hop, "reason": one.reason} for one in self.not_fired],
            "end": _plain(self.end) if self.end else None,
            "detail": self.detail,
        }


def _plain(view: Any) -> dict[str, Any]:
    return {name: getattr(view, name) for name in type(view).__slots__}


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 6)
