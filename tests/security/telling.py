"""Answers that somebody could read otherwise, given in every way to write them, and what a client must be told of each.

Must not know: which answers there are.
"""

import random
from collections.abc import Callable, Iterator, Mapping

from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.testing.proxied import linked
from tests.security.answering import Scripted, Writes, what_follows
from tests.security.asking import CLIENTS, Told, ask
from tests.security.poisoning import LATE
from tests.security.twins import BROKEN, MORE, NONE

DRAWN = 2
LONGEST_CUT = 2000
"""Longer answers are cut at a few places only."""


def some_writes(data: bytes) -> list[Writes]:
    """Whole, byte by byte, and in two, of which the second comes at once or later."""
    ways: list[Writes] = [[(0.0, data)]]
    if len(data) < LONGEST_CUT:
        ways.append([(0.0, data[i : i + 1]) for i in range(len(data))])
    for at in random.Random(data).sample(range(1, len(data)), DRAWN):
        ways += [[(0.0, data[:at]), (pause, data[at:])] for pause in (0.0, LATE)]
    return ways


def told_wrong(kind: str, name: str, told: Told, record: ExchangeRecord) -> str:
    """What is wrong with what a client was told of one of `kind`."""
    end = record.upstream.end
    upstream = (end.by, end.cause) if end is not None else None
    match kind:
        case "more":
            status, body = STATUS.get(name.partition(" ")[0], 200), b"ok" if b"ok" in MORE[name] else b""
            right = (told.statuses[-1], told.body, told.whole, upstream) == (status, body, True, ("upstream", None))
        case "none":
            own = told.body.startswith(b"chaosproxy: ")  # and may quote what was wrong
            right = own and (told.statuses[-1], told.whole, upstream) == (502, True, ("proxy", "malformed"))
            return "" if right and all(status < 200 for status in told.statuses[:-1]) else f"{told} {upstream}"
        case _:
            right = (told.statuses, told.body, told.whole, upstream) == ((200,), b"ok", False, ("proxy", "malformed"))
    return "" if right and b"EVIL" not in told.received else f"{told} {upstream}"


KINDS: dict[str, tuple[Mapping[str, bytes], str, str, str]] = {
    "more": (
        MORE,
        "answers with bytes behind their end, or with two framings",
        "the client gets the first answer alone; the connection is not used again",
        "given whole",
    ),
    "none": (
        NONE,
        "answers that are none",
        "502; the connection is not used again",
        "502",
    ),
    "broken": (
        BROKEN,
        "answers that break within their chunks",
        "what came before, then a broken end: FIN without a last chunk, RST_STREAM",
        "broken off",
    ),
}
STATUS = {"204": 204, "304": 304}


def all_writes(data: bytes) -> list[Writes]:
    """In two, cut at every place."""
    return [[(0.0, data[:at]), (0.0, data[at:])] for at in range(1, len(data))] if len(data) < LONGEST_CUT else []


async def told_of(kind: str, writes: Callable[[bytes], list[Writes]]) -> tuple[int, list[str], int]:
    """How many were tried, what is wrong, and how many connections of theirs were used again."""
    answers = KINDS[kind][0]
    origin, tried, found, again = Scripted(), 0, list[str](), 0
    async with linked(None, origin.serve) as proxied:
        for client, label, script in _asked(answers, writes):
            origin.script = script
            told = await ask(proxied, client, "HEAD" if label.startswith("HEAD") else "GET")
            wrong = told_wrong(kind, label, told, (await proxied.finished(2 * tried + 1))[-1])
            after, used = await what_follows(proxied)
            found += [f"{client}, {label}, {script[:2]}: {why}" for why in (wrong, after) if why]
            again += used
            tried += 1
    return tried, found, again


def _asked(answers: Mapping[str, bytes], writes: Callable[[bytes], list[Writes]]) -> Iterator[tuple[str, str, Writes]]:
    for client in CLIENTS:
        for label, data in answers.items():
            for script in writes(data):
                yield client, label, script
