"""What the demo asks for so that a scenario shows itself: which request, over which protocol, at which pace and speed.

Rules: the scenario decides, by its own rules: the first request that one of them takes is the one. Pure: nothing is
opened. Must not know: sockets, how the answer is drawn.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from chaosproxy.chain.fault import FaultSpec
from chaosproxy.model.headers import Headers
from chaosproxy.model.messages import RequestHead
from chaosproxy.model.units import duration, show_duration
from chaosproxy.scenario.dump import dump
from chaosproxy.scenario.rules import Rules
from chaosproxy.scenario.schema import Scenario

EVENTS = 40
GAP = 0.01
"""Seconds between events, where the scenario has no times of its own that need more."""
SHOWN = 0.5
"""Seconds that the longest time of a scenario takes in the demo, half of the stream, if it is longer than that."""
PATIENCE = 1.0
"""Seconds for which the demo's client waits beyond twice what the stream takes by itself."""
BEYOND = {"age", "keepalive"}
"""What is about a connection that outlives an exchange: its times are not those that one exchange has to show."""
MOST_BEFORE = 32
"""Requests that the demo sends first, to get to the one that a rule takes."""


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """One request to the embedded origin, without its pace."""

    method: str
    path: str
    body: Mapping[str, object] | None = None

    @property
    def json(self) -> bytes:
        """The body as it is sent."""
        return json.dumps(self.body).encode() if self.body is not None else b""

    @property
    def headers(self) -> Headers:
        """Of a client that streams, and that takes what browsers take."""
        common = ((b"accept", b"text/event-stream, application/x-ndjson"), (b"accept-encoding", b"gzip, deflate"))
        if self.body is None:
            return common
        return (*common, (b"content-type", b"application/json"), (b"content-length", b"%d" % len(self.json)))

    def target(self, tokens: int, first: float, gap: float) -> str:
        """The path with the origin's knobs."""
        return f"{self.path}?tokens={tokens}&first={show_duration(first)}&gap={show_duration(gap)}"


_ASK = {"role": "user", "content": "Why do my tokens come all at once?"}
_CHAT = {"model": "demo", "stream": True, "messages": [_ASK]}
SSE = Question("GET", "/sse")
CHAT = Question("POST", "/v1/chat/completions", _CHAT)
COMPLETIONS = Question("POST", "/v1/completions", {"model": "demo", "stream": True, "prompt": _ASK["content"]})
RESPONSES = Question("POST", "/v1/responses", {"model": "demo", "stream": True, "input": _ASK["content"]})
MESSAGES = Question("POST", "/v1/messages", {**_CHAT, "max_tokens": EVENTS})
OLLAMA = Question("POST", "/api/chat", _CHAT)
QUESTIONS = (SSE, CHAT, MESSAGES, OLLAMA, RESPONSES, COMPLETIONS)
FORMATS = {
    "openai": CHAT,
    "openai_flat": CHAT,
    "openai_responses": RESPONSES,
    "anthropic": MESSAGES,
    "ndjson": OLLAMA,
}
"""Whose answer a fault that speaks a provider's language belongs into."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One demonstration."""

    question: Question
    protocol: str
    """What the client speaks to the proxy: `http/1.1` or `h2`."""
    taken: bool
    """A rule of the scenario takes this request, or the scenario has none."""
    before: int
    """Requests to send first, for the rule to take the next one."""
    beside: int
    """Streams that are already running, where connections to the upstream are limited."""
    gap: float
    """Real seconds between the origin's events."""
    seed: int
    """Which the proxy must have too, or a rule with a probability would draw another lot."""
    speed: float
    longest: float
    """The longest time in the scenario, in its own seconds; 0 = it has none."""

    @property
    def length(self) -> float:
        """Real seconds that the stream takes by itself."""
        return EVENTS * self.gap

    @property
    def patience(self) -> float:
        """Real seconds after which the client gives up. A stream that waits for another takes twice its length."""
        return 2 * self.length + PATIENCE

    @property
    def target(self) -> str:
        return self.question.target(EVENTS, self.gap, self.gap)


