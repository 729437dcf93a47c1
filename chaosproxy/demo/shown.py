"""One demonstration: the origin, the proxy and the client in one process, the same request twice.

Must not know: options, terminals, how it is drawn.
"""

from collections.abc import Callable
from dataclasses import dataclass

import trio

from chaosproxy.client.answer import Answer
from chaosproxy.client.asking import Peer, ask
from chaosproxy.demo.plan import GAP, Plan
from chaosproxy.embedded.opened import open_proxy
from chaosproxy.embedded.setup import Source
from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.model.messages import RequestHead
from chaosproxy.model.vocabulary import Framing
from chaosproxy.proxy.address import parse_upstream

DIRECT, THROUGH = "direct", "through"
Progress = Callable[[str, int], None]
"""Told with each read: which of the two, and how many events it brought."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What was seen."""

    direct: Answer
    through: Answer
    record: ExchangeRecord | None
    """The proxy's own account of the second."""


async def show(scenario: Source, plan: Plan, origin: str, progress: Progress = lambda _way, _events: None) -> Shown:
    """Ask `origin`, then ask it through a proxy that follows `scenario`."""
    direct = await _exchange(origin, "http/1.1", plan, lambda events: progress(DIRECT, events))
    async with open_proxy(scenario, upstream=origin, seed=plan.seed, speed=plan.speed) as proxy:
        for _ in range(plan.before):
            await _one(proxy.url, plan.protocol, plan, tokens=1)
        through = await _exchange(proxy.url, plan.protocol, plan, lambda events: progress(THROUGH, events))
    number = plan.before + plan.beside + 1  # the proxy counts them as they come
    record = next((record for record in proxy.exchanges if record.id == number), None)
    return Shown(direct, through, record)


async def _exchange(url: str, protocol: str, plan: Plan, seen: Callable[[int], None]) -> Answer:
    """The measured one, with others running already where the plan wants some."""
    async with trio.open_nursery() as nursery:
        for _ in range(plan.beside):
            headed = trio.Event()
            nursery.start_soon(_other, url, protocol, plan, headed)
            await headed.wait()
        answer = await _one(url, protocol, plan, seen=seen)
        nursery.cancel_scope.cancel()
    return answer


async def _other(url: str, protocol: str, plan: Plan, headed: trio.Event) -> None:
    await _one(url, protocol, plan, headed=headed)


async def _one(
    url: str,
    protocol: str,
    plan: Plan,
    *,
    tokens: int | None = None,
    seen: Callable[[int], None] = lambda _: None,
    headed: trio.Event | None = None,
) -> Answer:
    """`tokens`: another, quick answer instead of the planned one."""
    address = parse_upstream(url)
    question = plan.question
    head = RequestHead(
        question.method.encode(),
        (plan.target if tokens is None else question.target(tokens, GAP, GAP)).encode(),
        question.headers,
        authority=address.authority,
        framing=Framing.LENGTH if question.json else Framing.NONE,
        final=not question.json,
    )
    return await ask(Peer(address.host, address.port, protocol), head, question.json, plan.patience, seen, headed)
