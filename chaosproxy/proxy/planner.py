"""The scenario in force: decides which rule takes an exchange and builds its plan.

An immutable snapshot with counting rules; a reload makes a new one, and running exchanges keep what they began with.
Must not know: sockets, sessions, files.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from chaosproxy.chain.chain import Chain
from chaosproxy.chain.fault import Context, FaultSpec
from chaosproxy.chain.placed import Placed
from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.judging.check import Verdicts
from chaosproxy.judging.judge import judge
from chaosproxy.model.messages import RequestHead
from chaosproxy.proxy.alarm import Alarm
from chaosproxy.proxy.connection_faults import ConnectionFaults
from chaosproxy.proxy.plan import Plan
from chaosproxy.scenario.rules import Decision, Rules
from chaosproxy.scenario.schema import Scenario, fault_random


@dataclass(frozen=True, slots=True)
class ClientFacts:
    """What a fault may know of the client's connection."""

    protocol: str
    tls: bool
    connection: int
    stream: int
    first_stream: int


class Planner:
    """One scenario with its seed and its counters."""

    def __init__(self, scenario: Scenario, seed: int, speed: float) -> None:
        self.scenario = scenario
        self.seed = seed
        self._speed = speed
        self._rules = Rules(scenario.rules, seed, scenario.expect)
        self._shared = {
            (index, number, label): spec.share()
            for index, rule in enumerate(scenario.rules)
            for number, hop in enumerate(rule.hops)
            for spec, label in zip(hop.faults, hop.labels, strict=True)
            if type(spec).share is not FaultSpec.share
        }

    def connection_faults(self, alarm: Alarm) -> ConnectionFaults:
        """What `connections:` does to new connections."""
        return ConnectionFaults(self.scenario, self.seed, self._speed, alarm)

    def decide(self, head: RequestHead, protocol: str) -> Decision:
        """Which rule applies; `needs_json`: not known before the body is complete."""
        return self._rules.decide(head, protocol)

    def decide_with_json(self, decision: Decision, document: object) -> Decision:
        """Finish a decision that needed the body."""
        return self._rules.decide_with_json(decision, document)

    def plan(self, decision: Decision, head: RequestHead, facts: ClientFacts, began: float) -> Plan:
        """The chain and what goes with it, bound for the life of the exchange."""
        placed: list[Placed] = []
        rule = decision.rule
        if rule is not None:
            assert decision.index is not None
            for number, hop in enumerate(rule.hops):
                for spec, label in zip(hop.faults, hop.labels, strict=True):
                    random = fault_random(self.seed, decision.index, decision.nth, number, label)
                    context = Context(
                        random=random,
                        request=head,
                        protocol=facts.protocol,
                        tls=facts.tls,
                        connection=facts.connection,
                        stream=facts.stream,
                        first_stream=facts.first_stream,
                        began=began,
                        speed=self._speed,
                        shared=self._shared.get((decision.index, number, label)),
                    )
                    placed.append(Placed(number, hop.name, spec, context))
        options = self.scenario.upstream
        return Plan(
            chain=Chain(placed, began=began),
            faulty=bool(placed),
            records=rule.records if rule is not None else None,
            host=options.host,
            mount=decision.mount.encode("latin-1"),
            identity=options.accept_encoding == "remove" and self._reads_records(decision),
        )

    def judge(self, records: Sequence[ExchangeRecord]) -> Verdicts:
        """What the scenario expected, and what these exchanges have shown of it."""
        return judge(self.scenario, [one.check for one in self.scenario.expect], records)

    def _reads_records(self, decision: Decision) -> bool:
        """Whether a fault, or a check that is about this exchange, needs a body whose records can be seen."""
        expect = self.scenario.expect
        return (decision.rule is not None and decision.rule.reads_records) or any(
            expect[number].check.reads_records for number in decision.judged
        )
