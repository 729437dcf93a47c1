"""Answers that somebody could read otherwise, through the whole proxy: no client sees anything of a second answer."""

import pytest

from chaosproxy.testing.proxied import linked
from tests.security.answering import Scripted, compared_mutated, what_follows
from tests.security.asking import CLIENTS, ask
from tests.security.telling import KINDS, some_writes, told_of
from tests.security.twins import ALL

MUTATED = 150


@pytest.mark.parametrize("kind", KINDS)
async def test_nobody_sees_a_second_answer(kind, shown, autojump_clock):
    _, name, must, happens = KINDS[kind]
    tried, found, again = await told_of(kind, some_writes)
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
