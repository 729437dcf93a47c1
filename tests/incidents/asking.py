"""Clients that ask more than once, good and bad, in virtual time: what each has asked, and what it shows in the end."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import trio

from chaosproxy.testing.peers import RawClient
from chaosproxy.testing.proxied import Linked
from tests.incidents.readers import content, events
from tests.virtual.shipped import GET, complete, unchunked


@dataclass
class Answer:
    """One answer, and when it was asked for."""

    asked: float
    status: int
    text: str
    retry_after: str
    whole: bool


@dataclass
class Asked:
    """What a client did."""

    answers: list[Answer] = field(default_factory=list)
    shown: str = ""

    @property
    def waits(self) -> list[float]:
        """Between one request and the next."""
        times = [answer.asked for answer in self.answers]
        return [round(after - before, 3) for before, after in pairwise(times)]


async def ask(proxied: Linked, idle: float) -> Answer:
    """One request on a connection of its own, given up after `idle` seconds without a byte."""
    async with RawClient(proxied.connect()) as client:
        asked = trio.current_time()
        await client.send(GET)
        while client.ending is None and not complete(client.received) and b" 204 " not in client.head:
            with trio.move_on_after(idle) as waiting:
                await client.read()
            if waiting.cancelled_caught:
                break
        fields = dict(line.partition(b": ")[::2] for line in client.head.lower().split(b"\r\n")[1:])
        chunked = b"transfer-encoding" in fields
        body = unchunked(client.body) if chunked else client.body
        return Answer(
            asked,
            int(client.received.split()[1]) if client.received else 0,
            "".join(content(event) for event in events(body)),
            fields.get(b"retry-after", b"").decode(),
            complete(client.received),
        )


async def asking(
    proxied: Linked, again: Callable[[Answer], float | None], *, most: int = 10, idle: float = 60.0
) -> Asked:
    """Asks until `again` says None (or `most` times), waiting as long as it says; shows all text that came."""
    asked = Asked()
    for _ in range(most):
        answer = await ask(proxied, idle)
        asked.answers.append(answer)
        asked.shown += answer.text
        delay = again(answer)
        if delay is None:
            break
        await trio.sleep(delay)
    return asked
