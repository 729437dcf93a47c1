"""A client that leaves in the middle of an answer, and what the server says of its work then.

From the client's side a hop that passes the leaving on looks like one that does not: only who can ask the server how
many requests it is at work on knows. Rules: where that cannot be told, nothing is. Must not know: hops.
"""

import contextlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import trio

from chaosproxy.client.asking import Peer, ask
from chaosproxy.diagnose.observed import Leaving
from chaosproxy.errors import UpstreamFault
from chaosproxy.model.json_values import at_path, parse
from chaosproxy.model.messages import RequestHead

ANSWERS = 2.0
"""Seconds that a server has to say how many."""
BEGINS = 5.0
"""Seconds within which a request has reached it."""
SHOWN = 0.5
"""Seconds that the client stays for the first event."""
LOOKED = 2.5
"""Seconds that we look for the end of the work."""
SETTLES = 5.0
"""Seconds that we then wait for it, before the next is asked."""
EVERY = 0.005
TRIES, APART = 20, 0.1
"""How often a count is read to be the same twice, and how many seconds lie between."""
LARGEST = 1e15
"""No count is beyond it."""
OURS = frozenset({"waiting", "running", "finished", "aborted", "kv_blocks_used"})
"""What the embedded origin says in its /stats."""
_METRIC = re.compile(
    r"^(?P<name>[A-Za-z_:][\w:]*)(?:\{[^}\n]*\})?[ \t]+(?P<value>[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)(?:[ \t]|$)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Counter:
    """Where the number of requests at work stands: a JSON number, a JSON object with that name (dots lead inside), or
    a line of Prometheus's text."""

    peer: Peer
    authority: bytes
    target: str
    name: str = "running"

    async def read(self) -> bytes:
        """The whole answer; empty if there is none in time."""
        head = RequestHead(b"GET", self.target.encode(), authority=self.authority, final=True)
        try:
            answer = await ask(self.peer, head, b"", ANSWERS)
        except UpstreamFault:
            return b""
        return answer.text if answer.status == 200 and answer.end == "clean" else b""

    async def count(self) -> float | None:
        return number(await self.read(), self.name)


async def embedded(peer: Peer, authority: bytes) -> tuple[Counter, int] | None:
    """The embedded origin's counter, if it is that which answers there, and how many requests it takes at once."""
    counter = Counter(peer, authority, "/stats")
    read = parse(await counter.read())
    if not isinstance(read, Mapping) or not read.keys() >= OURS:
        return None
    slots = read.get("slots")
    return counter, slots if isinstance(slots, int) else 1


def number(said: bytes, name: str) -> float | None:
    """The count in what a server has said. None: there is none."""
    read = parse(said)
    if isinstance(read, Mapping):
        read = at_path(read, name)
    if isinstance(read, int | float) and not isinstance(read, bool):
        found = [read]
    else:
        lines = _METRIC.finditer(said.decode("utf-8", "replace"))
        found = [float(line["value"]) for line in lines if line["name"] == name]
    return float(sum(found)) if found and abs(sum(found)) < LARGEST else None


async def leave(peer: Peer, head: RequestHead, body: bytes, counter: Counter, gap: float) -> Leaving | None:
    """Ask, stay for the first event, leave, and look. None: the server's numbers do not show it."""
    before = await _settled(counter)
    if before is None:
        return None
    came, over = trio.Event(), trio.Event()
    begun = False

    def told(now: float) -> bool:
        nonlocal begun
        begun = now > before
        return begun or over.is_set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(_stay, peer, head, body, came, over)
        await _until(counter, BEGINS, told)
        if begun:
            with trio.move_on_after(SHOWN):
                await came.wait()
        nursery.cancel_scope.cancel()
    if not begun or over.is_set():
        return None
    left = trio.current_time()
    ended = await _until(counter, LOOKED, lambda now: now <= before)
    if ended is None:
        await _until(counter, SETTLES, lambda now: now <= before)
        return Leaving(None, LOOKED, gap=gap)
    return Leaving(ended - left, LOOKED, gap=gap)


async def _settled(counter: Counter) -> float | None:
    """The count, once what was asked before is over: the same twice, or whatever it is then."""
    now = await counter.count()
    for _ in range(TRIES):
        before = now
        await trio.sleep(APART)
        now = await counter.count()
        if now == before:
            break
    return now


async def _stay(peer: Peer, head: RequestHead, body: bytes, came: trio.Event, over: trio.Event) -> None:
    """`came`: the first event, or the end; `over`: the end."""
    with contextlib.suppress(UpstreamFault):  # it was there before; the count, which does not rise, tells
        await ask(peer, head, body, BEGINS + SHOWN + 1, lambda _: came.set(), other="lines")
    over.set()
    came.set()


async def _until(counter: Counter, within: float, holds: Callable[[float], bool]) -> float | None:
    """When it first held, as Trio tells the time."""
    with trio.move_on_after(within):
        while True:
            asked = trio.current_time()
            now = await counter.count()
            if now is not None and holds(now):
                return asked
            await trio.sleep(EVERY)
    return None
