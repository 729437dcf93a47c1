"""A gateway's card: a server of ours behind it, a client of ours in front, and what it makes of what passes.

One case after the other: a gateway knows its server by one address. Must not know: which gateway it is.
"""

import json
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import trio

from chaosproxy.check.busy import Lateness
from chaosproxy.check.card import Card, Result
from chaosproxy.check.case import Case
from chaosproxy.check.facts import Facts, facts_of
from chaosproxy.check.judge import HEARD, Judged
from chaosproxy.check.runner import Observed, origin_for, scenario_of, warm_up
from chaosproxy.check.told import Told
from chaosproxy.client.answer import Answer
from chaosproxy.client.asking import Peer, ask
from chaosproxy.embedded.opened import OpenProxy, open_proxy
from chaosproxy.errors import UpstreamFault, UsageError
from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.judging.words import ms
from chaosproxy.model.messages import RequestHead
from chaosproxy.model.units import counted
from chaosproxy.model.validate import check_request
from chaosproxy.model.vocabulary import Framing
from chaosproxy.proxy.address import UpstreamAddress

QUESTION = json.dumps(
    {"model": "m", "max_tokens": 64, "messages": [{"role": "user", "content": "hi"}], "stream": True}
).encode()
LEAVES_BEHIND = 3
SETTLE = 2.0
"""Seconds that are given to a gateway to end what it has begun."""
HELD = 0.5
"""Of the time over which an answer came, the part in which a client has all of it where it was held."""


@dataclass
class GatewayExamination:
    """`gateway`: where it accepts; `listen`: where it finds its server; `path`: what is asked."""

    gateway: UpstreamAddress
    listen: str
    path: str
    cases: Sequence[Case]
    patience: float = 10.0
    _results: list[Result] = field(default_factory=list)

    async def run(self) -> Card:
        """Every case. UsageError for a path that cannot be asked for, UpstreamFault if nobody accepts at the gateway,
        UnavailableError if its server's port is taken."""
        head = self._head()
        await trio.to_thread.run_sync(warm_up)
        self._lateness = Lateness()
        async with trio.open_nursery() as clock:
            clock.start_soon(self._lateness.run)
            # One server for all: a gateway keeps its connections, and is to meet no end of one that is beside the case.
            async with (
                origin_for(self.cases[0]) as origin,
                open_proxy(upstream=origin.url, listen=self.listen) as server,
            ):
                for case in self.cases:
                    self._results.append(await self._one(case, head, server))
            clock.cancel_scope.cancel()
        return self.so_far

    @property
    def so_far(self) -> Card:
        """The card of those that are judged: all, or what whoever has ended it has left."""
        return Card("gateway", tuple(self._results))

    async def _one(self, case: Case, head: RequestHead, server: OpenProxy) -> Result:
        began = trio.current_time()
        server.use(scenario_of(case, None, 0.0))
        server.clear()
        answer, left = await self._asked(case, head)
        await server.settle(SETTLE)
        records = tuple(server.exchanges)
        facts = facts_of(records)
        judged = _judge(case, answer, facts, records, left)
        took = trio.current_time() - began
        told = Told(_text(answer), error="" if answer.end == "clean" else answer.end, ended=took)
        return Result(case, judged, Observed(told, facts, records, 0.0, self._lateness.since(began), took))

    def _head(self) -> RequestHead:
        gateway = self.gateway
        fields = (
            (b"host", gateway.authority),
            (b"content-type", b"application/json"),
            (b"accept", b"text/event-stream"),
            (b"authorization", b"Bearer chaosproxy"),
            (b"content-length", b"%d" % len(QUESTION)),
        )
        target = gateway.prefix + self.path.encode("utf-8", "surrogateescape")
        scheme = b"https" if gateway.tls else b"http"
        head = RequestHead(b"POST", target, fields, scheme=scheme, authority=gateway.authority, framing=Framing.LENGTH)
        if problem := check_request(head):
            raise UsageError(f"--path: {problem}")
        return head

    async def _asked(self, case: Case, head: RequestHead) -> tuple[Answer, float | None]:
        """The answer, or when the client left it, in seconds since 1970."""
        gateway = self.gateway
        protocol = "h2" if gateway.scheme == "h2c" else "http/1.1"
        context = ssl.create_default_context() if gateway.tls else None
        came, enough = 0, trio.Event()

        def seen(events: int) -> None:
            nonlocal came
            came += events
            if case.leaves and came >= LEAVES_BEHIND:
                enough.set()

        answers: list[Answer] = []
        async with trio.open_nursery() as nursery:

            async def asking() -> None:
                peer = Peer(gateway.host, gateway.port, protocol, context)
                try:
                    answers.append(await ask(peer, head, QUESTION, self.patience, seen))
                except UpstreamFault as fault:
                    raise UpstreamFault(_unreachable(str(fault))) from fault
                enough.set()

            nursery.start_soon(asking)
            await enough.wait()
            left = time.time()
            nursery.cancel_scope.cancel()
        return (answers[0], None) if answers else (Answer(protocol), left)


