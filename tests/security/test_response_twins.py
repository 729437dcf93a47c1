"""Answers that somebody could read otherwise, through the whole proxy: no client sees anything of a second answer."""

import random
from collections.abc import Mapping

import pytest

from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.testing.proxied import linked
from tests.security.answering import Scripted, Writes, compared_mutated, what_follows
from tests.security.asking import CLIENTS, Told, ask
from tests.security.poisoning import LATE
from tests.security.twins import ALL, BROKEN, MORE, NONE

DRAWN = 2
MUTATED = 150


def writes(data: bytes) -> list[Writes]:
    """Whole, byte by byte, and in two, of which the second comes at once or later."""
    ways: list[Writes] = [[(0.0, data)]]
    if len(data) < 2000:
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


@pytest.mark.parametrize("kind", KINDS)
async def test_nobody_sees_a_second_answer(kind, shown, autojump_clock):
    answers, name, must, happens = KINDS[kind]
    origin, tried, found, again = Scripted(), 0, [], 0
    async with linked(None, origin.serve) as proxied:
        for client in CLIENTS:
            for label, data in answers.items():
                for script in writes(data):
                    origin.script = script
                    told = await ask(proxied, client, "HEAD" if label.startswith("HEAD") else "GET")
                    wrong = told_wrong(kind, label, told, (await proxied.finished(2 * tried + 1))[-1])
                    after, used = await what_follows(proxied)
                    found += [f"{client}, {label}, {script[:2]}: {why}" for why in (wrong, after) if why]
                    again += used
                    tried += 1
    assert found == []
    shown("framing", name, tried=tried, must=must, happens=f"{happens}; {again} connections used again")
    assert again == 0


async def test_a_connection_whose_answer_is_in_order_is_used_again(autojump_clock):
    """Otherwise the tests above would see nothing."""
    origin = Scripted()
    async with linked(None, origin.serve) as proxied:
        for client in CLIENTS:
            told = await ask(proxied, client, "GET")
            assert (told.statuses, told.body) == ((200,), b"/")
            assert await what_follows(proxied) == ("", True)


async def test_so_it_is_with_mutations_of_them(shown, autojump_clock):
    found = await compared_mutated(ALL, seed=7, count=MUTATED)
    assert found == []
    shown(
        "framing",
        "such answers spliced, with bits flipped and marks put in",
        tried=2 * MUTATED,
        must="one final answer for who has asked, and for the next client its own",
        happens=f"{len(found)} differences towards HTTP/1.1 and HTTP/2",
    )
