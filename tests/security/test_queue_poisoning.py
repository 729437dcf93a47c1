"""A second answer is never the next client's."""

from tests.security.poisoning import poisoned

ROUNDS = 1000


async def test_no_client_gets_the_second_answer_to_another(shown, autojump_clock):
    found = await poisoned(ROUNDS)
    assert found == []
    shown(
        "framing",
        "an upstream that answers one client twice, the next waiting for the same connection",
        tried=ROUNDS,
        must="the next client gets its own answer",
        happens=f"{len(found)} got another's, or none",
    )
