"""Was anything smuggled? What a strict origin was asked is what was journalled, and nothing behind a refusal.

`bench` is a proxy between links with a `StrictOrigin` behind it, in virtual time; `tell` says bytes to it on a connection
of their own, and `differences` is what is not as it must be. Must not know: which requests there are.
"""

import contextlib
import random
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass

from trio.testing import wait_all_tasks_blocked

from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.testing.peers import RawClient
from chaosproxy.testing.proxied import Linked, linked
from chaosproxy.testing.recorder import QUIET, Ending
from tests.security.corpus import NEXT, REFUSED, Odd
from tests.security.mutations import mutated
from tests.security.reading import Answer, read_answers
from tests.security.served import SERVED, TUNNELS
from tests.security.strict import Asked, StrictOrigin, ok

UPSTREAMS = {"h1": "http://origin", "h2": "h2c://origin"}
ALL = [data for odd in (*REFUSED, *SERVED, TUNNELS) for data in odd.requests.values()]
_BEFORE_PATH = re.compile(rb"^[A-Za-z][A-Za-z0-9+.-]*://[^/?]*")
LAST = Asked(b"GET", b"/next", b"")
"""What `NEXT` is to an origin."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one connection."""

    answers: list[Answer]
    rest: bytes
    """What the client has received that is no answer."""
    ending: Ending | None
    records: list[ExchangeRecord]
    asked: list[Asked]
    begun: int
    """Requests that reached the origin, and not their end."""


class Bench:
    """A proxy, the origin behind it, and the records of the connection that is being tried."""

    def __init__(self, proxied: Linked, origin: StrictOrigin) -> None:
        self.proxied, self.origin = proxied, origin
        self.records: list[ExchangeRecord] = []
        proxied.proxy.journal.listen(self._note)

    def _note(self, record: ExchangeRecord) -> None:
        self.records.append(record)

    async def tell(self, pieces: list[bytes]) -> Outcome:
        """Say `pieces`, each a read of its own, and see what comes."""
        client = RawClient(self.proxied.connect())
        for piece in pieces:
            await client.send(piece)
        await client.read_all(QUIET)
        return await self.outcome(client)

    async def outcome(self, client: RawClient) -> Outcome:
        """What has come of everything on the connection of `client`, which is closed."""
        client.transport.close()
        await wait_all_tasks_blocked()
        records, self.records = sorted(self.records, key=lambda record: record.id), []
        answers, rest = read_answers(client.received)
        return Outcome(answers, rest, client.ending, records, *self.origin.take())


@contextlib.asynccontextmanager
async def bench(
    upstream: str = "h1", scenario: object = None, answer: Callable[[Asked], bytes] = ok
) -> AsyncIterator[Bench]:
    """`upstream` is the version that the origin speaks."""
    origin = StrictOrigin(answer)
    serve = origin.serve if upstream == "h1" else origin.serve_h2
    async with linked(scenario, serve, upstream=UPSTREAMS[upstream]) as proxied:
        yield Bench(proxied, origin)
    assert origin.wrong == []


def cuts(data: bytes, drawn: int | None) -> Iterator[list[bytes]]:
    """`data` with `NEXT` behind it: whole, byte by byte, and cut at `drawn` places of `data`, at each where that is None."""
    whole = data + NEXT
    yield [whole]
    yield [whole[i : i + 1] for i in range(len(whole))]
    places = range(1, len(data) + 1)
    chosen = places if drawn is None else random.Random(data).sample(places, min(drawn, len(places)))
    for at in chosen:
        yield [whole[:at], whole[at:]]


async def compared(odds: Iterable[Odd], drawn: int | None) -> tuple[int, list[str], set[int]]:
    """Each of them at so many cuts, in front of an origin of each version: how many were tried, what was not as it must
    be, and the statuses."""
    tried, found, statuses = 0, [], set()
    for upstream in UPSTREAMS:
        async with bench(upstream) as tested:
            for odd in odds:
                for name, data in odd.requests.items():
                    for pieces in cuts(data, drawn):
                        outcome = await tested.tell(pieces)
                        found += [
                            f"{name}, {upstream}, {pieces[0]!r}: {why}" for why in differences(odd, data, outcome)
                        ]
                        statuses.update(answer.status for answer in outcome.answers)
                        tried += 1
    return tried, found, statuses


def differences(odd: Odd, data: bytes, outcome: Outcome) -> list[str]:
    """What is not as it must be."""
    return _refused(odd.status, outcome) if odd.status is not None else _served(data, outcome)


def _refused(status: int, outcome: Outcome) -> list[str]:
    ends = [(one.end.by, one.end.cause, one.response.status) for one in outcome.records if one.end is not None]
    reached = [one for one in outcome.records if one.upstream.connection is not None]
    statuses = [one.status for one in outcome.answers]
    wanted = {
        f"answered {statuses} and {outcome.rest!r}": (statuses, outcome.rest) == ([status], b""),
        "no Connection: close": all(b"connection: close\r\n" in one.fields for one in outcome.answers),
        f"ended by {outcome.ending}": outcome.ending is Ending.FIN,
        f"journalled as {ends}": ends == [("proxy", "malformed", status)],
        f"the origin was asked {outcome.asked}": outcome.asked == [],
        f"begun {outcome.begun}, journalled {len(reached)}": outcome.begun == len(reached),
    }
    return [why for why, right in wanted.items() if not right]


def _served(data: bytes, outcome: Outcome) -> list[str]:
    alone = b" HTTP/1.0\r\n" in data or b"Connection: close\r\n" in data  # the last on its connection
    count = 1 if alone else 2
    journalled = [_journalled(record) for record in outcome.records]
    asked = [(one.method, _path(one.target), len(one.body)) for one in outcome.asked]
    said = [one.method + b" " + one.target for one in outcome.asked]
    wanted = {
        f"{len(outcome.asked)} requests": len(outcome.asked) == count and (alone or outcome.asked[-1] == LAST),
        f"journalled {journalled}, asked {asked}": journalled == asked,
        f"begun {outcome.begun}": not outcome.begun,
        f"answered {outcome.answers} and {outcome.rest!r}": [one.body for one in outcome.answers] == said
        and not outcome.rest,
    }
    return [why for why, right in wanted.items() if not right]


def _journalled(record: ExchangeRecord) -> tuple[bytes, bytes, int]:
    request = record.request
    return request.method.encode(), _path(request.path.encode("latin-1")), request.bytes


def _path(target: bytes) -> bytes:
    """Over HTTP/2 an absolute target is taken apart."""
    return _BEFORE_PATH.sub(b"", target).partition(b"?")[0] or b"/"


async def compared_mutated(seed: int, count: int) -> list[str]:
    """So many mutated requests for each version: where what the origin was asked whole is not what was journalled so."""
    found = []
    for upstream in UPSTREAMS:
        drawn = random.Random(seed)
        async with bench(upstream) as tested:
            for _ in range(count):
                data = mutated(ALL, drawn) + NEXT
                at = drawn.randrange(1, len(data))
                outcome = await tested.tell([data[:at], data[at:]])
                served = [one for one in outcome.records if one.end.cause is None and one.end.by == "upstream"]
                asked = [(one.method, _path(one.target), len(one.body)) for one in outcome.asked]
                if asked != [_journalled(one) for one in served] or tested.origin.wrong:
                    found.append(f"{upstream}, {data!r}: asked {asked} {tested.origin.wrong}")
                    tested.origin.wrong.clear()
                found += [f"{data!r}: {one.detail}" for one in outcome.records if one.end.cause == "internal"]
    return found