def _unreachable(said: str) -> str:
    """A dial names options of the proxy's, which there are not here."""
    reason, hint, _ = said.partition("; --upstream-ca ")
    return f"{reason}; SSL_CERT_FILE names whom to trust" if hint else said


def _judge(case: Case, answer: Answer, facts: Facts, records: Sequence[ExchangeRecord], left: float | None) -> Judged:
    if not records:
        return Judged("raised", False, f"no request came through: status {answer.status or 'none'}, {answer.end}")
    if left is not None:
        return _aborted(facts, left)
    if case.leaves:
        return Judged("not_applicable", None, "it was over before the client could leave")
    tokens = _tokens(answer, case)
    had = f"{tokens} of {len(case.text.split())} tokens"
    if case.attempts is not None and facts.requests > case.attempts:
        return Judged("duplicated", False, f"the server was asked {counted(facts.requests, 'time')}; {had}")
    if answer.status is None or answer.status >= 400:
        good = "raised" in case.good and (facts.requests > 0)
        return Judged("raised", good, f"status {answer.status or 'none'}, {answer.end}")
    if answer.end != "clean":
        return Judged("raised", "raised" in case.good, f"{had}, then {answer.end}")
    if '"error"' in _text(answer):
        return Judged("flagged", "flagged" in case.good, f"{had}, and an error in the stream")
    if tokens < len(case.text.split()):
        return Judged("truncated", False, f"{had}, and {answer.hidden or 'a clean end'}")
    return _in_time(case, answer, records)


def _in_time(case: Case, answer: Answer, records: Sequence[ExchangeRecord]) -> Judged:
    times = [seconds for seconds, _ in answer.events]
    sent = [seconds for seconds, _ in records[0].deliveries]
    good = "whole" in case.good
    if not times or not sent:
        return Judged("whole", good, "all tokens")
    widest = max((later - earlier for earlier, later in pairwise(times)), default=0.0)
    if times[-1] - times[0] < HELD * (sent[-1] - sent[0]):
        return Judged(
            "late", False, f"all tokens, within {ms(times[-1] - times[0])}; sent over {ms(sent[-1] - sent[0])}"
        )
    return Judged("whole", good, f"all tokens, the longest gap {ms(widest)}")


def _aborted(facts: Facts, left: float) -> Judged:
    after = None if facts.left is None else facts.began + facts.left - left
    if after is None or after > HEARD:
        return Judged("hangs", False, f"the server heard of it {'never' if after is None else f'{ms(after)} later'}")
    return Judged("whole", True, f"the server heard of it within {ms(max(0.0, after))}")


def _text(answer: Answer) -> str:
    return answer.text.decode("utf-8", "replace")


def _tokens(answer: Answer, case: Case) -> int:
    """How many tokens of the server's are in it, however their JSON is written."""
    text = _text(answer)
    return sum(token in text or json.dumps(token)[1:-1] in text for token in case.text.split())
