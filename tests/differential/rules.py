"""What is asked of a proxy, one rule a row: each is one request of one client, and what is to be noticed of it.

Must not know: which of the two is asked.
"""

import contextlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import trio

from tests.differential import observed
from tests.differential.client import Client, connected
from tests.differential.observed import Observed
from tests.differential.origin import Origin, Seen
from tests.differential.scripts import CUT, DENSE, event

PATIENCE = 9.0
"""Seconds for an answer to end; who has said nothing by then says nothing more."""
SOON = 0.3
SETTLED = 1.5
"""Seconds without a byte taken after which no more will be."""


@dataclass(frozen=True, slots=True)
class Way:
    """How one answer is asked for."""

    origin: Origin
    port: int
    protocol: str
    name: str
    """Of this request alone."""

    @contextlib.asynccontextmanager
    async def asked(self, script: str, *, gzip: bool = False, lazy: bool = False) -> AsyncIterator[tuple[Client, Seen]]:
        """A client that has asked, and what the origin sees of it."""
        seen = self.origin.expect(self.name)
        async with connected(self.port, self.protocol, lazy=lazy) as client:
            await client.ask(f"/{script}?{self.name}", gzip=gzip)
            yield client, seen


Rule = Callable[[Way], Awaitable[Observed]]


def _head(script: str) -> Rule:
    async def rule(way: Way) -> Observed:
        async with way.asked(script) as (client, seen):
            return observed.head(seen, await client.rest(PATIENCE))

    return rule


def _pattern(script: str, *, gzip: bool = False) -> Rule:
    async def rule(way: Way) -> Observed:
        async with way.asked(script, gzip=gzip) as (client, seen):
            return observed.pattern(seen, await client.rest(PATIENCE))

    return rule


def _broken(script: str) -> Rule:
    async def rule(way: Way) -> Observed:
        async with way.asked(script) as (client, seen):
            answer = await client.rest(PATIENCE)
            return observed.ending(seen, answer, seen.ended)

    return rule


async def _fields(way: Way) -> Observed:
    async with way.asked("chunked-hint") as (client, seen):
        return observed.fields(seen, await client.rest(PATIENCE))


async def _dense(way: Way) -> Observed:
    async with way.asked("chunked-dense") as (client, _):
        expected = b"".join([event(number, 2000) for number in range(1, DENSE + 1)])
        return observed.whole(await client.rest(PATIENCE), expected)


def _idle(script: str) -> Rule:
    async def rule(way: Way) -> Observed:
        async with way.asked(script) as (client, seen):
            answer = await client.rest(PATIENCE)
            return observed.ending(seen, answer, seen.sent[-1] if seen.sent else None)

    return rule


async def _silent(way: Way) -> Observed:
    async with way.asked("silent") as (client, seen):
        await seen.arrived()
        answer = await client.rest(PATIENCE)
        return observed.ending(seen, answer, seen.began)


async def _leaves(way: Way) -> Observed:
    async with way.asked("chunked-going-on") as (client, seen):
        await seen.events(CUT)
        await client.rest(SOON)  # what has come is read, so that it is a FIN with which a client closes
        since = len(seen.sent)
        await client.leave()
        await seen.over.wait()
    return observed.leaving(seen, since, None)


async def _leaves_in_silence(way: Way) -> Observed:
    async with way.asked("chunked-pausing") as (client, seen):
        await seen.events(CUT)
        await client.rest(SOON)
        await client.leave()
        await seen.over.wait()
    return observed.leaving(seen, CUT, CUT)


async def _half_closes(way: Way) -> Observed:
    async with way.asked("chunked") as (client, seen):
        await seen.events(CUT)
        await client.rest(SOON)
        await client.half_close()
        answer = await client.rest(PATIENCE)
        if answer.events == seen.planned:
            return Observed("served to the end")
        return Observed(f"ended, {answer.how}")


async def _stalls(way: Way) -> Observed:
    async with way.asked("chunked-flood", lazy=True) as (_, seen):
        await seen.arrived()
        await _until_settled(seen)
        return Observed("everything is taken" if seen.ended and not seen.left else "the upstream has to wait")


async def _stalls_too_long(way: Way) -> Observed:
    async with way.asked("chunked-flood", lazy=True) as (client, seen):
        await seen.arrived()
        await _until_settled(seen)
        with trio.move_on_after(PATIENCE):
            await seen.over.wait()
        if seen.left is None or seen.left_at is None:
            return Observed("it may stall")
        answer = await client.rest(PATIENCE)
        blocked = seen.left_at - seen.began
        return Observed(f"{answer.how}, upstream left after {{blocked:.0f}} s", {"blocked": blocked})


async def _until_settled(seen: Seen) -> None:
    """Until nothing has been taken for a while, or the script is over."""
    taken, since = -1, trio.current_time()
    while not seen.over.is_set() and trio.current_time() - since < SETTLED:
        if seen.pushed != taken:
            taken, since = seen.pushed, trio.current_time()
        await trio.sleep(0.05)


async def _request(way: Way) -> Observed:
    async with way.asked("length") as (client, seen):
        await client.rest(PATIENCE)
    version = seen.head.partition(b"\r\n")[0].rpartition(b" ")[2].decode()
    closes = re.search(rb"(?im)^connection: *close", seen.head)
    return Observed(f"{version}, Connection: close" if closes else version)


def _rules() -> dict[str, Rule]:
    rules: dict[str, Rule] = {
        "request to the upstream": _request,
        "fields of the head": _fields,
        "chunked, as fast as it is taken": _dense,
        "silent before the head": _silent,
        "silent after 8 events": _idle("chunked-idle"),
        "close-delimited, silent after 8 events": _idle("close-idle"),
        "client leaves, events flow": _leaves,
        "client leaves, upstream silent": _leaves_in_silence,
        "client half-closes": _half_closes,
        "client does not read": _stalls,
        "client does not read for long": _stalls_too_long,
        "length, text/plain": _pattern("length-text"),
        "chunked, events of 600 bytes, gzip accepted": _pattern("chunked-large", gzip=True),
    }
    for framing in ("chunked", "close", "length"):
        name = {"close": "close-delimited"}.get(framing, framing)
        rules |= {
            f"{name}: head": _head(f"{framing}-late"),
            f"{name}": _pattern(framing),
            f"{name}, 2 events a second": _pattern(f"{framing}-sparse"),
            f"{name}, X-Accel-Buffering: no": _pattern(f"{framing}-hint"),
            f"{name}, upstream FIN": _broken(f"{framing}-fin"),
            f"{name}, upstream RST": _broken(f"{framing}-rst"),
        }
    return rules


RULES = _rules()
"""Each by its name."""
EACH_WAY = tuple(
    f"{framing}{what}"
    for framing in ("chunked", "close-delimited", "length")
    for what in (": head", "", ", upstream FIN", ", upstream RST")
)
"""What is asked of every proxy, in each of the three framings."""
LEAVING = ("client leaves, events flow", "client leaves, upstream silent")
SILENT = ("silent before the head", "silent after 8 events")
BUSY = {"client does not read", "client does not read for long", "chunked, as fast as it is taken"}
"""Those in which nobody waits for a clock."""
H1_ONLY = {"client half-closes", "request to the upstream"}
