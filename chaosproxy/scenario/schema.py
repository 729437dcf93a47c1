"""A scenario as the proxy uses it: an immutable snapshot, everything read, checked and in numbers.

Rules: frozen and equal by value; made by `load`, bound when an exchange starts. Must not know: YAML, pydantic, files,
counters (`rules.py` holds those).
"""

from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Literal

from chaosproxy.chain.fault import FaultSpec
from chaosproxy.errors import Problem
from chaosproxy.framing.splitter import RecordKind
from chaosproxy.judging.check import Check
from chaosproxy.model.units import counted
from chaosproxy.scenario.nth import ALL, Nth


@dataclass(frozen=True, slots=True)
class UpstreamOptions:
    """How the proxy treats its upstreams."""

    protocol: Literal["http/1.1", "h2", "auto"] = "auto"
    """`auto`: the client's own version where the upstream can."""
    max_connections: int | None = None
    """Per upstream; further requests queue. None: no limit."""
    balance: Literal["request", "connection"] = "request"
    """What takes turns over several upstreams; `connection`: a client connection stays with one."""
    host: str | None = None
    """The Host that the upstream sees: `keep`, `upstream`, or a name of its own. None: `keep` for http, `upstream` for
    https."""
    accept_encoding: Literal["remove", "keep"] = "remove"
    """Whether Accept-Encoding goes from the request when a rule in force reads records."""


@dataclass(frozen=True, slots=True)
class Match:
    """What a request must look like. Strings are globs; None and () match everything."""

    method: str | None = None
    path: str | None = None
    """Without its query, and behind the rule's `mount`."""
    query: tuple[tuple[str, str], ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    """Names in lower case."""
    json: tuple[tuple[str, object], ...] = ()
    """(dotted path, value) pairs that the request's body must hold."""
    protocol: Literal["http/1.1", "h2"] | None = None
    """What the client speaks."""


@dataclass(frozen=True, slots=True)
class Hop:
    """One machine in between."""

    name: str | None = None
    faults: tuple[FaultSpec, ...] = ()
    """In the order a response meets them."""

    @property
    def labels(self) -> tuple[str, ...]:
        """For each fault what seeds its randomness: its name and its ordinal among its kind, so that inserting a fault
        does not change the draws of its neighbours."""
        seen: Counter[str] = Counter()
        labels = []
        for fault in self.faults:
            labels.append(f"{fault.name}:{seen[fault.name]}")
            seen[fault.name] += 1
        return tuple(labels)


@dataclass(frozen=True, slots=True)
class Rule:
    """Which exchanges meet which machines."""

    match: Match = Match()
    nth: Nth = ALL
    probability: float = 1.0
    records: RecordKind | None = None
    """None: by content type."""
    mount: str = ""
    """A path prefix that is matched and stripped; no slash at its end."""
    hops: tuple[Hop, ...] = ()
    """In the order a response meets them: upstream first, client last."""

    @property
    def faults(self) -> tuple[FaultSpec, ...]:
        """Every fault of every hop, upstream first."""
        return tuple(fault for hop in self.hops for fault in hop.faults)

    @property
    def reads_records(self) -> bool:
        """Whether any fault can only do its work in a body whose records are known."""
        return any(fault.reads_records for fault in self.faults)


@dataclass(frozen=True, slots=True)
class ConnectionMatch:
    """What is known when a connection begins. None matches everything."""

    side: Literal["client", "upstream"] | None = None
    number: Nth = ALL
    """Which connections of this side, counted from 1."""
    protocol: Literal["http/1.1", "h2"] | None = None
    sni: str | None = None
    """A glob over the name asked for in the TLS handshake."""


@dataclass(frozen=True, slots=True)
class Connection:
    """Faults of whole connections, before and under HTTP."""

    match: ConnectionMatch = ConnectionMatch()
    faults: tuple[FaultSpec, ...] = ()


@dataclass(frozen=True, slots=True)
class Expectation:
    """A check, and which exchanges it is about."""

    check: Check
    match: Match = Match()
    nth: Nth = ALL
    """Which of those that match, counted from 1."""


@dataclass(frozen=True, slots=True, repr=False)
class Scenario:
    """One scenario file, or several joined in order."""

    name: str
    about: str = ""
    seed: int | None = None
    """None: the proxy draws one and journals it."""
    upstream: UpstreamOptions = UpstreamOptions()
    rules: tuple[Rule, ...] = ()
    connections: tuple[Connection, ...] = ()
    expect: tuple[Expectation, ...] = ()
    warnings: tuple[Problem, ...] = field(default=(), compare=False)
    """What `lint` shows and `run` may; nothing that stops it."""
    given: object = field(default=None, compare=False)
    """What it was read from, where a program gave that."""

    def __repr__(self) -> str:
        """Without what is in it: some of that may be from the environment."""
        return f"<scenario {self.name!r}: {counted(len(self.rules), 'rule')}>"


TRANSPARENT = Scenario("transparent")
"""No rules: everything passes untouched."""


def fault_random(seed: int, rule: int, nth: int, hop: int, label: str) -> Random:
    """The randomness of one fault in one exchange; `label` comes from `Hop.labels`."""
    return Random(f"{seed}:{rule}:{nth}:{hop}:{label}")  # noqa: S311 -- repeatable on purpose