def plan(scenario: Scenario, speed: float | None = None) -> Plan:
    """`speed`: as of `run`; None chooses one at which the scenario fits into a few seconds."""
    question, protocol, before = _taken(scenario) or (_preferred(scenario)[0], "http/1.1", -1)
    longest = _longest(scenario)
    stretched = longest > SHOWN
    pace = 2 * longest / EVENTS if stretched else GAP
    chosen = speed if speed is not None else longest / SHOWN if stretched else 1.0
    return Plan(
        question=question,
        protocol=protocol,
        taken=before >= 0 or not scenario.rules,
        before=max(before, 0),
        beside=min(scenario.upstream.max_connections or 0, MOST_BEFORE),
        gap=pace / chosen,
        seed=_seed(scenario),
        speed=chosen,
        longest=longest,
    )


def _seed(scenario: Scenario) -> int:
    return scenario.seed or 0


def _taken(scenario: Scenario) -> tuple[Question, str, int] | None:
    """The first request that a rule takes, over which protocol, and how many of the kind go before it."""
    protocols = ["http/1.1", "h2"]
    if any(connection.match.protocol == "h2" for connection in scenario.connections):
        protocols.reverse()
    if not scenario.rules:
        return _preferred(scenario)[0], protocols[0], 0
    for protocol, question in product(protocols, _preferred(scenario)):
        rules = Rules(scenario.rules, _seed(scenario))
        for before in range(MOST_BEFORE):
            if _takes(rules, question, protocol):
                return question, protocol, before
    return None


def _takes(rules: Rules, question: Question, protocol: str) -> bool:
    head = RequestHead(
        question.method.encode(), question.target(EVENTS, GAP, GAP).encode(), question.headers, authority=b"origin"
    )
    decision = rules.decide(head, protocol)
    if decision.needs_json:
        decision = rules.decide_with_json(decision, question.body)
    return decision.rule is not None


def _preferred(scenario: Scenario) -> list[Question]:
    """Every request that the origin answers with a stream, the one in which the scenario has most to do first."""
    faults = [fault for rule in scenario.rules for fault in rule.faults]
    first = [FORMATS[name] for fault in faults if (name := getattr(fault, "format", None)) in FORMATS]
    if any(rule.records == "lines" for rule in scenario.rules):
        first.append(OLLAMA)
    first += [MESSAGES for fault in faults if _looks_for(fault).startswith(("message_", "content_block_"))]
    first += [RESPONSES for fault in faults if _looks_for(fault).startswith("response.")]
    if any(map(_reads_answers, faults)):
        first.append(CHAT)
    return list(dict.fromkeys([*first, *QUESTIONS]))


def _reads_answers(fault: FaultSpec) -> bool:
    """Whether it looks for what only a provider's answer has: a terminal event, JSON, usage."""
    at = fault.at
    return fault.name == "strip" or (at is not None and (at.terminal or at.json or at.match) is not None)


def _looks_for(fault: FaultSpec) -> str:
    """The type of event at which it acts, "" for none."""
    pairs = fault.at.json if fault.at is not None else None
    return str(dict(pairs or ()).get("type", ""))


def _longest(scenario: Scenario) -> float:
    """Seconds of the longest time to be shown, 0 for none: of an exchange if it has one, else of its connection."""
    plain = dump(scenario)
    faults = [fault for one in plain.get("connections", []) for fault in one["faults"] if not fault.keys() & BEYOND]
    shown = max(_durations({**plain, "connections": faults}), default=0.0)
    return shown if shown > SHOWN else max(_durations(plain), default=0.0)


def _durations(plain: object) -> Iterator[float]:
    """Every finite duration in what a scenario looks like written out."""
    if isinstance(plain, str):
        try:
            seconds = duration(plain)
        except ValueError:
            return  # some other text
        if seconds < math.inf:
            yield seconds
    elif isinstance(plain, Mapping):
        for value in plain.values():
            yield from _durations(value)
    elif isinstance(plain, list):
        for value in plain:
            yield from _durations(value)
