"""Asks every hop, in every way, several times, one after another or a few side by side.

Rules: each request has a connection of its own. Rounds go through all hops before the next begins, so that whatever the
machine does meanwhile meets all of them. Must not know: what the answers mean.
"""

import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import trio

from chaosproxy.client.answer import Answer
from chaosproxy.client.asking import Peer, ask
from chaosproxy.diagnose.leaving import Counter, embedded, leave
from chaosproxy.diagnose.observed import Leaving, Observed, Pace, Variant
from chaosproxy.diagnose.question import Hop, Question, turns_knobs
from chaosproxy.errors import UnavailableError, UpstreamFault, first_of
from chaosproxy.model.headers import Headers, values, without
from chaosproxy.model.units import show_duration
from chaosproxy.proxy.address import UpstreamAddress
from chaosproxy.wire.tls import client_context

PACES = {
    Variant.PLAIN: Pace(25, 0.04, 0.04),
    Variant.CODED: Pace(25, 0.04, 0.04),
    Variant.DENSE: Pace(100, 0.01, 0.01, "m" * 400),
}
"""What the embedded origin is asked for: some events of a few bytes, and more bytes than most buffers hold."""
LEFT = Pace(12, 0.02, 0.3)
"""Silent for long enough to tell at once from only with the next write."""
DENSE_ROUNDS = 2
Told = Callable[[int, int, str], None]
"""How many of how many have been asked, and what comes next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One diagnosis."""

    hops: list[Hop]
    question: Question
    times: int = 3
    limit: float = 30.0
    """Seconds after which an answer is left."""
    jobs: int = 1
    """Requests that run at once."""
    protocol: str = "auto"
    """`http/1.1` or `h2` towards http:// and https:// URLs; `auto`: HTTP/1.1, and under TLS what is agreed on."""
    ca: Path | None = None
    insecure: bool = False
    leaves: bool = True
    """See who is told that a client has left, where that can be known."""
    probe: tuple[Hop, str] | None = None
    """Where the server says how many requests it is at work on, and under which name."""


async def measure(plan: Plan, told: Told = lambda _done, _all, _what: None) -> Observed:
    """Everything that is to be seen. UnavailableError if a hop cannot be reached."""
    return await Measuring(plan, told).measure()


