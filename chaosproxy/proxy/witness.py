"""The pen of an exchange that will be judged: writes down also when each event passed, and compares what the checks compare.

It is there only where the scenario expects something; whatever it sees goes the long way. Must not know: what a check finds.
"""

import hashlib
from collections.abc import Sequence

from chaosproxy.chain.line import Line
from chaosproxy.framing.blocks import Blocks
from chaosproxy.framing.choose import kind_of
from chaosproxy.framing.saying import says
from chaosproxy.framing.splitter import RecordKind
from chaosproxy.journal.evidence import MOST_EVENTS, Evidence, Times
from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.model.headers import first
from chaosproxy.model.messages import Data, ResponseHead
from chaosproxy.proxy.observer import Observer
from chaosproxy.scenario.rules import Decision
from chaosproxy.scenario.schema import Scenario


class Witness(Observer):
    """An observer with evidence."""

    __slots__ = ("_asked", "_blocks", "_came", "_counted", "_evidence", "_kind", "_reads", "_went")

    watches = True

    def __init__(self, record: ExchangeRecord, began: float) -> None:
        super().__init__(record, began)
        self._evidence = record.evidence = Evidence(began)
        self._asked, self._came, self._went = (hashlib.blake2b(digest_size=16) for _ in range(3))
        self._reads = False
        self._counted = False
        """The exchange is over: what the same read still brings is for nobody."""
        self._kind: RecordKind | None = None
        self._blocks: Blocks | None = None
        """The records of the body as it goes out, where somebody asks what they say."""

    def judged(self, scenario: Scenario, decision: Decision) -> None:
        evidence = self._evidence
        evidence.scenario, evidence.checks = scenario, decision.judged
        checks = [scenario.expect[number].check for number in decision.judged]
        evidence.questions = [one.question for one in checks if one.question is not None]
        self._reads = any(one.needs_contents for one in checks)
        self._kind = decision.rule.records if decision.rule is not None else None

    def head_sent(self, head: ResponseHead, now: float) -> None:
        super().head_sent(head, now)
        kind = self._kind or kind_of(first(head.headers, b"content-type"))
        self._blocks = Blocks(kind) if self._reads and kind is not None and not self._coded else None
        self._kind = kind

    def asked(self, payload: bytes) -> None:
        self._asked.update(payload)

    def arrived(self, payload: bytes, now: float) -> None:
        super().arrived(payload, now)
        self._came.update(payload)

    def delivered(self, payload: bytes, now: float) -> None:
        super().delivered(payload, now)
        self._goes(payload, now)

    def passed(self, piece: Data, now: float) -> None:
        super().passed(piece, now)
        self._came.update(piece.payload)
        self._goes(piece.payload, now)
        evidence = self._evidence
        self._note(evidence.events_in, len(evidence.events_in) + len(piece.ends), now)
        if not self._coded:
            self._note(evidence.events_out, len(evidence.events_out) + len(piece.ends), now)

    def have_passed(self, times: Sequence[float], sizes: Sequence[int], last_event: float | None) -> None:
        raise AssertionError("the lane is closed to what is watched")

    def events_in(self, count: int, now: float) -> None:
        super().events_in(count, now)
        self._note(self._evidence.events_in, count, now)

    def events_out(self, count: int, now: float) -> None:
        super().events_out(count, now)
        if not self._coded:
            self._note(self._evidence.events_out, count, now)

    def _goes(self, payload: bytes, now: float) -> None:
        self._went.update(payload)
        if self._blocks is not None:
            kind = self._kind
            assert kind is not None
            if any(raw is None or says(kind, raw) for _, raw in self._blocks.feed(payload)):
                self._evidence.last_content = now - self._began

    def _note(self, times: Times, count: int, now: float) -> None:
        """There have been so many by now."""
        new = min(count, MOST_EVENTS) - len(times)
        if new > 0 and not self._counted:
            times.extend([now - self._began] * new)

    def totals(self, request: Line, response: Line) -> None:
        super().totals(request, response)
        self._counted = True
        if self.record.times.request_end is not None:
            self._evidence.request = self._asked.digest()
        if self.record.times.upstream_head is not None:
            self._evidence.same = self._came.digest() == self._went.digest()