@dataclass
class Measuring:
    """One diagnosis at work."""

    plan: Plan
    told: Told
    answers: dict[tuple[int, Variant], list[Answer]] = field(default_factory=dict)
    paces: Mapping[Variant, Pace] = field(default_factory=dict)
    peers: dict[UpstreamAddress, Peer] = field(default_factory=dict)
    jobs: int = 1
    done: int = 0
    all: int = 0
    leavings: dict[int, Leaving] = field(default_factory=dict)

    async def measure(self) -> Observed:
        """Everything that is to be seen. UnavailableError if a hop cannot be reached."""
        try:
            return await self._run()
        except BaseExceptionGroup as group:
            unreachable = first_of(UnavailableError, group)
            if unreachable is None:
                raise
            raise unreachable from None

    @property
    def so_far(self) -> Observed | None:
        """What was seen before somebody has ended it; None where not every hop has answered yet."""
        plan = self.plan
        if not all((number, Variant.PLAIN) in self.answers for number in range(len(plan.hops))):
            return None
        return Observed(plan.hops, self.answers, self.paces, self.leavings, plan.limit)

    async def _run(self) -> Observed:
        plan = self.plan
        for hop in plan.hops:
            self._peer(hop)  # what is wrong with it is said here, and not by one of many tasks
        inside = plan.hops[0]
        found = await embedded(self._peer(inside), inside.address.authority)
        server, slots = found or (None, plan.jobs)
        if server is not None:
            plan = self.plan = replace(plan, hops=[_streaming(hop, plan.question) for hop in plan.hops])
        self.jobs = max(1, min(plan.jobs, slots))  # who waits for its turn there would be late by that
        if server is not None and not any(map(turns_knobs, plan.hops)):
            self.paces = PACES
        variants = [Variant.PLAIN, Variant.CODED]
        if self.paces or plan.question.dense is not None:
            variants.append(Variant.DENSE)
        self.all = len(plan.hops) * plan.times
        for number in range(plan.times):
            now = [variant for variant in variants if number == 0 or self._again(variant, number)]
            self.all += len(plan.hops) * (len(now) - 1)
            await self._round(now)
        counter = server
        if plan.probe is not None:
            hop, name = plan.probe
            counter = Counter(self._peer(hop), hop.address.authority, hop.target, name)
        if counter is not None and plan.leaves:
            await self._leave(counter, server is not None)
        return Observed(plan.hops, self.answers, self.paces, self.leavings, plan.limit)

    def _again(self, variant: Variant, number: int) -> bool:
        """Whether it is worth another round."""
        if variant is Variant.DENSE:
            return number < DENSE_ROUNDS
        if variant is Variant.PLAIN:
            return True
        seen = [answer for (_, asked), answers in self.answers.items() if asked is variant for answer in answers]
        return any(answer.header("content-encoding") for answer in seen)

    async def _round(self, variants: list[Variant]) -> None:
        limiter = trio.CapacityLimiter(self.jobs)
        async with trio.open_nursery() as nursery:
            for variant in variants:
                for number in range(len(self.plan.hops)):
                    await limiter.acquire_on_behalf_of((variant, number))
                    nursery.start_soon(self._one, number, variant, limiter)

    async def _one(self, number: int, variant: Variant, limiter: trio.CapacityLimiter) -> None:
        hop = self.plan.hops[number]
        self.told(self.done, self.all, hop.name or hop.url)
        try:
            answer = await self._ask(hop, variant)
        except UpstreamFault as fault:
            raise _unreachable(hop, fault) from fault
        finally:
            limiter.release_on_behalf_of((variant, number))
        self.done += 1
        self.answers.setdefault((number, variant), []).append(answer)

    async def _ask(self, hop: Hop, variant: Variant) -> Answer:
        question = self.plan.question
        body = question.dense if variant is Variant.DENSE and question.dense is not None else question.body
        more = _codings(question, variant) + (_knobs(self.paces[variant]) if variant in self.paces else ())
        plain = Question(question.method, without(question.headers, (b"accept-encoding",)))
        return await ask(self._peer(hop), plain.head(hop, body, more), body, self.plan.limit, other="lines")

    async def _leave(self, counter: Counter, ours: bool) -> None:
        question = self.plan.question
        knobs = _knobs(LEFT) if ours and self.paces else ()
        for number, hop in enumerate(self.plan.hops):
            self.told(self.done, self.all, f"{hop.name or hop.url}, a client that leaves")
            head = question.head(hop, question.body, knobs)
            left = await leave(self._peer(hop), head, question.body, counter, LEFT.gap if knobs else 0.0)
            if left is not None:
                self.leavings[number] = left

    def _peer(self, hop: Hop) -> Peer:
        """Made once; UsageError if what it takes cannot be read."""
        if hop.address not in self.peers:
            self.peers[hop.address] = self._made(hop.address)
        return self.peers[hop.address]

    def _made(self, address: UpstreamAddress) -> Peer:
        protocol = self.plan.protocol
        if address.scheme == "h2c":
            return Peer(address.host, address.port, "h2")
        if not address.tls:
            return Peer(address.host, address.port, "h2" if protocol == "h2" else "http/1.1")
        offers = ("h2", "http/1.1") if protocol == "auto" else (protocol,)
        return Peer(address.host, address.port, protocol, self._context(offers))

    def _context(self, offers: tuple[str, ...]) -> ssl.SSLContext:
        return client_context(
            self.plan.ca, offers, insecure=self.plan.insecure, spelt=lambda name: f"--{name.removeprefix('upstream_')}"
        )


def _streaming(hop: Hop, question: Question) -> Hop:
    """Where no path is named, one at which the embedded origin streams."""
    if hop.target != "/":
        return hop
    return replace(hop, target="/v1/chat/completions" if question.body else "/sse")


def _unreachable(hop: Hop, fault: UpstreamFault) -> UnavailableError:
    said = str(fault).replace("--upstream-", "--")
    return UnavailableError(f"{hop.name or hop.url} cannot be asked: {said}")


def _codings(question: Question, variant: Variant) -> Headers:
    if variant is not Variant.CODED:
        return ()
    given = values(question.headers, b"accept-encoding")
    return ((b"accept-encoding", given[0] if given else b"gzip"),)


def _knobs(pace: Pace) -> Headers:
    said = {"tokens": str(pace.tokens), "first": show_duration(pace.first), "gap": show_duration(pace.gap)}
    if pace.text:
        said["text"] = pace.text
    return tuple((f"x-chaosproxy-{name}".encode(), value.encode()) for name, value in said.items())
